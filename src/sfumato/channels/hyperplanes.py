"""Subset selection for very many values: a hyperplane of a finite geometry for each, and no matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.arrays import Codes, Words
from sfumato.channels.base import DENSE_LIMIT
from sfumato.channels.fields import is_order
from sfumato.channels.geometry import Geometry, Incidence, even_inverse, even_variance, point_count
from sfumato.channels.lookup import code_type
from sfumato.channels.odds import SetChannel, levels, odds, position, read_fraction, worst_ratio
from sfumato.channels.ratios import as_float
from sfumato.errors import ChannelError
from sfumato.randomness import ONE, Source

#: The most values, and the most released codes: what estimating needs stays within a few gigabytes.
MOST_VALUES = 1 << 24
MOST_OUTPUTS = 1 << 25
_NEARBY = 6  # fields that are weighed on each side of gamma + 1
_AS_GOOD = 1.015  # of two fields whose variances differ by less than this, the one with fewer outputs


@dataclass(frozen=True, eq=False, repr=False)
class Hyperplanes(SetChannel):
    r"""Report a point, each gamma times as likely when it lies on the hyperplane of the true value.

        P[x, y] = (gamma if x and y are incident else 1) / Z,        Z = gamma r + M - r

    with the M points and the r points of a hyperplane of the projective space over F_q (see ``geometry``), q near
    gamma + 1. Every two hyperplanes meet in the same number of points, which makes the left inverse simple: see
    ``even_inverse``, where a is the probability of a point on the hyperplane of the true value, and b that of one on
    another.

    >>> hyperplanes(1_000_000, Fraction(3), 5)
    subset(1000000, gamma=3)
    """

    order: int  # q

    kind = "hyperplanes"

    @property
    def outputs(self) -> tuple[int, ...]:
        return (self.space.points,)

    @property
    def matrix_cells(self) -> int:
        return self.m

    @cached_property
    def space(self) -> Geometry:
        """The geometry whose first points stand for the values."""
        return Geometry.holding(self.values, self.order)

    @cached_property
    def _levels(self) -> tuple[int, int, int]:
        """The weight of a point off the hyperplane, of one on it, and how many of these get one part more."""
        return levels(self.space.through_one, self.m, ONE, self.bound)

    @property
    def weights(self) -> Words:
        if self.k * self.m > DENSE_LIMIT:
            raise ChannelError(f"{self} has no list of its weights: {self.k} x {self.m} are too many")
        return odds(self.space.incident(np.arange(self.k), np.arange(self.m)), ONE, self.bound)

    @cached_property
    def exact_gamma(self) -> Fraction:
        return worst_ratio(self.space.through_one, self.m, ONE, self.bound)

    @property
    def invertible(self) -> bool:
        return True

    @cached_property
    def inside(self) -> float:
        """The probability of a point on the true value's hyperplane."""
        return float(1 - self._outside)

    @property
    def _outside(self) -> Fraction:
        return Fraction((self.m - self.space.through_one) * self._levels[0], ONE)

    @cached_property
    def common(self) -> Fraction:
        """The sum over the points of their least weight: every point lies off some value's hyperplane."""
        return Fraction(self.m * self._levels[0], ONE)

    @cached_property
    def transition(self) -> Incidence:
        on = (1 - self._outside) / self.space.through_one  # the parts that do not divide evenly are spread
        return Incidence(self.space, self.values, float(Fraction(self._levels[0], ONE)), float(on))

    @cached_property
    def inverse(self) -> Incidence:
        one, two = self.space.through_one, self.space.through_two
        a = 1 - self._outside
        b = a * two / one + Fraction((one - two) * self._levels[0], ONE)
        return even_inverse(self.space, self.values, a, b)

    def draw(self, codes: Codes, draws: Words) -> Codes:
        out = np.empty(len(codes), dtype=code_type(self.m))
        number = codes.astype(np.int64)
        for free in range(self.space.d - 1, -1, -1):  # how many digits of the value's point come after its 1
            own = np.flatnonzero((number >= 0) & (number < self.order**free))
            out[own] = self._drawn(free, number[own].astype(np.uint64), draws[own])
            if len(own) == len(codes):
                break
            number -= self.order**free
        return out

    def _drawn(self, free: int, number: Words, u: Words) -> Words:
        """The points for values whose 1 is followed by these digits: the inverse of the cumulative weights.

        The digit ``free`` of a point on the hyperplane follows from those before it. So the points come in groups that
        share these: q stretches of equal length, of which one is on the hyperplane. After the groups comes one
        stretch off the hyperplane, then points on it.
        """
        low, high, spare = self._levels
        stretch, groups = self.order ** (self.space.d - 1 - free), point_count(self.order, free)
        raised = min(spare, groups * stretch)  # points in the groups that have one part more
        weight = groups * stretch * (high + (self.order - 1) * low) + raised
        out = np.empty(len(u), dtype=np.uint64)
        grouped = u < weight
        out[grouped] = self._in_groups(free, number[grouped], u[grouped])
        rest, off = u[~grouped] - np.uint64(weight), np.uint64(stretch * low)
        on = position(np.maximum(rest, off) - off, high, np.uint64(spare - raised)) + np.uint64(stretch)
        out[~grouped] = np.where(rest < off, rest // np.uint64(low), on) + np.uint64(groups * stretch * self.order)
        return out

    def _in_groups(self, free: int, number: Words, u: Words) -> Words:
        low, high, spare = self._levels
        length, groups = self.order ** (self.space.d - 1 - free), point_count(self.order, free)
        if not len(u):
            return u
        stretch, weight = np.uint64(length), np.uint64(length * (high + (self.order - 1) * low))
        # groups all of whose points on the hyperplane have one part more, and how many such points the next one has
        full = np.uint64(min(spare // length, groups))
        part = np.uint64(spare - int(full) * length if full < groups else 0)
        begin = full * (weight + stretch)
        early, later = u < begin, np.maximum(u, begin) - begin
        middle, beyond = ~early & (later < weight + part), np.maximum(later, weight + part) - weight - part
        group = np.where(early, u // (weight + stretch), full + ~middle * (np.uint64(1) + beyond // weight))
        place = np.where(early, u % (weight + stretch), np.where(middle, later, beyond % weight))
        more = np.where(early, stretch, middle * part)
        before = self._determined(free, number, group) * np.uint64(low) * stretch
        on = more + np.uint64(high) * stretch
        found = np.where(place < before, place, np.maximum(place, before + on) - on) // np.uint64(low)
        found[place >= before + on] += stretch
        hit = np.flatnonzero((place >= before) & (place < before + on))
        found[hit] = before[hit] // np.uint64(low) + position(place[hit] - before[hit], high, more[hit])
        return np.asarray(group * np.uint64(self.order) * stretch + found)

    def _determined(self, free: int, number: Words, group: Words) -> Words:
        """The digit that puts a point on the hyperplane, from the digits before it."""
        q, field, total = self.order, self.space.field, np.zeros(len(number), dtype=np.uint64)
        rest = group.copy()
        for lead in range(free - 1, -1, -1):  # the number of the group as digits, its leading 1 written out
            begin = point_count(q, free) - point_count(q, lead + 1)
            own = (group >= begin) & (group < begin + q**lead)
            rest[own] = group[own] - np.uint64(begin) + np.uint64(q**lead)
        for place in range(free):
            rest, digit = np.divmod(rest, np.uint64(q))
            other = number // np.uint64(q ** (free - 1 - place)) % np.uint64(q)
            total = field.add_product(total, digit, other)
        return field.opposite(total)

    def sample(self, codes: Codes, src: Source) -> Codes:
        return self.sample_in_blocks(codes, src)

    def parameters(self) -> dict[str, Any]:
        return {"values": self.values, "gamma": str(self.bound), "order": self.order}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Hyperplanes:
        return hyperplanes(int(parameters["values"]), read_fraction(parameters["gamma"]), int(parameters["order"]))

    def __str__(self) -> str:
        return f"subset({self.values}, gamma={as_float(self.bound):.6g})"


def hyperplanes(k: int, gamma: Fraction, order: int) -> Hyperplanes:
    """The channel over F_q with q = order, if its numbers make sense and its outputs can be counted."""
    if not 2 <= k <= MOST_VALUES:
        raise ChannelError(f"subset selection needs 2 to {MOST_VALUES} values, got {k}: group the values first")
    if not (order < MOST_OUTPUTS and is_order(order)):
        raise ChannelError(f"hyperplanes need 4 or a prime below {MOST_OUTPUTS}, got {order} instead")
    if Geometry.holding(k, order).points > MOST_OUTPUTS:
        raise ChannelError(f"hyperplanes over F_{order} for {k} values have too many outputs: choose another order")
    return Hyperplanes(k, gamma, order).verified(gamma)


def best_order(k: int, gamma: float) -> int:
    """The order that estimates best for equally likely values, of those whose outputs can be counted."""
    found: dict[int, tuple[float, int]] = {}
    for q in _orders(k, gamma):
        space = Geometry.holding(k, q)
        if space.points <= MOST_OUTPUTS:
            found[q] = share_variance(k, space, gamma), space.points
    if not found:
        raise ChannelError(f"subset selection needs 2 to {MOST_VALUES} values, got {k}: group the values first")
    best = min(wide for wide, _ in found.values())
    return min((q for q in found if found[q][0] <= _AS_GOOD * best), key=lambda q: found[q][1])


def _orders(k: int, gamma: float) -> set[int]:
    """Orders near gamma + 1, and for each number of digits the least with k points and the greatest that is allowed."""
    near = math.ceil(min(gamma + 1, MOST_OUTPUTS))
    above, below = _orders_from(near, 1), _orders_from(near - 1, -1)
    ends: list[int] = []
    for free in range(1, 25):
        ends += _orders_from(max(2, math.floor(k ** (1 / free)) - 1), 1)
        ends += _orders_from(math.floor(MOST_OUTPUTS ** (1 / free)), -1)
    return {*above, *below, *ends}


def _orders_from(start: int, step: int) -> list[int]:
    found: list[int] = []
    q = start
    while 2 <= q <= MOST_OUTPUTS and len(found) < _NEARBY:
        if is_order(q):
            found.append(q)
        q += step
    return found


def share_variance(k: int, space: Geometry, gamma: float) -> float:
    """The variance of one estimated share times n, if all k values are equally likely."""
    one, two = space.through_one, space.through_two
    total = gamma * one + space.points - one
    a, b = gamma * one / total, (gamma * two + one - two) / total
    return even_variance(k, a, b)
