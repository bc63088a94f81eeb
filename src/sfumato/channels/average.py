"""Means by design: release a score whose mean is the true value, with the least noise that gamma allows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd
from typing import Any

import numpy as np

from sfumato.arrays import Array, Words
from sfumato.channels.arguments import bound, whole
from sfumato.channels.base import Channel
from sfumato.channels.integer_rows import between, mirrored, settled
from sfumato.channels.least_variance import MOST_POINTS, least_variance
from sfumato.channels.odds import read_fraction
from sfumato.channels.ratios import as_float
from sfumato.errors import ChannelError
from sfumato.input_checks import check_flags
from sfumato.randomness import ONE

#: The most values: each has a row of weights.
MOST_VALUES = 1 << 14
_MOST_OUTPUTS = 1 << 6
#: A row between two points is computed in whole numbers of Python, which takes as long as so many entries of a matrix.
_MIXING = 16
#: How far below the bound the programme stays, so that rounding to integers cannot pass it. The first mostly will do;
#: where gamma is very large, the solver's own errors are larger too.
_SLACKS = (1e-8, 1e-6, 1e-4, 1e-2)


@dataclass(frozen=True, eq=False, repr=False)
class Average(Channel):
    r"""Release a score v_y, unbiased for the true value, whose noise is the least that any channel has under gamma.

        sum_y P[x, y] v_y = x,    P[x, y] <= gamma P[x', y],    max over x of (sum_y P[x, y] v_y^2 - x^2) least

    The k values are points x from -1 to 1, equally far apart; scores are whole multiples of a step. The linear
    programme is in ``least_variance``. Its solution may differ in the last digits from one solver to the next, so the
    integer matrix itself is what is published. In it the mean of the scores is x exactly; beyond 11 values, where rows
    are mixed from those of 11 points, to half a step times 2^-63.

    Where answers may be missing, "no answer" is input k and one more output, whose score is 0. Its row has the least
    weight of every column, and its other scores have mean 0: who does not answer adds nothing to a sum.

    >>> channel = average(5, gamma=3)
    >>> channel.gamma <= 3, (channel.matrix @ channel.scores).round(9).tolist()
    (True, [-1.0, -0.5, 0.0, 0.5, 1.0])
    """

    values: int
    bound: Fraction
    table: Words  # of the points that the programme was solved for; then, where answers may be missing, of "no answer"
    multiples: tuple[int, ...]  # of the step, one an output
    step: Fraction
    nullable: bool = False

    kind = "average"

    @property
    def releases_values(self) -> bool:
        return False

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.values + self.nullable,)

    @property
    def outputs(self) -> tuple[int, ...]:
        return (self.table.shape[1],)

    @cached_property
    def scores(self) -> Array:
        """What each released code counts in a mean of values scaled to [-1, 1]; 0 for "no answer".

        Of a nullable attribute they add up to the sum over those who answered, and ``answered`` to their number.
        """
        plain = np.array([float(self.step * multiple) for multiple in self.multiples])
        return np.append(plain * (ONE / (ONE - self._none)), 0.0) if self.nullable else plain

    @cached_property
    def answered(self) -> Array:
        """What each released code counts in the number of those who answered."""
        if not self.nullable:
            return np.ones(self.m)
        here, there = Fraction(self._none, ONE), Fraction(int(self.table[-1, -1]), ONE)
        out = np.full(self.m, float(there / (there - here)))
        out[-1] = float((there - 1) / (there - here))
        return out

    @property
    def noise_variance(self) -> float:
        """The variance of the score of one record, for the value that has the most; values scaled to [-1, 1]."""
        x = np.linspace(-1, 1, self.values)
        plain = self.table[: len(self.table) - self.nullable] / float(ONE)
        second = np.interp(x, np.linspace(-1, 1, len(plain)), plain @ self.scores**2)
        return float((second - x**2).max())

    @property
    def _none(self) -> int:
        """The weight of the output "no answer" for those who do answer."""
        return int(self.table[0, -1]) if self.nullable else 0

    @property
    def matrix_cells(self) -> int:
        return self.k * self.m * (_MIXING if self._mixed else 1)

    @property
    def _mixed(self) -> bool:
        """Whether there are more values than rows in the table."""
        return self.values > len(self.table) - self.nullable

    @cached_property
    def weights(self) -> Words:
        points = self.table[: len(self.table) - self.nullable]
        if not self._mixed:
            return self.table
        columns = self.m - self.nullable
        rows = between(points[:, :columns].tolist(), self.multiples, self.values, self._middle)
        if min(map(min, rows)) < 1:
            raise ChannelError(f"{self} has rows of weights that are not positive: it is damaged")
        out = np.array(rows, dtype=np.uint64)
        if self.nullable:
            out = np.column_stack((out, np.full(self.values, self._none, dtype=np.uint64)))
            out = np.vstack((out, self.table[-1]))
        lows, highs = out.min(axis=0).tolist(), out.max(axis=0).tolist()
        if any(high > self.bound * low for low, high in zip(lows, highs, strict=True)):
            raise ChannelError(f"{self} exceeds the promised gamma")
        return out

    def _middle(self, x: Fraction) -> int:
        """The first moment that the row of a value has in parts and steps, rounded to a whole number."""
        return round(x / self.step * (ONE - self._none))

    def parameters(self) -> dict[str, Any]:
        rows = [[str(int(weight)) for weight in row] for row in self.table]
        plain = {"values": self.values, "gamma": str(self.bound), "step": str(self.step)}
        own = {"multiples": list(self.multiples), "weights": rows}
        return plain | own | ({"nullable": True} if self.nullable else {})

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Average:
        nullable = parameters.get("nullable", False)
        if not isinstance(nullable, bool):
            raise ChannelError(f"nullable must be true or false, got {str(nullable)[:40]!r} instead")
        values = whole("values", parameters["values"], 2)
        multiples = tuple(whole("multiples", multiple, -(1 << 40)) for multiple in parameters["multiples"])
        step = Fraction(*map(int, str(parameters["step"])[:80].split("/")))
        rows = [[int(weight) for weight in row] for row in parameters["weights"]]
        _check(values, multiples, step, rows, nullable)
        made = cls(
            values, read_fraction(parameters["gamma"]), np.array(rows, dtype=np.uint64), multiples, step, nullable
        )
        made.checked_means()  # rows between the points are made, and held against gamma, only when they are asked for
        return made if made._mixed else made.verified(made.bound)

    def checked_means(self) -> Average:
        """This channel, once the mean of the scores was seen to be the true value, in integers."""
        points = len(self.table) - self.nullable
        for i in range(points):
            moment = self._moment(i)
            if moment * self.step != Fraction(2 * i, points - 1) * (ONE - self._none) - (ONE - self._none):
                raise ChannelError(f"the scores of value {i} must have the value as their mean")
        if self.nullable and self._moment(-1):
            raise ChannelError('the scores of "no answer" must have the mean 0')
        return self

    def _moment(self, row: int) -> int:
        return sum(int(w) * m for w, m in zip(self.table[row], self.multiples, strict=False))

    def __str__(self) -> str:
        return f"average({self.values}, gamma={as_float(self.bound):.6g}{', nullable=True' if self.nullable else ''})"


def average(k: int, gamma: float, nullable: bool = False) -> Average:
    """The best channel under gamma for the mean of k equally spaced values (and "no answer", if nullable)."""
    k, limit = whole("k", k, 2), Fraction(bound(gamma))
    check_flags(ChannelError, nullable=nullable)
    if k > MOST_VALUES:
        raise ChannelError(f"average takes at most {MOST_VALUES} values, got {k}: use Numeric(low, high, points=11)")
    for slack in (one for one in _SLACKS if float(limit) * (1 - one) > 1):
        try:
            made = _made(k, limit, float(limit) * (1 - slack), bool(nullable))
            kept = made.exact_gamma <= limit
        except ChannelError:  # near 1 the solver may fail, and rounding may pass the bound
            continue
        if kept:
            return made.checked_means()
    raise ChannelError(f"no channel for the mean of {k} values was found at gamma {float(gamma):g}: use symmetric")


def _made(k: int, limit: Fraction, gamma: float, nullable: bool) -> Average:
    """The solution of the programme at a gamma just below the bound, in integers."""
    points = min(k, MOST_POINTS)
    found = least_variance(points, gamma)
    step = Fraction(2, points - 1) / round(2 / (points - 1) / found.step)
    multiples = tuple(found.multiples.tolist())
    common = 2 * gcd(*(multiple - multiples[0] for multiple in multiples))
    none = _weight_of_none(found.rows, gamma, common) if nullable else 0
    room = ONE - none
    targets = [(Fraction(2 * i, points - 1) - 1) / step * room for i in range(len(found.rows))]
    rows = mirrored(
        [settled(row, multiples, room, int(target)) for row, target in zip(found.rows, targets, strict=True)], points
    )
    if nullable:
        least = [min(column) for column in zip(*rows, strict=True)]
        rows = [[*row, none] for row in rows] + [[*least, ONE - sum(least)]]
    return Average(k, limit, np.array(rows, dtype=np.uint64), multiples, step, nullable)


def _weight_of_none(rows: Array, gamma: float, common: int) -> int:
    """t = (1 - f) / (gamma - f) in parts, f the sum of the least entries of the columns.

    What is left for the others is a multiple of ``common``, so that their means can be exact. With t "no answer" is
    told from the others with odds gamma too: gamma t + (1 - t) f = 1.
    """
    least = float(np.minimum(rows, rows[:, ::-1]).min(axis=0).sum())
    return ONE - common * round((gamma - 1) / (gamma - least) * ONE / common)


def _check(values: int, multiples: tuple[int, ...], step: Fraction, rows: list[list[int]], nullable: bool) -> None:
    points = len(rows) - nullable
    if points != min(values, MOST_POINTS) or values > MOST_VALUES:
        raise ChannelError(f"{values} values must have {min(values, MOST_POINTS)} rows of weights, got {points}")
    if not 2 <= len(multiples) <= _MOST_OUTPUTS or list(multiples) != sorted({-m for m in multiples}) or step <= 0:
        raise ChannelError("the multiples must increase and be symmetric about 0, and the step be positive")
    if any(len(row) != len(multiples) + nullable for row in rows):
        raise ChannelError(f"every row of weights must have {len(multiples) + nullable} entries")
    if any(min(row) < 1 or sum(row) != ONE for row in rows):
        raise ChannelError("every row of weights must be positive and sum to 2^63")
    if [row[: len(multiples)][::-1] for row in rows[:points]] != [row[: len(multiples)] for row in rows[:points]][::-1]:
        raise ChannelError("the weights must be symmetric")
    if nullable and len({row[-1] for row in rows[:points]}) > 1:
        raise ChannelError('every value must be released as "no answer" equally often')
