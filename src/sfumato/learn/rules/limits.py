r"""Limits that hold for what is reported, however many sets or rules were looked at.

Of m candidates those are reported whose lower limit reaches what was asked for. Choosing the best of many favours lucky
ones. So the limits are widened to the level

    1 - (1 - level) R / m

where R of the m are reported: the largest R that agrees with itself. Then the share of reported limits that miss the
truth is at most 1 - level on average over releases, and so is the share of false sets: the false coverage rate of
Benjamini and Yekutieli (2005); for one threshold this is the procedure of Benjamini and Hochberg. It is proved for
estimates that are independent or vary in the same direction. That a list holds no false one at all is not claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array

#: How far a model may draw an estimate, as a share of the way to its limit: an estimate never stands on its own limit.
#: Efron and Morris (1972) limit the translation of shrunken estimates in this way.
DRAWN = 0.5


def quantile(level: float, share: float = 1.0) -> float:
    """How many standard deviations a two-sided limit lies away, where a share of the candidates is reported.

    >>> round(quantile(.95), 2), round(quantile(.95, 1 / 1000), 2)
    (1.96, 4.06)
    """
    from scipy.special import ndtri

    return float(-ndtri((1 - level) / 2 * share))


def widened(level: float, looked_at: int, passing: Callable[[float], int]) -> float:
    """The quantile at which ``passing(z)`` of all candidates pass, and which belongs to so many."""
    passed = max(looked_at, 1)
    while True:
        z = quantile(level, passed / max(looked_at, 1))
        now = max(passing(z), 1)
        if now >= passed:
            return z
        passed = now


class Nested:
    """Sets in the order of their size, each with the places of its subsets that lack one item."""

    def __init__(self, sets: Sequence[tuple[Any, ...]]) -> None:
        place = {items: i for i, items in enumerate(sets)}
        by_size: dict[int, list[int]] = {}
        for i, items in enumerate(sets):
            by_size.setdefault(len(items), []).append(i)
        self._levels: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        for size, own in sorted(by_size.items()):
            if size > 1:
                below = [[place[less] for less in combinations(sets[i], size - 1)] for i in own]
                self._levels.append((np.array(own), np.array(below)))

    def monotone(self, values: Array) -> Array:
        """The values, none above that of a subset: whoever holds a set holds its subsets too."""
        out = values.copy()
        for own, below in self._levels:
            out[own] = np.minimum(out[own], out[below].min(axis=1))
        return out
