"""How often each combination of released codes has occurred, kept up to date while responses arrive.

Estimates need nothing but these tables, so they take the same time for a thousand responses and for ten million. Of
each form the joint table of all columns is kept where it is small; otherwise the tables of all pairs of groups, and of
each group, as far as their cells fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.channels.codes import join_codes
from sfumato.evidence.blocks import blocks
from sfumato.evidence.counting import counter
from sfumato.evidence.seen import columns as seen_columns
from sfumato.released.counted import CountedPart
from sfumato.released.part import Part
from sfumato.scheme import Scheme
from sfumato.service.layout import Layout

#: Up to so many cells the joint table of all columns is kept.
JOINT = 1 << 16
#: The most cells of one table, and of all together.
SINGLE, ALL = 1 << 22, 1 << 24
_BLOCK = 1 << 18

Columns = tuple[str, ...]


@cache
def kept(scheme: Scheme) -> tuple[Columns, ...]:
    """The tables that are kept of a scheme: columns of whole groups, which alone tell of an attribute."""
    groups = [group.columns for group in scheme.groups if not group.channel.continuous]
    sizes = scheme.output_sizes
    everything = tuple(column for columns in groups for column in columns)
    if everything and prod(sizes[column] for column in everything) <= JOINT:
        return (everything,)
    wanted = [*groups, *(first + second for first, second in combinations(groups, 2))]
    chosen, left = [], ALL
    for columns in wanted:
        cells = prod(sizes[column] for column in columns)
        if cells <= min(left, SINGLE):
            chosen.append(columns)
            left -= cells
    return tuple(chosen)


class Tally:
    """The tables of one form, and how many responses they hold."""

    def __init__(self, scheme: Scheme, n: int = 0, tables: Mapping[Columns, NDArray[np.int64]] | None = None) -> None:
        self.scheme, self.n = scheme, n
        sizes = scheme.output_sizes
        self.tables = tables or {
            columns: np.zeros(prod(sizes[column] for column in columns), dtype=np.int64) for columns in kept(scheme)
        }

    def add(self, codes: Mapping[str, NDArray[Any]], rows: int, sign: int = 1) -> None:
        """Count some rows more; with sign -1, take them out."""
        sizes = self.scheme.output_sizes
        for columns, table in self.tables.items():
            shape = [sizes[column] for column in columns]
            for start in range(0, rows, _BLOCK):
                flat = join_codes([codes[column][start : start + _BLOCK] for column in columns], shape)
                if rows * 8 < len(table):  # a few rows of a large table
                    np.add.at(table, flat, sign)
                else:
                    table += sign * np.bincount(flat, minlength=len(table))
        self.n += sign * rows

    def counts(self, columns: Sequence[str]) -> Array | None:
        """The table of these columns, flat, first column slowest; None where it is not kept."""
        wanted, sizes = tuple(columns), self.scheme.output_sizes
        holding = [known for known in self.tables if set(known) >= set(wanted)]
        if not holding:
            return None
        known = min(holding, key=lambda one: len(self.tables[one]))
        tensor = self.tables[known].reshape([sizes[column] for column in known])
        left = [column for column in known if column in wanted]
        tensor = tensor.sum(axis=tuple(i for i, column in enumerate(known) if column not in wanted))
        return np.ascontiguousarray(tensor.transpose([left.index(c) for c in wanted])).reshape(-1).astype(np.float64)

    def part(self) -> CountedPart:
        """The same as a part of a release that is known by its tables alone."""
        return CountedPart(dict(self.tables), self.scheme, order="shuffled", records=self.n)

    def copy(self) -> Tally:
        """The same in tables of its own."""
        return Tally(self.scheme, self.n, {columns: table.copy() for columns, table in self.tables.items()})

    def merge(self, other: Tally, sign: int = 1) -> None:
        """Add the counts of another tally of the same scheme; with sign -1, take them out."""
        for columns, table in other.tables.items():
            self.tables[columns] += sign * table
        self.n += sign * other.n


def fold(tally: Tally, layout: Layout, rows: Iterable[bytes], sign: int = 1) -> None:
    """Count responses as they are stored."""
    held = list(rows)
    if held:
        tally.add(layout.unpack(held), len(held), sign)


def told(part: Part, names: Sequence[str]) -> bool:
    """Whether one table that is kept tells all that a part asked of these attributes."""
    asked = tuple(name for name in names if name in part.scheme.schema)
    if any(name in part.scheme.noises for name in asked):
        return False
    return not asked or counter(part).holds(seen_columns(blocks(part.scheme, asked, inverted=False)))
