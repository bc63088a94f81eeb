"""Supports of item sets with their noise, over all parts of a release."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from sfumato.channels.linear import Array
from sfumato.learn.rules.bits import BitSupports, suits
from sfumato.learn.rules.items import Item, Universe
from sfumato.learn.rules.sizes import SizeUnit
from sfumato.learn.rules.units import Unit, units
from sfumato.release import Release

#: How many record weights are kept for later sets.
_KEPT = 1 << 25


class Supports(Protocol):
    """One part's answers, as means over its n records."""

    n: int

    def estimate(self, items: Sequence[Item]) -> tuple[float, float]: ...

    def cross(self, one: Sequence[Item], other: Sequence[Item]) -> float: ...


class RecordSupports:
    """Supports as means over the records of products of weights: any channel, any exclusive items."""

    def __init__(self, parts: Sequence[Unit | SizeUnit], records: int) -> None:
        self.units = parts
        self.n = records
        self._unit = {item: unit for unit in parts for item in unit.items}
        self._last: tuple[tuple[Item, ...], Array | None] = ((), None)
        self._factors: dict[tuple[Item, ...], Array | None] = {}

    def estimate(self, items: Sequence[Item]) -> tuple[float, float]:
        product = self._product(tuple(items))
        if product is None:
            return 0.0, 0.0
        return float(product.mean()), float(product @ product) / self.n

    def cross(self, one: Sequence[Item], other: Sequence[Item]) -> float:
        left, right = self._product(tuple(one)), self._product(tuple(other))
        return 0.0 if left is None or right is None else float(left @ right) / self.n

    def _product(self, items: tuple[Item, ...]) -> Array | None:
        """∏ w over the units; what the last call shares with this one up to its last unit is kept."""
        grouped: dict[int, list[Item]] = {}
        for item in items:
            grouped.setdefault(id(self._unit[item]), []).append(item)
        chosen = list(grouped.values())
        head = tuple(item for own in chosen[:-1] for item in own)
        if self._last[0] != head or self._last[1] is None:
            product: Array | None = np.ones(self.n)
            for own in chosen[:-1]:
                factor = self._factor(own)
                if factor is None or product is None:
                    return None
                product = factor if product is None else product * factor
            self._last = (head, product)
        last = self._factor(chosen[-1])
        if last is None or self._last[1] is None:
            return None
        return self._last[1] * last if head else last

    def _factor(self, items: list[Item]) -> Array | None:
        key = tuple(items)
        if key not in self._factors:
            unit = self._unit[items[0]]
            found = unit.factor(items)
            if (len(self._factors) + 1) * self.n > _KEPT:
                return found
            self._factors[key] = found
        return self._factors[key]


class ReleaseSupports:
    """Supports over all parts: shares of all records, with the variance given the table."""

    def __init__(self, release: Release, universe: Universe) -> None:
        self.universe = universe
        self.parts: list[Supports] = [
            BitSupports(part, universe) if suits(part, universe) else RecordSupports(units(part, universe), len(part))
            for part in release.parts
            if len(part)
        ]
        self.n = sum(part.n for part in self.parts)
        self._known: dict[frozenset[Item], tuple[float, float]] = {}

    def estimate(self, items: Sequence[Item]) -> tuple[float, float]:
        """The unbiased support and its variance: Cov(N̂ | table) = Σ w² - N̂, over N²."""
        key = frozenset(items)
        if key not in self._known:
            value = variance = 0.0
            for part in self.parts:
                share = part.n / self.n
                support, square = part.estimate(items)
                value += share * support
                variance += share**2 * max(square - support, 0.0) / part.n
            self._known[key] = (value, variance)
        return self._known[key]

    def covariance(self, one: Sequence[Item], other: Sequence[Item]) -> float:
        """Cov of two supports: Σ w w' minus the support of the union, over N²."""
        both = list(dict.fromkeys([*one, *other]))
        if len(self.parts) == 1:
            part = self.parts[0]
            return (part.cross(one, other) - self.estimate(both)[0]) / part.n
        total = 0.0
        for part in self.parts:
            share = part.n / self.n
            total += share**2 * (part.cross(one, other) - part.estimate(both)[0]) / part.n
        return total
