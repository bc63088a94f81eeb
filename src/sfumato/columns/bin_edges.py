"""Limits and edges that look like public knowledge, and that one outlier does not ruin."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise

import numpy as np

#: The share of records at either end that may be moved to the limits, if the limits shrink a lot by it.
TAIL = 0.005
#: By how much the limits must shrink for that.
STRETCHED = 2.5


def robust_limits(counts: Counter[float]) -> tuple[float, float, int]:
    """The lowest and the highest value that limits must hold, and how many records lie outside.

    All of them, unless a few at the ends stretch the range to more than twice what the others need.

    >>> robust_limits(Counter({**{x: 10 for x in range(100)}, 99999: 1}))
    (0.0, 99.0, 1)
    """
    values = np.array(sorted(counts), dtype=float)
    times = np.array([counts[value] for value in sorted(counts)], dtype=float)
    share = np.cumsum(times) / times.sum()
    low = float(values[np.searchsorted(share, TAIL, side="right")])
    high = float(values[min(int(np.searchsorted(share, 1 - TAIL, side="left")), len(values) - 1)])
    room = (high - low) / 4
    kept = values[(values >= low - room) & (values <= high + room)] if high > low else values
    least, most = float(kept[0]), float(kept[-1])
    if most > least and float(values[-1]) - float(values[0]) > STRETCHED * (most - least):
        outside = times[(values < least) | (values > most)].sum()
        return least, most, int(outside)
    return float(values[0]), float(values[-1]), 0


def nice_edges(low: float, high: float, bins: int, whole: bool) -> tuple[float, ...]:
    """About ``bins`` edges at round numbers that hold both limits.

    >>> nice_edges(17, 90, 20, whole=True)[:3], len(nice_edges(17, 90, 20, whole=True))
    ((15.0, 20.0, 25.0), 17)
    """
    narrow = 8 * math.ulp(max(abs(low), abs(high), 1e-300))
    if (high - low) / bins < narrow:  # constant, as far as doubles can tell
        room = max(0.5, narrow * bins)
        return tuple(np.linspace(low - room, high + room, bins + 1).tolist())
    step = nice_step((high - low) / bins)
    if whole:
        step = max(1.0, math.ceil(step))
    first, last = math.floor(low / step), math.ceil(high / step)
    if whole and last * step == high:
        last += 1  # the last bin is as wide as the others: 90 to 94, not 90 alone
    edges = [float(f"{place * step:.12g}") for place in range(first, max(last, first + 1) + 1)]
    edges[0], edges[-1] = min(edges[0], low), max(edges[-1], high)
    if len(set(edges)) < len(edges) or any(b <= a for a, b in pairwise(edges)):
        return tuple(np.linspace(low, high, bins + 1).tolist())
    return tuple(edges)


def edges_between(low: float, high: float, bins: int) -> tuple[float, ...]:
    """About ``bins`` edges between limits that were given: equal steps, whole ones between whole limits.

    Where no such number of whole steps fits, round ones between two shorter ends.

    >>> edges_between(0, 1, 4), edges_between(5, 35, 20)[:4], edges_between(18, 100, 20)[:4]
    ((0.0, 0.25, 0.5, 0.75, 1.0), (5.0, 7.0, 9.0, 11.0), (18.0, 20.0, 25.0, 30.0))
    """
    step = (high - low) / bins
    if float(low).is_integer() and float(high).is_integer() and step >= 1 and not step.is_integer():
        fitting = [some for some in range(-(-2 * bins // 3), 3 * bins // 2 + 1) if (high - low) % some == 0]
        if not fitting:
            step = math.ceil(nice_step(step))
            inner = [place * step for place in range(math.floor(low / step) + 1, math.ceil(high / step))]
            return (float(low), *map(float, inner), float(high))
        bins = min(fitting, key=lambda some: abs(math.log(some / bins)))
    edges = tuple(float(f"{edge:.12g}") for edge in np.linspace(low, high, bins + 1))
    return edges if len(set(edges)) == bins + 1 else tuple(np.linspace(low, high, bins + 1).tolist())


def step_of(counts: Counter[float], edges: tuple[float, ...]) -> float | None:
    """What all values are multiples of, as far as it matters beside the bins: a hundredth of the narrowest, or more.

    >>> step_of(Counter({5: 1, 20: 2, 25: 9}), (0, 10, 30)), step_of(Counter({0.1: 1, 0.4: 1}), (0, 0.5, 1))
    (5.0, 0.1)
    >>> step_of(Counter({1.23456: 1, 7.1: 1}), (0, 5, 10)) is None
    True
    """
    narrowest = min(b - a for a, b in pairwise(edges))
    decimals = max(0, 2 - math.floor(math.log10(narrowest)))
    scale = 10.0**decimals
    if decimals > 15 or any(abs(value) * scale > 2**52 for value in counts):
        return None
    scaled = [value * scale for value in counts]
    if any(abs(one - round(one)) > 1e-6 for one in scaled):
        return None
    units = math.gcd(*(round(one) for one in scaled))
    step = float(f"{units / scale:.12g}")
    places = [math.ceil(edge / step - 1e-9) for edge in edges] if units else []
    return step if units and step >= narrowest / 100 and all(a < b for a, b in pairwise(places)) else None


def nice_step(least: float) -> float:
    """The smallest of 1, 2, 2.5, 5 times a power of ten that is not below.

    >>> [nice_step(x) for x in (0.03, 3.65, 700)]
    [0.05, 5.0, 1000.0]
    """
    scale = 10.0 ** math.floor(math.log10(least))
    for factor in (1.0, 2.0, 2.5, 5.0, 10.0):
        if factor * scale >= least * (1 - 1e-9):
            return float(f"{factor * scale:.12g}")
    return 10.0 * scale
