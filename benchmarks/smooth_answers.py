"""What smoothing does to the answers about ordered attributes: errors, and how often either interval holds the truth.

``python -m benchmarks.smooth_answers [--runs=40]``. The smoothed and the unbiased estimate of running shares, median
and mean, on the same releases through ``windows``; the truth is that of the distribution that the records come from.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from scipy import stats

import sfumato as sf
from sfumato import channels as c
from sfumato.arrays import Array
from sfumato.evidence.questions.rows import Rows

Z = 1.959963984540054
SHAPES = ("skewed", "two humps", "falling", "steps", "heaped")


def shares(shape: str, k: int) -> Array:
    """The shares of k values."""
    ends = np.linspace(0, 1, k + 1)
    middle = (ends[1:] + ends[:-1]) / 2
    own = {
        "skewed": np.diff(stats.gamma(3, scale=0.08).cdf(ends)),
        "two humps": np.diff(0.5 * stats.norm(0.3, 0.07).cdf(ends) + 0.5 * stats.norm(0.7, 0.1).cdf(ends)),
        "falling": np.diff(stats.expon(scale=0.2).cdf(ends)),
        "steps": np.where((middle > 0.2) & (middle < 0.5), 3.0, np.where(middle > 0.8, 1.5, 0.2)),
        "heaped": np.diff(stats.norm(0.45, 0.2).cdf(ends)) * np.where(np.arange(k) % 5 == 0, 8, 1),
    }[shape]
    return np.asarray(own / own.sum())


def study(shape: str, k: int, gamma: float, n: int, runs: int, rng: np.random.Generator) -> list[float]:
    """Error ratios of running shares, median and mean; coverage of the smoothed and of the unbiased intervals."""
    schema = sf.Schema({"x": sf.Numeric(0, 1, bins=k)})
    channel = c.windows(k, gamma)
    scheme = sf.Scheme(schema, {"x": channel})
    p = shares(shape, k)
    released = channel.transition.T.apply(p)
    ends = np.linspace(0, 1, k + 1)
    running = np.cumsum(p)
    median = float(np.interp(0.5, np.append(0, running), ends))
    mean = float(p @ (ends[1:] + ends[:-1])) / 2
    errors, inside = [], []
    for _ in range(runs):
        counts = rng.multinomial(n, released / released.sum())
        rows = {"x": np.repeat(np.arange(channel.m), counts).astype(np.uint32)}
        ev = sf.evidence(sf.Release(rows, scheme))
        own, plain, both = (ev.cdf("x", smooth=s).population() for s in (None, False, True))
        middle = [ev.quantile("x", smooth=s).population() for s in (None, False, True)]
        means = [ev.mean("x", smooth=s) for s in (None, False)]
        errors.append(
            [
                np.abs(own.value - running).mean(),
                np.abs(plain.value - running).mean(),
                *((one.value[0] - median) ** 2 for one in middle[:2]),
                *((one.value[0] - mean) ** 2 for one in means),
            ]
        )
        held = [_held(one, running) for one in (both, own)] + [_held(one, np.array([median])) for one in middle[2::-2]]
        inside.append([*held, _width(both) / _width(own)])
    e, i = np.array(errors).mean(axis=0), np.array(inside).mean(axis=0)
    return [e[0] / e[1], float(np.sqrt(e[2] / e[3])), float(np.sqrt(e[4] / e[5])), *i.tolist()]


def _held(answer: Rows, truth: Array) -> float:
    low, high = answer.limits(Z)
    return float(np.mean((low <= truth + 1e-12) & (truth - 1e-12 <= high)))


def _width(answer: Rows) -> float:
    low, high = answer.limits(Z)
    return float(np.mean(high - low))


def main() -> None:
    runs = int(next((a.split("=")[1] for a in sys.argv if a.startswith("--runs=")), 40))
    seed = int(next((a.split("=")[1] for a in sys.argv if a.startswith("--seed=")), 0))
    started = time.time()
    print("| shape | values | gamma | records | error of running shares | of the median | of the mean "
          "| smoothed band holds | unbiased limits hold | median: smoothed | unbiased | width |")  # fmt: skip
    print("|---|" + "---|" * 11)
    for shape in SHAPES:
        for k, gamma, n in ((20, 3, 2000), (20, 9, 10_000), (50, 3, 10_000), (50, 9, 2000)):
            found = study(shape, k, gamma, n, runs, np.random.default_rng([seed, k, n, *map(ord, shape)]))
            print(
                f"| {shape} | {k} | {gamma} | {n:,} | " + " | ".join(f"{one:.2f}" for one in found) + " |", flush=True
            )
    print(f"\n{runs} releases a row; {time.time() - started:.0f} s")


if __name__ == "__main__":
    main()
