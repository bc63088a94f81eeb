"""Give each released column the shape it has among the records, read off averages of many of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.owner.resample.kernel import Array

#: Records behind each knot at least, the most knots of a column, and the fewest that are worth a map.
CROWD, MOST, FEWEST = 20, 30, 5
#: The largest share of knots that may be one value: beyond, what matters of a column is the rest, which knots lose.
USUAL = 2 / 3
_FAR = 50.0
#: Even steps of the table from which rows are shaped, and rows at a time: both fit a cache.
_STEPS, _ROWS = 512, 8192


@dataclass(frozen=True)
class Margins:
    """A monotone map of each column, linear between knots: what the model draws there to what the records show there.

        knot_g = the mean of the middle half of the g-th of G groups of equal size of the sorted column

    taken of draws of the model and of the records alike. So no knot is the value of one record, the most extreme
    records move none, and beyond the outer knots the last slope goes on. A value that fills whole groups (the zeros of
    a column that was often not measured) is released as it is; a column of which one value fills more than two thirds
    is left alone.

    >>> skewed = np.random.default_rng(0).exponential(size=(400, 1))
    >>> normal = np.random.default_rng(1).normal(1, 1, size=(4000, 1))
    >>> margins = Margins.fit(skewed, normal)
    >>> round(float((normal < 0).mean()), 2), round(float((margins.apply(normal) < 0).mean()), 2)
    (0.16, 0.02)
    """

    drawn: Array
    shown: Array

    @classmethod
    def fit(cls, X: Array, drawn: Array) -> Margins | None:
        """The map for the records of a class and draws from its model; none where the class is small."""
        if not large(len(X)):
            return None
        groups = min(len(X) // CROWD, MOST)
        start, goal = _knots(drawn, groups), _knots(X, groups)
        return cls(start, np.where(_usual(goal, np.ptp(X, axis=0)) <= USUAL, goal, start))

    def apply(self, Y: Array) -> Array:
        """Drawn rows, shaped, by a table of even steps, which is three times as fast as a search for the knots."""
        out = Y.copy()
        low, high = self.drawn[1], self.drawn[-2]
        for column in np.flatnonzero(high > low):
            table = np.interp(
                np.linspace(low[column], high[column], _STEPS + 1), self.drawn[:, column], self.shown[:, column]
            )
            rise, scale = np.diff(table), _STEPS / (high[column] - low[column])
            for start in range(0, len(Y), _ROWS):
                place = (Y[start : start + _ROWS, column] - low[column]) * scale
                step = np.clip(place, 0, _STEPS - 1).astype(np.intp)
                out[start : start + _ROWS, column] = table.take(step) + rise.take(step) * (place - step)
        return out

    def undo(self, Y: Array) -> Array:
        """Shaped rows as they were drawn; what became one value is put in the middle of what it was."""
        out = Y.copy()
        for column in np.flatnonzero(np.ptp(self.shown, axis=0) > 0):
            at, first, count = np.unique(self.shown[:, column], return_index=True, return_counts=True)
            out[:, column] = np.interp(Y[:, column], at, np.add.reduceat(self.drawn[:, column], first) / count)
        return out


def large(records: int) -> bool:
    """Whether a class has so many records that its columns are given their shape."""
    return records >= CROWD * FEWEST


def _usual(knots: Array, spread: Array) -> Array:
    """The share of the commonest knot of each column."""
    same = np.abs(knots[1:-1, None] - knots[None, 1:-1]) <= 1e-9 * spread
    return np.asarray(same.mean(axis=0).max(axis=0))


def _knots(X: Array, groups: int) -> Array:
    """A knot for every group, and one far out on either side on the slope of the last piece."""
    ordered, width = np.sort(X, axis=0), len(X) / groups
    middles = [slice(int(np.ceil((g + 0.25) * width)), int((g + 0.75) * width)) for g in range(groups)]
    knots = np.array([ordered[middle].mean(axis=0) for middle in middles])
    low, high = knots[0] - _FAR * (knots[1] - knots[0]), knots[-1] + _FAR * (knots[-1] - knots[-2])
    return np.where(np.ptp(X, axis=0) > 0, np.vstack([low, knots, high]), X[0])  # a constant to the last digit
