r"""From sums to answers: ratios of sums, each with its derivative and its limits.

Limits of a ratio m = T / B are those of Fieller (1954): all m for which T - m B is no further from 0 than z times its
standard deviation. Where B itself may be 0 that leaves out at most what lies between two numbers, and the limits are
the ends of what is left of the possible.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array

NOTHING = 1e-9  # of a record
#: From so many answers on limits of means were measured to hold, whatever the values.
FEW_ANSWERS = 300


class Counted(Protocol):
    """Counts with their limits."""

    def interval(self, level: float) -> tuple[Array, Array]: ...


class AnswerForm(Protocol):
    """How answers follow from sums S with covariance C."""

    @property
    def by_limits(self) -> bool | NDArray[np.bool_]:
        """Whether limits hold what no covariance tells, so that the standard deviation follows from them."""
        ...

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

    def of_population(self, people: float, squares: Array | None) -> AnswerForm:
        """The same of the distribution behind so many records; ``squares`` are the mean squares behind each sum."""
        ...

    def unseen(self, S: Array, low: Array, high: Array) -> NDArray[np.bool_]:
        """Where few answers, with these limits, leave room for values beyond them that nobody gave."""
        ...


@dataclass(frozen=True, eq=False)
class Ratios:
    """One sum over another, such as incomes over those who answered.

    ``within`` are the ends of what the estimate can be, where they differ from those of the truth: a mean of middles of
    bins lies between the first and the last middle, that of the numbers anywhere in these bins.
    """

    top: NDArray[np.int64]
    bottom: NDArray[np.int64]
    low: Array
    high: Array
    within: tuple[float, float] | None = None

    by_limits = False

    def value(self, S: Array) -> Array:
        top, bottom = S[self.top], S[self.bottom]
        some = bottom > NOTHING
        out = np.divide(top, bottom, out=np.full(len(top), np.nan), where=some)
        return np.asarray(np.clip(out, *(self.within or (self.low, self.high))))

    def jacobian(self, S: Array) -> Array:
        top, bottom = S[self.top], S[self.bottom]
        some = bottom > NOTHING
        slope = np.divide(1.0, bottom, out=np.full(len(top), np.nan), where=some)
        rows = np.arange(len(top))
        out = np.zeros((len(top), len(S)))
        out[rows, self.top] += slope
        out[rows, self.bottom] -= top * slope**2
        return out

    def limits(self, S: Array, C: Array, z: float | Array) -> tuple[Array, Array]:
        """Fieller's; of a group that may hold nobody, all that is possible."""
        b = self.bottom
        low, high = bounded_limits(S[self.top], S[b], *self.variances(S, C), z, self.low, self.high)
        nobody = S[b] <= z * np.sqrt(np.maximum(C[b, b], 0.0))
        return np.where(nobody, self.low, low), np.where(nobody, self.high, high)

    def variances(self, S: Array, C: Array) -> tuple[Array, Array, Array]:
        """Of T, of both, and of B, so that T - m B has the variance v - 2 m v' + m² v"."""
        t, b = self.top, self.bottom
        return C[t, t], C[t, b], C[b, b]

    def records(self, S: Array) -> Array:
        return S[self.bottom]

    def of_population(self, people: float, squares: Array | None) -> Self:
        return self

    def unseen(self, S: Array, low: Array, high: Array) -> NDArray[np.bool_]:
        return np.zeros(len(low), dtype=bool)


@dataclass(frozen=True, eq=False)
class Means(Ratios):
    """A sum over those who answered. Of a population, ``people`` are the records that tell of it.

    Few answers do not tell their own spread well: limits are then Student's (1908), with one degree of freedom for each
    answer but one.
    """

    people: float | None = None

    def limits(self, S: Array, C: Array, z: float | Array) -> tuple[Array, Array]:
        if self.people is None:
            return super().limits(S, C, z)
        from scipy.special import ndtr, stdtrit

        answers = np.maximum(self.answers(S), 2.0)
        student = stdtrit(answers - 1, ndtr(z)) * np.sqrt(answers / (answers - 1))
        return super().limits(S, C, np.asarray(student))

    def answers(self, S: Array) -> Array:
        """How many records of the population's sample answered."""
        return np.asarray(S[self.bottom] * (self.people or 1.0))

    def unseen(self, S: Array, low: Array, high: Array) -> NDArray[np.bool_]:
        """What n people do not show is held by less than 3 in n, 19 times in 20: whether that moves a mean further."""
        value, n = self.value(S), self.answers(S)
        room = 3 / np.maximum(n, 1.0)
        beyond = (room * (self.high - value) > high - value) | (room * (value - self.low) > value - low)
        return np.asarray(beyond & (n >= 1) & (n < FEW_ANSWERS))

    def of_population(self, people: float, squares: Array | None) -> Self:
        return replace(self, people=people)


@dataclass(frozen=True, eq=False)
class Shares(Ratios):
    r"""A part of the records over all of them. Of a population, ``people`` are the records that tell of it.

    Beside the noise of the channels, the variance of T - m B is then that of so many draws under the share m itself, as
    Wilson (1927) has it, not under the one that was found: none among thirty does not say that there are none. Records
    that count by weights w are draws of w, with ``squares`` the means of w² behind each sum. With those of T and of B,

        people * variance  =  squares_B m (1 - m) + what was found at the share found, beyond squares_B times the same

    so that few records count as Kish (1965) has them, and many as they were found.

    Of this table's own records the noise may move a few only, which no normal distribution follows. ``counted`` are the
    counts behind the shares, where each top is one of them: shares then have the limits of these.
    """

    people: float | None = None
    squares: Array | None = None
    counted: Counted | None = None

    def limits(self, S: Array, C: Array, z: float | Array) -> tuple[Array, Array]:
        if self.people is not None or self.counted is None or not isinstance(z, float | int):
            return super().limits(S, C, z)
        from scipy.special import ndtr

        low, high = self.counted.interval(min(float(2 * ndtr(z) - 1), 1 - 1e-12))
        return np.clip(low / S[self.bottom], self.low, self.high), np.clip(high / S[self.bottom], self.low, self.high)

    def of_population(self, people: float, squares: Array | None) -> Self:
        return replace(self, people=people, squares=squares)

    def variances(self, S: Array, C: Array) -> tuple[Array, Array, Array]:
        v_top, v_both, v_bottom = super().variances(S, C)
        if self.people is None:
            return v_top, v_both, v_bottom
        squares = S if self.squares is None else self.squares
        t, b, tt, bb, n = S[self.top], S[self.bottom], squares[self.top], squares[self.bottom], self.people
        share = np.divide(t, b, out=np.zeros(len(t)), where=b > NOTHING)
        beyond = tt * (1 - 2 * share) + bb * share * (2 * share - 1)  # 0 where all weigh the same
        return v_top + (t * t - tt + beyond) / n, v_both + (t * b - tt - bb / 2) / n, v_bottom + (b * b - 2 * bb) / n


def ratio_limits(
    top: Array, bottom: Array, v_top: Array, v_both: Array, v_bottom: Array, z: float | Array, low: Array, high: Array
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
    inside = b * b - a * c
    root = np.sqrt(np.maximum(inside, 0.0))
    flat = np.abs(a) <= 1e-12 * bottom**2
    scale = np.where(flat, 1.0, a)
    ends = np.sort(np.stack([(b - root) / scale, (b + root) / scale]), axis=0)
    told = (a > 0) & ~flat & (bottom > NOTHING)
    # where the bottom may be 0 everything is accepted but what lies between the ends
    beyond = (a < 0) & ~flat & (inside > 0) & (bottom > NOTHING)
    first = np.where(told, ends[0], np.where(beyond & (ends[0] < low), ends[1], low))
    last = np.where(told, ends[1], np.where(beyond & (ends[1] > high), ends[0], high))
    return np.clip(first, low, high), np.clip(last, low, high)


def bounded_limits(
    top: Array, bottom: Array, v_top: Array, v_both: Array, v_bottom: Array, z: float | Array, low: Array, high: Array
) -> tuple[Array, Array]:
    """Fieller's limits that shrink to no point where the ratio itself lies outside what is possible.

    There they reach as far inside as Feldman and Cousins (1998) have it. The first would be (0, 0) by Fieller:

    >>> one, none = np.ones(1), np.zeros(1)
    >>> least, most = bounded_limits(-3 * one, one, one, none, none, 1.96, none, 9 * one)
    >>> float(least[0]), float(most[0].round(2))
    (0.0, 0.42)
    """
    first, last = ratio_limits(top, bottom, v_top, v_both, v_bottom, z, low, high)
    some = bottom > NOTHING
    ratio = np.divide(top, bottom, out=np.zeros(len(top)), where=some)
    for end, sign in ((low, 1.0), (high, -1.0)):
        variance = v_top - 2 * end * v_both + end**2 * v_bottom
        sd = np.divide(np.sqrt(np.maximum(variance, 0.0)), bottom, out=np.zeros(len(top)), where=some)
        outside = some & (sd > 0) & (sign * (ratio - end) < 0)
        away = np.divide(sign * (ratio - end), sd, out=np.zeros(len(top)), where=outside)
        inside = np.clip(end + sign * sd * reach_inside(away, z), low, high)
        if sign > 0:
            last = np.where(outside, np.maximum(last, inside), last)
        else:
            first = np.where(outside, np.minimum(first, inside), first)
    return first, last


def reach_inside(away: Array, z: float | Array) -> Array:
    """The largest m >= 0 that an estimate of ``away`` < 0, of standard deviation 1, does not contradict.

    Estimates are ordered by their likelihood ratio against the best m >= 0: that of m is m (m - 2 away).
    """
    from scipy.special import ndtr

    least, most = np.zeros(away.shape), np.broadcast_to(z, away.shape).astype(np.float64)
    for _ in range(40):
        m = (least + most) / 2
        accepted = ndtr(away - m) + ndtr(-np.sqrt(m * (m - 2 * away))) > 2 * ndtr(-z)
        least, most = np.where(accepted, m, least), np.where(accepted, most, m)
    return least
