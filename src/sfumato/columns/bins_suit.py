"""Whether bins suit the numbers that fall into them: rows crowded into one, or on one side of each."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

_CROWDED = 2 / 3  # of the rows: the median and its neighbours are then in one bin
_ONE_SIDE = 0.1  # of a bin: how far the mean of the bins' middles may lie from that of the numbers
_TOLD = 100  # rows: of fewer, numbers that lie anywhere in their bins seem to lie on one side


def crowded(numbers: Counter[float], edges: Sequence[float]) -> bool:
    """Whether one bin of several holds most rows.

    >>> crowded(Counter({1: 95, 18: 5}), (0, 10, 20)), crowded(Counter({1: 60, 18: 40}), (0, 10, 20))
    (True, False)
    """
    held: Counter[int] = Counter()
    for value, times in numbers.items():
        held[_bin(value, edges)] += times
    return len(edges) > 2 and max(held.values()) > _CROWDED * held.total()


def on_one_side(numbers: Counter[float], edges: Sequence[float], step: float | None = None) -> bool:
    """Whether the numbers lie on one side of their bins, as whole ones do that begin each: their means are then off.

    A bin counts as its middle, or as that of the multiples of ``step`` in it.

    >>> on_one_side(Counter({6: 50, 7: 30, 8.5: 20}), (4, 6, 8, 10)), on_one_side(Counter(range(100)), (0, 50, 100))
    (True, False)
    >>> on_one_side(Counter({6: 50, 7: 50}), (4, 6, 8, 10)), on_one_side(Counter({6: 50, 7: 50}), (4, 6, 8, 10), step=1)
    (True, False)
    """
    rows = off = wide = 0.0
    for value, times in numbers.items():
        if edges[0] <= value <= edges[-1]:
            low, high = edges[(place := _bin(value, edges)) - 1], edges[place]
            middle = (low + high) / 2
            if step is not None:
                middle = step * (math.ceil(low / step - 1e-9) + math.ceil(high / step - 1e-9) - 1) / 2
            rows, off, wide = rows + times, off + times * (middle - value), wide + times * (high - low)
    return rows >= _TOLD and abs(off) > _ONE_SIDE * wide


def ends_too_early(numbers: Counter[float], edges: Sequence[float], step: float | None) -> bool:
    """Whether one more edge would do: of numbers in steps, the last bin ends below the last edge.

    >>> ends_too_early(Counter({1: 40, 2: 40, 3: 40}), (1, 2, 3), 1), ends_too_early(Counter({1: 99}), (0, 10), None)
    (True, False)
    """
    return step is not None and not on_one_side(numbers, (*edges, edges[-1] + step), step)


def _bin(value: float, edges: Sequence[float]) -> int:
    """The place of the bin's upper edge."""
    return min(max(bisect_right(edges, value), 1), len(edges) - 1)
