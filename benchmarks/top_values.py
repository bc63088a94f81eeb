"""Do the intervals of the top ten values hold together? ``python -m benchmarks.top_values [--runs 400]``.

In every run the ten largest estimates are looked up, and it counts how often all ten intervals hold the true counts.
The control is the interval for one value at a time: the largest estimates are so often too large that it must fail.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from math import exp

import numpy as np

import sfumato as sf
from sfumato import channels as c

TOP = 10
#: values, channel, records
SETTINGS = {
    "symmetric(20, .4)": (c.symmetric(20, 0.4), 2_000),
    "subset(12, gamma=3)": (c.subset(12, 3), 2_000),
    "subset(100, gamma=9)": (c.subset(100, 9), 5_000),
    "subset(1 000, gamma=e^3)": (c.subset(1_000, exp(3)), 20_000),
    "subset(20 000, gamma=e^4)": (c.subset(20_000, exp(4)), 50_000),
    "windows(64, gamma=9)": (c.windows(64, 9), 5_000),
}
SHAPES = ("even", "1 / rank")


def held(channel: c.Channel, n: int, shape: str, runs: int, seed: int) -> tuple[float, float, float]:
    """How often all ten hold together, how often by intervals for one, and how often each by itself."""
    rng = np.random.default_rng([seed, channel.k, n])
    weight = np.ones(channel.k) if shape == "even" else 1 / np.arange(1, channel.k + 1)
    domain = (
        sf.Ordinal(tuple(range(channel.k))) if "windows" in str(channel) else sf.Categorical(tuple(range(channel.k)))
    )
    scheme = sf.Scheme(sf.Schema({"x": domain}), {"x": channel})
    together, single, each = [], [], []
    for run in range(runs):
        x = rng.choice(channel.k, n, p=weight / weight.sum())
        top = sf.evidence(sf.randomize({"x": x}, scheme, rng=sf.experiment(run))).top("x", TOP)
        truth = np.bincount(x, minlength=channel.k)[[value for (value,) in top.labels()]]
        inside = [
            (low <= truth) & (truth <= high) for low, high in (e.interval() for e in (top, replace(top, together=1)))
        ]
        together.append(inside[0].all())
        single.append(inside[1].all())
        each.append(inside[0].mean())
    return float(np.mean(together)), float(np.mean(single)), float(np.mean(each))


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.top_values", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=400)
    runs = parser.parse_args().runs
    print("| channel | records | shares | all ten hold | with intervals for one | seconds |\n" + "|---" * 6 + "|")
    for name, (channel, n) in SETTINGS.items():
        for shape in SHAPES:
            start = time.perf_counter()
            some = runs if channel.k < 10_000 else max(runs // 4, 1)
            together, single, _ = held(channel, n, shape, some, 0)
            print(
                f"| {name} | {n:,} | {shape} | {together:.3f} | {single:.3f} | {time.perf_counter() - start:.0f} |",
                flush=True,
            )
    print(f"\n{runs} runs each, a quarter of them from 10 000 values on.")


if __name__ == "__main__":
    main()
