"""Subset selection over very many values: seconds and memory, and the error against the best possible.

    python -m benchmarks large_domains              # seconds and peak memory
    python -m benchmarks.large_domains [--fast]     # mean squared errors

The best possible mean squared error of one count, for many values, is 4 gamma n / (gamma - 1)^2.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from math import e

import numpy as np

from sfumato import channels as c

from .harness import Case, benchmark, peak_memory

VALUES, RECORDS = 1 << 20, 1_000_000
#: gamma, seconds to sample, seconds to estimate all counts, MB
GOALS = [(3.0, 2.0, 4.0, 1500.0), (e**2, 2.0, 4.0, 1500.0), (e**5, 30.0, 30.0, 3000.0)]
#: values, gamma, records, the most times the best possible
ERRORS = [
    (VALUES, 3.0, RECORDS, 1.05),
    (VALUES, e**2, RECORDS, 1.05),
    (VALUES, e**5, RECORDS, 1.1),
    (10_000_000, 3.0, RECORDS, 1.05),
    (10_000_000, e**5, RECORDS, 1.1),
]
PUBLISHED = (22_000, e**5, 10_000, 273.0)  # the last is in squared counts; the best published is 272.7


@benchmark
def speed() -> Iterator[Case]:
    """A million records of a million values: answers, and all counts from them."""
    truth = true_codes(VALUES, RECORDS, 0)
    for gamma, sampling, estimating, memory in GOALS:
        channel = c.subset(VALUES, gamma)
        released = channel.randomize(truth, 1)
        name = f"{VALUES} values, {RECORDS} records, gamma {gamma:.4g}"
        yield Case(f"{name}: answers", lambda channel=channel: channel.randomize(truth), goal=sampling, repeat=3)
        yield Case(
            f"{name}: all counts",
            lambda gamma=gamma, released=released: counts(c.subset(VALUES, gamma), released),
            goal=estimating,
            repeat=3,
            peak_goal=memory,
        )


def true_codes(k: int, n: int, seed: int) -> np.ndarray:
    """Values of which a few are frequent and most are rare."""
    return np.minimum(np.random.default_rng(seed).zipf(1.3, n) - 1, k - 1)


def counts(channel: c.Channel, released: np.ndarray) -> np.ndarray:
    """The estimated count of every value."""
    return channel.inverse.apply(np.bincount(released, minlength=channel.m).astype(np.float64))


def squared_error(k: int, gamma: float, n: int, seed: int) -> float:
    """The mean squared error of one count, in one run."""
    channel = c.subset(k, gamma)
    truth = true_codes(k, n, seed)
    found = counts(channel, channel.randomize(truth, seed))
    return float(((found - np.bincount(truth, minlength=k)) ** 2).mean())


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.large_domains", description=__doc__.splitlines()[0])
    parser.add_argument("--fast", action="store_true", help="a million values at most, and fewer runs")
    fast = parser.parse_args().fast
    print(
        "| values | gamma | records | released codes | error / best possible | at most | seconds |\n" + "|---" * 7 + "|"
    )
    for k, gamma, n, most in ERRORS:
        if fast and k > VALUES:
            continue
        start = time.perf_counter()
        ratio = squared_error(k, gamma, n, 1) / (4 * gamma * n / (gamma - 1) ** 2)
        seconds = time.perf_counter() - start
        print(f"| {k:,} | {gamma:.4g} | {n:,} | {c.subset(k, gamma).m:,} | {ratio:.4f} | {most} | {seconds:.1f} |")
    k, gamma, n, most = PUBLISHED
    runs = [squared_error(k, gamma, n, seed) for seed in range(40 if fast else 400)]
    error = np.std(runs) / np.sqrt(len(runs))
    print(f"\n{k:,} values, gamma {gamma:.4g}, {n:,} records: {np.mean(runs):.2f} ± {error:.2f} squared counts a value")
    print(f"(at most {most:g}). Peak memory {peak_memory():,.0f} MB.")


if __name__ == "__main__":
    main()
