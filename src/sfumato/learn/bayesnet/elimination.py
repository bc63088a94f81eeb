"""Exact marginals of a network by eliminating one variable after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from sfumato.channels.linear import Array
from sfumato.errors import EstimationError

#: The most cells of a table on the way.
MOST = 1 << 24


@dataclass(frozen=True, eq=False)
class Factor:
    """A table with a name per axis."""

    names: tuple[str, ...]
    table: Array

    def times(self, other: Factor) -> Factor:
        names = (*self.names, *(name for name in other.names if name not in self.names))
        return Factor(names, self.spread(names) * other.spread(names))

    def spread(self, names: Sequence[str]) -> Array:
        """The table with these axes, of length 1 where this factor does not have them."""
        own = [name for name in names if name in self.names]
        moved = self.table.transpose([self.names.index(name) for name in own])
        sizes = dict(zip(own, moved.shape, strict=True))
        return moved.reshape([sizes.get(name, 1) for name in names])

    def without(self, name: str) -> Factor:
        at = self.names.index(name)
        return Factor(self.names[:at] + self.names[at + 1 :], self.table.sum(axis=at))

    def at(self, codes: Mapping[str, int]) -> Factor:
        """The slice where some attributes have given codes."""
        index = tuple(codes.get(name, slice(None)) for name in self.names)
        return Factor(tuple(name for name in self.names if name not in codes), np.asarray(self.table[index]))


def eliminate(factors: Sequence[Factor], keep: Sequence[str]) -> Array:
    """The product of the factors summed over everything but ``keep``, with its axes in that order.

    >>> a, b = Factor(("a",), np.array([.4, .6])), Factor(("a", "b"), np.array([[.5, .5], [.1, .9]]))
    >>> eliminate([a, b], ["b"])
    array([0.26, 0.74])
    """
    left = list(factors)
    sizes = {name: size for factor in left for name, size in zip(factor.names, factor.table.shape, strict=True)}
    waiting = [name for name in sizes if name not in keep]
    while waiting:
        costs = {name: _cost(left, name, sizes) for name in waiting}
        name = min(waiting, key=lambda other: costs[other])
        if costs[name] > MOST:
            raise EstimationError(f"exact inference would need a table of {costs[name]} cells, more than {MOST}")
        waiting.remove(name)
        inside = [factor for factor in left if name in factor.names]
        left = [factor for factor in left if name not in factor.names]
        left.append(_product(inside).without(name))
    whole = _product(left)
    cells = prod(sizes[name] for name in keep)
    if cells > MOST:
        raise EstimationError(f"the joint table of {', '.join(keep)} has {cells} cells, more than {MOST}")
    return np.broadcast_to(whole.spread(keep), [sizes[name] for name in keep]).copy()


def _cost(factors: Sequence[Factor], name: str, sizes: Mapping[str, int]) -> int:
    return prod(sizes[other] for other in {n for factor in factors if name in factor.names for n in factor.names})


def _product(factors: Sequence[Factor]) -> Factor:
    out = Factor((), np.ones(()))
    for factor in sorted(factors, key=lambda factor: factor.table.size):
        out = out.times(factor)
    return out
