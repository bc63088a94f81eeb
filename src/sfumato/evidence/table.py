"""The one algebra of tables: an axis per name, and what learners and models do with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import EstimationError


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers with a name per axis.

    >>> Table(("a", "b"), np.array([[1.0, 2.0], [3.0, 4.0]])).project(["b"]).values
    array([4., 6.])
    """

    names: tuple[str, ...]
    values: Array

    @property
    def sizes(self) -> dict[str, int]:
        return dict(zip(self.names, self.values.shape, strict=True))

    def reorder(self, names: Sequence[str]) -> Table:
        """The same axes in another order."""
        if self.names == tuple(names):
            return self
        return Table(tuple(names), self.values.transpose([self.names.index(name) for name in names]))

    def sum_out(self, names: Sequence[str]) -> Table:
        """Without some axes, summed over them."""
        gone = tuple(i for i, name in enumerate(self.names) if name in names)
        return Table(tuple(name for name in self.names if name not in names), np.asarray(self.values.sum(axis=gone)))

    def project(self, names: Sequence[str]) -> Table:
        """Summed to some axes, in this order."""
        return self.sum_out([name for name in self.names if name not in names]).reorder(names)

    def expand(self, names: Sequence[str]) -> Table:
        """With these axes, of length 1 where this table does not have them."""
        own = self.reorder([name for name in names if name in self.names])
        return Table(tuple(names), own.values.reshape([own.sizes.get(name, 1) for name in names]))

    def multiply(self, other: Table) -> Table:
        """The product, over the axes of both."""
        names = (*self.names, *(name for name in other.names if name not in self.names))
        return Table(names, self.expand(names).values * other.expand(names).values)

    def at(self, codes: Mapping[str, int]) -> Table:
        """The slice where some axes have given codes."""
        index = tuple(codes.get(name, slice(None)) for name in self.names)
        return Table(tuple(name for name in self.names if name not in codes), np.asarray(self.values[index]))


def eliminate(tables: Sequence[Table], keep: Sequence[str], most: int) -> Table:
    """The product of the tables summed over everything but ``keep``: one axis after the other, the cheapest first.

    No table on the way may have more than ``most`` cells.

    >>> a, b = Table(("a",), np.array([.4, .6])), Table(("a", "b"), np.array([[.5, .5], [.1, .9]]))
    >>> eliminate([a, b], ["b"], 100).values
    array([0.26, 0.74])
    """
    left = list(tables)
    sizes = {name: size for table in left for name, size in table.sizes.items()}
    costs = {name: _cost(left, name, sizes) for name in sizes if name not in keep}
    while costs:
        name = min(costs, key=costs.__getitem__)
        _check(costs.pop(name), most, "the answer needs")
        inside = [table for table in left if name in table.names]
        summed = _product(inside).sum_out([name])
        left = [*(table for table in left if name not in table.names), summed]
        for other in summed.names:
            if other in costs:
                costs[other] = _cost(left, other, sizes)
    _check(prod(sizes[name] for name in keep), most, f"{', '.join(keep)} make")
    whole = _product(left).expand(keep)
    return Table(tuple(keep), np.broadcast_to(whole.values, [sizes[name] for name in keep]).copy())


def _check(cells: int, most: int, what: str) -> None:
    if cells > most:
        raise EstimationError(f"{what} a table of {cells} cells, more than {most}: ask for fewer attributes")


def _cost(tables: Sequence[Table], name: str, sizes: Mapping[str, int]) -> int:
    return prod(sizes[other] for other in {n for table in tables if name in table.names for n in table.names})


def _product(tables: Sequence[Table]) -> Table:
    out = Table((), np.ones(()))
    for table in sorted(tables, key=lambda table: table.values.size):
        out = out.multiply(table)
    return out
