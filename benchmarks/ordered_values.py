"""Ordered values: seconds for very many of them, and errors against the square wave with smoothed EM.

    python -m benchmarks ordered_values                  # seconds
    python -m benchmarks.ordered_values [--runs 8]       # errors, as ratios to the baseline

Errors are those of windows(k, gamma) with ``smooth``: four shapes, 32 and 100 values, gamma 2, 3, 10, 10 000 records.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from sfumato import channels as c
from sfumato.evidence.density.smooth import smooth

from . import square_wave
from .harness import Case, benchmark

RECORDS = 10_000
MEASURES = ("Wasserstein", "Kolmogorov", "mean", "median")
GOALS = (0.90, 0.95, 0.90, 0.90)


@benchmark
def speed() -> Iterator[Case]:
    """A channel made, 100 000 records randomized, and their distribution estimated."""
    values = np.random.default_rng(0).beta(2, 5, 100_000)
    for k, seconds in ((100, 1.0), (1000, 1.0), (10_000, 10.0)):
        codes = (values * k).astype(np.int64)

        def once(k: int = k, codes: np.ndarray = codes) -> object:
            channel = c.windows(k, 3)
            return smooth(np.bincount(channel.randomize(codes), minlength=channel.m), channel)

        yield Case(f"{k} ordered values", once, goal=seconds, repeat=3)


def shapes(k: int) -> dict[str, np.ndarray]:
    """Shares of k values: skewed, two humps, falling from an edge, and steps."""
    from scipy import stats

    x = np.linspace(0, 1, k + 1)
    running = {
        "skewed": stats.beta(2, 5).cdf(x),
        "two humps": 0.5 * stats.norm(0.3, 0.08).cdf(x) + 0.5 * stats.norm(0.7, 0.1).cdf(x),
        "falling": stats.expon(scale=0.2).cdf(x),
        "steps": np.interp(x, [0, 0.2, 0.5, 0.6, 1], [0, 0.4, 0.5, 0.9, 1]),
    }
    return {name: np.diff(ends) / (ends[-1] - ends[0]) for name, ends in running.items()}


def errors(found: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The four measures, on the range [0, 1]."""
    k = len(truth)
    have, want = np.cumsum(found), np.cumsum(truth)
    middles = (np.arange(k) + 0.5) / k
    medians = [np.interp(0.5, np.append(0.0, running), np.linspace(0, 1, k + 1)) for running in (have, want)]
    gap = np.abs(have - want)
    return np.array([gap.mean(), gap.max(), abs((found - truth) @ middles), abs(medians[0] - medians[1])])


def compare(k: int, gamma: float, truth: np.ndarray, runs: int, seed: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Mean errors of the baseline and of ours."""
    rng = np.random.default_rng(seed)
    P, channel = square_wave.matrix(k, gamma), c.windows(k, gamma)
    released = channel.transition.T.apply(truth)
    theirs, ours = [], []
    for _ in range(runs):
        theirs.append(errors(square_wave.smoothed_em(P, rng.multinomial(RECORDS, truth @ P), gamma), truth))
        ours.append(errors(smooth(rng.multinomial(RECORDS, released / released.sum()), channel).shares, truth))
    return np.mean(theirs, axis=0), np.mean(ours, axis=0)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.ordered_values", description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=8, help="releases a setting")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print("| values | gamma | shape | " + " | ".join(MEASURES) + " |\n" + "|---" * 7 + "|")
    ratios = []
    for k in (32, 100):
        for gamma in (2.0, 3.0, 10.0):
            for number, (name, truth) in enumerate(shapes(k).items()):
                theirs, ours = compare(k, gamma, truth, options.runs, [options.seed, k, int(gamma), number])
                ratios.append(ours / theirs)
                cells = " | ".join(f"{1000 * o:.1f} / {1000 * t:.1f}" for o, t in zip(ours, theirs, strict=True))
                print(f"| {k} | {gamma:g} | {name} | {cells} |", flush=True)
    mean = np.exp(np.log(ratios).mean(axis=0))
    print("| all | | ours / baseline | " + " | ".join(f"**{m:.2f}**" for m in mean) + " |")
    print("| | | at most | " + " | ".join(f"{goal:.2f}" for goal in GOALS) + " |")
    print(f"\nOurs / baseline in thousandths of the range, means of {options.runs} releases of {RECORDS:,} records.")


if __name__ == "__main__":
    main()
