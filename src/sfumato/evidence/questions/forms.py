r"""From sums to answers: ratios of sums and correlations, each with its derivative and its limits.

Limits of a ratio m = T / B are those of Fieller (1954): all m for which T - m B is no further from 0 than z times its
standard deviation. Where B itself may be 0, every possible m is accepted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array

_NOTHING = 1e-9  # of a record


class AnswerForm(Protocol):
    """How answers follow from sums S with covariance C."""

    @property
    def low(self) -> Array: ...

    @property
    def high(self) -> Array:
        """The ends of what is possible, an entry per answer."""
        ...

    def value(self, S: Array) -> Array: ...

    def jacobian(self, S: Array) -> Array:
        """The derivative of each answer by each sum; not a number where there is no answer."""
        ...

    def limits(self, S: Array, C: Array, z: float) -> tuple[Array, Array]: ...

    def records(self, S: Array) -> Array:
        """The sum of records behind each answer."""
        ...


@dataclass(frozen=True, eq=False)
class Ratios:
    """One sum over another, such as incomes over those who answered."""

    top: NDArray[np.int64]
    bottom: NDArray[np.int64]
    low: Array
    high: Array

    def value(self, S: Array) -> Array:
        top, bottom = S[self.top], S[self.bottom]
        some = bottom > _NOTHING
        out = np.divide(top, bottom, out=np.full(len(top), np.nan), where=some)
        return np.asarray(np.clip(out, self.low, self.high))

    def jacobian(self, S: Array) -> Array:
        top, bottom = S[self.top], S[self.bottom]
        some = bottom > _NOTHING
        slope = np.divide(1.0, bottom, out=np.full(len(top), np.nan), where=some)
        rows = np.arange(len(top))
        out = np.zeros((len(top), len(S)))
        out[rows, self.top] += slope
        out[rows, self.bottom] -= top * slope**2
        return out

    def limits(self, S: Array, C: Array, z: float) -> tuple[Array, Array]:
        t, b = self.top, self.bottom
        return ratio_limits(S[t], S[b], C[t, t], C[t, b], C[b, b], z, self.low, self.high)

    def records(self, S: Array) -> Array:
        return S[self.bottom]


def ratio_limits(
    top: Array, bottom: Array, v_top: Array, v_both: Array, v_bottom: Array, z: float, low: Array, high: Array
) -> tuple[Array, Array]:
    """Fieller's limits, within what is possible.

    >>> one, none = np.ones(1), np.zeros(1)
    >>> low, high = ratio_limits(2 * one, one, .01 * one, none, none, 2, -9 * one, 9 * one)
    >>> float(low[0].round(3)), float(high[0].round(3))
    (1.8, 2.2)
    """
    a = bottom**2 - z * z * v_bottom
    b = top * bottom - z * z * v_both
    c = top**2 - z * z * v_top
    told = (a > 0) & (bottom > _NOTHING)
    scale = np.where(told, a, 1.0)
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))
    first = np.clip(np.where(told, (b - root) / scale, low), low, high)
    last = np.clip(np.where(told, (b + root) / scale, high), low, high)
    return first, last


@dataclass(frozen=True, eq=False)
class Correlations:
    """Pearson's correlation from the sums 1, x, y, x², y², xy of each group, limits on Fisher's scale atanh r.

    ``per`` is how many sums a group has, these being the first.
    """

    groups: int
    per: int = 6

    @property
    def low(self) -> Array:
        return np.full(self.groups, -1.0)

    @property
    def high(self) -> Array:
        return np.ones(self.groups)

    def value(self, S: Array) -> Array:
        return np.array([_correlation(S[self._own(g)])[0] for g in range(self.groups)])

    def jacobian(self, S: Array) -> Array:
        out = np.zeros((self.groups, len(S)))
        for g in range(self.groups):
            out[g, self._own(g)] = _correlation(S[self._own(g)])[1]
        return out

    def limits(self, S: Array, C: Array, z: float) -> tuple[Array, Array]:
        r, J = self.value(S), self.jacobian(S)
        sd = np.sqrt(np.maximum(np.einsum("ri,ij,rj->r", J, C, J), 0.0))
        told = np.isfinite(r) & np.isfinite(sd) & (np.abs(r) < 1)
        inner = np.where(told, r, 0.0)
        reach = z * np.where(told, sd, 0.0) / (1 - inner**2)
        low, high = (np.tanh(np.arctanh(inner) + sign * reach) for sign in (-1, 1))
        sure = np.isfinite(r) & (sd == 0)
        return np.where(sure, r, np.where(told, low, -1.0)), np.where(sure, r, np.where(told, high, 1.0))

    def records(self, S: Array) -> Array:
        return S[:: self.per][: self.groups]

    def _own(self, group: int) -> slice:
        return slice(self.per * group, self.per * group + 6)


def _correlation(sums: Array) -> tuple[float, Array]:
    """r, and its derivative by the six sums; not a number where a variance is not told."""
    n, x, y, xx, yy, xy = (float(one) for one in sums)
    if n <= _NOTHING:
        return np.nan, np.full(6, np.nan)
    mx, my = x / n, y / n
    vx, vy, c = xx / n - mx * mx, yy / n - my * my, xy / n - mx * my
    if vx <= _NOTHING * max(abs(xx / n), 1e-300) or vy <= _NOTHING * max(abs(yy / n), 1e-300):
        return np.nan, np.full(6, np.nan)
    s = np.sqrt(vx * vy)
    r = c / s
    # the influence of a record: (x - mx)(y - my) / s - r/2 ((x - mx)² / vx + (y - my)² / vy), as sums
    by_x, by_y = r / (2 * vx), r / (2 * vy)
    influence = np.array(
        [
            mx * my / s - by_x * mx * mx - by_y * my * my,
            -my / s + 2 * by_x * mx,
            -mx / s + 2 * by_y * my,
            -by_x,
            -by_y,
            1 / s,
        ]
    )
    return float(np.clip(r, -1.0, 1.0)), influence / n
