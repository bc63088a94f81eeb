"""Supports of item sets with their noise, over all parts of a release."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.evidence.estimate import Estimate
from sfumato.evidence.protocol import Evidence
from sfumato.evidence.seen import each_axis
from sfumato.learn.rules.bits import BitSupports, suits
from sfumato.learn.rules.items import Item, Universe
from sfumato.learn.rules.sizes import SizeUnit
from sfumato.learn.rules.units import ItemUnit, units

#: How many record weights are kept for later sets.
_KEPT = 1 << 25
#: The most combinations of weights by which records are counted.
_PATTERNS = 1 << 14
#: Of more records than this, released cells are weighed in their place, where there are fewer of those by a factor.
_MANY, _FEWER = 1 << 18, 4
#: A record's weight that varies less than this does not vary.
_ROUNDING = 1e-10


class PartSupports(Protocol):
    """One part's answers, as means over its n records."""

    n: int

    def estimate(self, items: Sequence[Item]) -> tuple[float, float]: ...

    def cross(self, one: Sequence[Item], other: Sequence[Item]) -> float: ...

    def apart(self, one: Sequence[Item], other: Sequence[Item]) -> bool:
        """Whether nothing that is randomized together holds items of both."""
        ...

    def least_square(self, items: Sequence[Item]) -> float:
        """The least that E w² can be over the records that hold the items."""
        ...


class RecordSupports:
    """Supports as means over the records of products of weights: any channel, any exclusive items."""

    def __init__(self, parts: Sequence[ItemUnit | SizeUnit], counts: Array) -> None:
        self.units = parts
        self.n = round(float(counts.sum()))
        self.counts = counts  # how many records each listed one stands for
        self._unit = {item: unit for unit in parts for item in unit.items}
        self._last: tuple[tuple[Item, ...], Array | None] = ((), None)
        self._factors: dict[tuple[Item, ...], Array | None] = {}
        self._squares: dict[tuple[Item, ...], float] = {}
        self._levels: dict[Item, tuple[Array, NDArray[np.intp]] | None] = {}
        self._crosses: tuple[tuple[Item, ...], Array | None] = ((), None)

    def estimate(self, items: Sequence[Item]) -> tuple[float, float]:
        product = self._product(tuple(items))
        if product is None:
            return 0.0, 0.0
        return float(product @ self.counts) / self.n, float((product * product) @ self.counts) / self.n

    def cross(self, one: Sequence[Item], other: Sequence[Item]) -> float:
        """The mean of the product of two sets' weights; for a subset it is read off a table of all of them."""
        if set(other) <= set(one):
            table = self._with_subsets(tuple(one))
            if table is not None:
                return float(table[tuple(int(item in other) for item in one)])
        left, right = self._product(tuple(one)), self._product(tuple(other))
        return 0.0 if left is None or right is None else float((left * right) @ self.counts) / self.n

    def _with_subsets(self, items: tuple[Item, ...]) -> Array | None:
        """Means of ∏ w^(1 + e), e = 0 or 1 for every item: the cross products of a set with all its subsets.

        A weight takes few values, so that the records are first counted by those; None where they are not so few, or
        where items share a unit.
        """
        if self._crosses[0] != items:
            table = None
            levels = [self._values(item) for item in items]
            shape = [len(found[0]) for found in levels if found is not None]
            alone = len({id(self._unit[item]) for item in items}) == len(items)
            if alone and len(shape) == len(items) and prod(shape) <= _PATTERNS:
                flat = np.zeros(len(self.counts), dtype=np.intp)
                maps = []
                for values, codes in (found for found in levels if found is not None):
                    flat *= len(values)
                    flat += codes
                    maps.append(np.stack([values, values**2]))
                counted = np.bincount(flat, self.counts, minlength=prod(shape)).reshape(shape) / self.n
                table = each_axis(counted, maps)
            self._crosses = (items, table)
        return self._crosses[1]

    def _values(self, item: Item) -> tuple[Array, NDArray[np.intp]] | None:
        """The different weights of an item, and which of them each record has."""
        if item not in self._levels:
            factor = self._factor([item])
            found = None
            if factor is not None and (len(self._levels) + 1) * len(self.counts) <= _KEPT:
                values, codes = np.unique(factor.round(12), return_inverse=True)
                found = (values, codes)
            self._levels[item] = found
        return self._levels[item]

    def apart(self, one: Sequence[Item], other: Sequence[Item]) -> bool:
        return {id(self._unit[item]) for item in one}.isdisjoint(id(self._unit[item]) for item in other)

    def least_square(self, items: Sequence[Item]) -> float:
        out = 1.0
        for own in self._grouped(items):
            if own not in self._squares:
                self._squares[own] = self._unit[own[0]].least_square(own)
            out *= self._squares[own]
        return out

    def _grouped(self, items: Sequence[Item]) -> list[tuple[Item, ...]]:
        """The items by what they are randomized with."""
        out: dict[int, list[Item]] = {}
        for item in items:
            out.setdefault(id(self._unit[item]), []).append(item)
        return [tuple(own) for own in out.values()]

    def _product(self, items: tuple[Item, ...]) -> Array | None:
        """∏ w over the units; what the last call shares with this one up to its last unit is kept."""
        chosen = self._grouped(items)
        head = tuple(item for own in chosen[:-1] for item in own)
        if self._last[0] != head or self._last[1] is None:
            product = np.ones(len(self.counts))
            for own in chosen[:-1]:
                factor = self._factor(own)
                if factor is None:
                    return None
                product = product * factor
            self._last = (head, product)
        last = self._factor(chosen[-1])
        if last is None or self._last[1] is None:
            return None
        return self._last[1] * last if head else last

    def _factor(self, key: Sequence[Item]) -> Array | None:
        key = tuple(key)
        if key not in self._factors:
            found = self._unit[key[0]].factor(key)
            if (len(self._factors) + 1) * len(self.counts) > _KEPT:
                return found
            self._factors[key] = found
        return self._factors[key]


class RecordedSupports:
    """Supports over all records: shares of them, with the variance given the table."""

    def __init__(self, source: Evidence, universe: Universe) -> None:
        self.universe = universe
        names = source.names
        few = source.n > _MANY and _FEWER * source.released_cells(names) <= source.n and source.tabulated(names)
        found = source.records(names, distinct=few, inverted=False)
        self.parts: list[PartSupports] = [
            BitSupports(part, universe)
            if not few and suits(part, universe)
            else RecordSupports(units(part, universe), part.counts)
            for part in found
        ]
        self.n = sum(part.n for part in self.parts)
        self._known: dict[frozenset[Item], tuple[float, float]] = {}

    def estimate(self, items: Sequence[Item]) -> tuple[float, float]:
        """The unbiased support and its variance: Cov(N̂ | table) = Σ w² - N̂, over N².

        Few records may happen to show less variance than their channels must have. So it is never taken as smaller
        than what the records that hold the set contribute.
        """
        key = frozenset(items)
        if key not in self._known:
            value = variance = 0.0
            for part in self.parts:
                share = part.n / self.n
                support, square = part.estimate(items)
                value += share * support
                least = max(support, 0.0) * (part.least_square(items) - 1)
                spread = max(square - support, least)
                variance += share**2 * (spread if spread > _ROUNDING else 0.0) / part.n
            self._known[key] = (value, variance)
        return self._known[key]

    def covariance(self, one: Sequence[Item], other: Sequence[Item]) -> float:
        """Cov of two supports: Σ w w' minus the support of the union, over N²."""
        both = list(dict.fromkeys([*one, *other]))
        total = 0.0
        for part in self.parts:
            if part.apart(one, other):  # then the weights of both are their product
                continue
            support = self.estimate(both)[0] if len(self.parts) == 1 else part.estimate(both)[0]
            total += (part.n / self.n) ** 2 * (part.cross(one, other) - support) / part.n
        return total


class CountedSupports:
    """Supports as the counts of the evidence tell them, with their noise."""

    def __init__(self, source: Evidence) -> None:
        self.n = source.n
        self._source = source
        self._known: dict[tuple[str, ...], Estimate] = {}

    def support(self, items: Sequence[Item]) -> float:
        """The share of records that hold all the items."""
        table = self._table(items)
        return float(_holding(table, items) @ table.value) / self.n

    def estimate(self, items: Sequence[Item]) -> tuple[float, float]:
        return self.support(items), self.covariance(items, items)

    def covariance(self, one: Sequence[Item], other: Sequence[Item]) -> float:
        table = self._table([*one, *other])
        return table.covariance(_holding(table, one), _holding(table, other)) / self.n**2

    def _table(self, items: Sequence[Item]) -> Estimate:
        held = {item.attribute for item in items}
        names = tuple(name for name in self._source.names if name in held)
        if names not in self._known:
            self._known[names] = self._source.counts(names, quiet=True)
        return self._known[names]


Supports = RecordedSupports | CountedSupports


def supports_of(source: Evidence, universe: Universe) -> Supports:
    """Supports of item sets with the noise of the evidence: a model's own, or that of the records."""
    return CountedSupports(source) if source.smoothed else RecordedSupports(source, universe)


def _holding(table: Estimate, items: Sequence[Item]) -> Array:
    """Which cells of a table hold all the items."""
    out = np.ones(table.shape)
    for item in items:
        own = np.arange(table.schema[item.attribute].size) == item.code
        out = out * own.reshape([-1 if name == item.attribute else 1 for name in table.names])
    return out.reshape(-1)
