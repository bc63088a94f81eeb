"""Quantiles by inverting the test of the running share: the limits hold all values at which it may pass q.

The quantile is the first value whose running share reaches q. Which bin holds it the running shares tell, up to noise.
Where in the bin it lies they do not. The estimate takes values to lie evenly there. The limits reach from the least
value of the first bin that may hold the quantile to the largest of the last. A bin of one value is told exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.errors import EstimationError

#: Where the test is passed, failed and passed again, how much of the outer of the two ends counts.
_OUTER = 0.2


def check_quantiles(q: Any) -> list[float]:
    """The quantiles asked for, each in (0, 1)."""
    wanted = list(q) if isinstance(q, Sequence | np.ndarray) and not isinstance(q, str) else [q]
    try:
        out = [float(one) for one in wanted]
    except (TypeError, ValueError):
        raise EstimationError(f"q must be a number in (0, 1), or a list of such, got {q!r} instead") from None
    bad = next((one for one in out if not 0 < one < 1), None)
    if bad is not None or not out:
        raise EstimationError(f"q must lie in (0, 1), got {q if bad is None else bad!r} instead")
    return out


@dataclass(frozen=True, eq=False)
class Quantiles:
    """Of each group, from its running sums, ``k`` of them from ``start`` on, the last one everybody who answered."""

    q: tuple[float, ...]
    start: NDArray[np.int64]
    k: int
    places: Array  # the ends of the bins, one more than there are; or the values
    continuous: bool
    least: Array  # the least value that may stand behind each code
    most: Array

    by_limits = True

    @property
    def ends(self) -> tuple[float, float]:
        return float(self.least[0]), float(self.most[-1])

    @property
    def low(self) -> Array:
        return np.full(len(self.q) * len(self.start), self.ends[0])

    @property
    def high(self) -> Array:
        return np.full(len(self.q) * len(self.start), self.ends[1])

    def value(self, S: Array) -> Array:
        return np.array([self._at(self._cell(S, g, q)) for g in range(len(self.start)) for q in self.q])

    def jacobian(self, S: Array) -> Array:
        """By the slope of the running share over the range of values where q may lie, which does not break off."""
        out = np.zeros((len(self.q) * len(self.start), len(S)))
        row = 0
        for g in range(len(self.start)):
            for q in self.q:
                out[row] = self._derivative(S, g, q)
                row += 1
        return out

    def limits(self, S: Array, C: Array, z: float) -> tuple[Array, Array]:
        ends = [self._limits(S, C, g, q, z) for g in range(len(self.start)) for q in self.q]
        low, high = np.array(ends).T
        return low, high

    def records(self, S: Array) -> Array:
        return np.repeat(S[self.start + self.k - 1], len(self.q))

    def of_population(self, people: float, squares: Array | None) -> Self:
        return self

    def unseen(self, S: Array, low: Array, high: Array) -> NDArray[np.bool_]:
        return np.zeros(len(low), dtype=bool)

    def _own(self, g: int) -> slice:
        return slice(int(self.start[g]), int(self.start[g]) + self.k)

    def _cell(self, S: Array, g: int, q: float) -> float:
        """Where the running share, made to rise, passes q: bins and a part of one; not a number where it cannot."""
        sums = S[self._own(g)]
        if sums[-1] <= 1e-9:
            return np.nan
        running = np.append(0.0, np.clip(sums / sums[-1], 0.0, 1.0))
        risen = rising(running)
        if not self.continuous:
            return float(min(int(np.searchsorted(risen[1:], q - 1e-12)), self.k - 1))
        cell = int(np.clip(np.searchsorted(risen, q) - 1, 0, self.k - 1))
        rise = risen[cell + 1] - risen[cell]
        return cell + (float(np.clip((q - risen[cell]) / rise, 0.0, 1.0)) if rise > 0 else 0.5)

    def _at(self, cell: float) -> float:
        if np.isnan(cell):
            return np.nan
        if not self.continuous:
            return float(self.places[int(cell)])
        own = min(int(cell), self.k - 1)
        return float(np.clip(np.interp(cell, np.arange(self.k + 1), self.places), self.least[own], self.most[own]))

    def _derivative(self, S: Array, g: int, q: float) -> Array:
        out = np.zeros(len(S))
        cell = self._cell(S, g, q)
        if np.isnan(cell):
            return np.full(len(S), np.nan)
        own = self._own(g)
        sums = np.append(0.0, S[own])
        total = sums[-1]
        at = min(int(cell), self.k - 1)
        part = cell - at if self.continuous else 1.0
        reach = max(1, self.k // 10)
        first, last = max(at - reach, 0), min(at + 1 + reach, self.k)
        rise = max((sums[last] - sums[first]) / total, 1e-3)
        spots = self.places if self.continuous else np.append(self.places[0], self.places)
        slope = (spots[last] - spots[first]) / rise / total
        if at > 0:
            out[own.start + at - 1] -= (1 - part) * slope
        out[own.start + at] -= part * slope
        out[own.stop - 1] += q * slope
        return out

    def _limits(self, S: Array, C: Array, g: int, q: float, z: float) -> tuple[float, float]:
        own = self._own(g)
        k, total = self.k, S[own.stop - 1]
        if total <= max(z * np.sqrt(max(C[own.stop - 1, own.stop - 1], 0.0)), 1e-9):
            return self.ends
        # T = running sum - q everybody, at the ends of all bins; 0 stands before the first
        L = np.zeros((k + 1, k))
        L[np.arange(1, k + 1), np.arange(k)] = 1.0
        L[:, -1] -= q
        T = L @ S[own]
        V = L @ C[own, own] @ L.T
        sd = np.sqrt(np.maximum(np.diag(V), 0.0))
        reached, under = T + z * sd, T - z * sd
        if self.continuous:  # neighbouring bins are many, and a running share that falls back is noise
            reached, under = rising(reached, _OUTER), rising(under, 1 - _OUTER)
        # code j: before it the share may be under q, at it q may be reached
        fit = np.flatnonzero((under[:-1] < 1e-12 * total) & (reached[1:] >= -1e-12 * total))
        return (float(self.least[fit[0]]), float(self.most[fit[-1]])) if len(fit) else self.ends


def rising(curve: Array, above: float = 0.5) -> Array:
    """Between the least curve above that never falls and the largest below: their mean, or a part of the former.

    True running shares rise. An estimate that falls back may pass 0 several times; this passes it between them.
    """
    highest, lowest = np.maximum.accumulate(curve), np.minimum.accumulate(curve[::-1])[::-1]
    return np.asarray(above * highest + (1 - above) * lowest)
