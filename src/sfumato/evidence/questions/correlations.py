"""From sums to correlations, with their derivative and their limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.evidence.questions.forms import NOTHING, bounded_limits


@dataclass(frozen=True, eq=False)
class Correlations:
    """Pearson's correlation from the sums 1, x, y, x², y², xy of each group.

    It is the covariance over the product of the standard deviations, and has the limits of such a ratio. They hold also
    where a variance is hardly told, where Fisher's scale is much too wide. ``per`` is how many sums a group has, these
    being the first.
    """

    groups: int
    per: int = 6

    by_limits = False

    @property
    def low(self) -> Array:
        return np.full(self.groups, -1.0)

    @property
    def high(self) -> Array:
        return np.ones(self.groups)

    def value(self, S: Array) -> Array:
        found = [_moments(S[self._own(g)]) for g in range(self.groups)]
        return np.array([np.nan if one is None else np.clip(one.top / one.bottom, -1.0, 1.0) for one in found])

    def jacobian(self, S: Array) -> Array:
        out = np.zeros((self.groups, len(S)))
        for g in range(self.groups):
            found = _moments(S[self._own(g)])
            out[g, self._own(g)] = np.nan if found is None else found.slope
        return out

    def spreads(self, S: Array) -> tuple[float, float]:
        """The variances of both among all groups together, not below 0."""
        n, x, y, xx, yy, _ = np.sum([S[self._own(g)] for g in range(self.groups)], axis=0)
        n = max(float(n), NOTHING)
        return max(float(xx / n - (x / n) ** 2), 0.0), max(float(yy / n - (y / n) ** 2), 0.0)

    def limits(self, S: Array, C: Array, z: float) -> tuple[Array, Array]:
        low, high = self.low, self.high
        for g in range(self.groups):
            found = _moments(S[self._own(g)])
            if found is not None:
                low[g : g + 1], high[g : g + 1] = found.limits(C[self._own(g), self._own(g)], z)
        return low, high

    def records(self, S: Array) -> Array:
        return S[:: self.per][: self.groups]

    def of_population(self, people: float, squares: Array | None) -> Self:
        return self

    def unseen(self, S: Array, low: Array, high: Array) -> NDArray[np.bool_]:
        return np.zeros(len(low), dtype=bool)

    def _own(self, group: int) -> slice:
        return slice(self.per * group, self.per * group + 6)


@dataclass(frozen=True, eq=False)
class _Moments:
    """The covariance and the product of the standard deviations, each with its derivative by the six sums."""

    top: float
    bottom: float
    by_top: Array
    by_bottom: Array

    @property
    def slope(self) -> Array:
        """The derivative of the correlation."""
        return np.asarray((self.by_top - self.top / self.bottom * self.by_bottom) / self.bottom)

    def limits(self, C: Array, z: float) -> tuple[Array, Array]:
        pairs = [(self.by_top, self.by_top), (self.by_top, self.by_bottom), (self.by_bottom, self.by_bottom)]
        v = [np.atleast_1d(a @ C @ b) / self.bottom**2 for a, b in pairs]
        one = np.ones(1)
        return bounded_limits(self.top / self.bottom * one, one, v[0], v[1], v[2], z, -one, one)


def _moments(sums: Array) -> _Moments | None:
    """None where a variance is not told."""
    n, x, y, xx, yy, xy = (float(one) for one in sums)
    if n <= NOTHING:
        return None
    mx, my = x / n, y / n
    vx, vy, c = xx / n - mx * mx, yy / n - my * my, xy / n - mx * my
    if vx <= NOTHING * max(abs(xx / n), 1e-300) or vy <= NOTHING * max(abs(yy / n), 1e-300):
        return None
    s = float(np.sqrt(vx * vy))
    by_x = np.array([mx * mx - vx, -2 * mx, 0.0, 1.0, 0.0, 0.0]) / n
    by_y = np.array([my * my - vy, 0.0, -2 * my, 0.0, 1.0, 0.0]) / n
    by_c = np.array([mx * my - c, -my, -mx, 0.0, 0.0, 1.0]) / n
    return _Moments(c, s, by_c, s / 2 * (by_x / vx + by_y / vy))
