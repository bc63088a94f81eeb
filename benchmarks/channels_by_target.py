"""Which channel for what: subset, windows and average by what is estimated; and means against published mechanisms.

    python -m benchmarks.channels_by_target

The first table has the share of the sample that is left: how many unrandomized records a hundred randomized ones are
worth, for unbiased estimates of equally likely values. Exact, without draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sfumato import channels as c
from sfumato.channels.efficiency import even_efficiency
from sfumato.channels.scores import mean_variance

SETTINGS = [(k, gamma) for k in (5, 11, 20, 100) for gamma in (2.0, 3.0, 10.0)]
FAMILIES: dict[str, Callable[[int, float], c.Channel]] = {
    "subset": c.subset,
    "windows": c.windows,
    "windows, 1, 2, 4, ...": lambda k, gamma: c.windows(k, gamma, [1 << i for i in range((k - 1).bit_length())]),
    "average": c.average,
}
EPSILONS = (0.5, 1.0, 2.0, 4.0)


def by_target() -> list[str]:
    """One row a channel: what is left for shares, running shares and the mean, and the worst variance of a mean."""
    rows = ["| values | gamma | channel | shares | running shares | mean | worst sd of a mean |\n" + "|---" * 7 + "|"]
    for k, gamma in SETTINGS:
        for name, make in FAMILIES.items():
            if name.startswith("windows,") and k < 32:
                continue  # the same as windows
            channel = make(k, gamma)
            left = [100 * even_efficiency(channel, target) for target in ("shares", "cdf")]
            shown = [f"{one:.2g} %" if one else "none" for one in left]
            prior = np.full(k, 1 / k)
            mean = 100 * mean_variance(c.identity(k), prior) / mean_variance(channel, prior)
            worst = math.sqrt(mean_variance(channel))
            rows.append(f"| {k} | {gamma:g} | {name} | {shown[0]} | {shown[1]} | {mean:.2g} % | {worst:.2f} |")
    return rows


def duchi(epsilon: float, x: np.ndarray) -> np.ndarray:
    """The noise variance of Duchi et al. (2018) at x in [-1, 1]: one of two scores."""
    e = math.exp(epsilon)
    return ((e + 1) / (e - 1)) ** 2 - x**2


def piecewise(epsilon: float, x: np.ndarray) -> np.ndarray:
    """That of the piecewise mechanism (Wang et al. 2019, lemma 2)."""
    half = math.exp(epsilon / 2)
    return x**2 / (half - 1) + (half + 3) / (3 * (half - 1) ** 2)


def hybrid(epsilon: float, x: np.ndarray) -> np.ndarray:
    """That of their mixture (Wang et al. 2019, section III.C)."""
    share = 1 - math.exp(-epsilon / 2) if epsilon > 0.61 else 0.0
    return share * (piecewise(epsilon, x) + x**2) + (1 - share) * (duchi(epsilon, x) + x**2) - x**2


def average(epsilon: float, x: np.ndarray, points: int = 11) -> np.ndarray:
    """Ours, numbers rounded at random to the points first."""
    channel = c.average(points, math.exp(epsilon))
    second = np.interp(x, np.linspace(-1, 1, points), channel.matrix @ channel.scores**2)
    return second - x**2


def means() -> list[str]:
    """The noise variance of one record on [-1, 1]: of the worst value, and over some shapes."""
    rng = np.random.default_rng(0)
    x = np.linspace(-1, 1, 2001)
    drawn = {
        "uniform": x,
        "normal": np.clip(rng.normal(0, 0.3, 20_000), -1, 1),
        "skewed": 2 * rng.beta(2, 8, 20_000) - 1,
        "at the ends": np.sign(rng.random(20_000) - 0.5) * rng.beta(8, 1, 20_000),
    }
    rows = ["| epsilon | mechanism | worst | " + " | ".join(drawn) + " | worst / best published |\n" + "|---" * 8 + "|"]
    for epsilon in EPSILONS:
        best = min(float(way(epsilon, x).max()) for way in (duchi, piecewise, hybrid))
        for way in (duchi, piecewise, hybrid, average):
            worst = float(way(epsilon, x).max())
            over = " | ".join(f"{float(way(epsilon, values).mean()):.3g}" for values in drawn.values())
            rows.append(f"| {epsilon:g} | {way.__name__} | {worst:.3g} | {over} | {worst / best:.2f} |")
    return rows


def main() -> None:
    print("\n".join(by_target()) + "\n")
    print("\n".join(means()))


if __name__ == "__main__":
    main()
