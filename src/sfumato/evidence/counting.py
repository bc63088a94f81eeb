"""Contingency tables of released columns, on whatever engine holds the rows, kept for as long as the release lives.

Rows in memory are counted by mixed-radix codes and bincount; rows on disk by DuckDB; rows of any other engine by that
engine, through Narwhals. Where many tables will be asked for, the rows are read once into one small integer per row and
column, and all pairs of columns come from one matrix product of indicator columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.channels.codes import join_codes
from sfumato.errors import MissingTableError, ReleaseError
from sfumato.evidence.engine_counting import Codes, check_columns, grouped, unique_rows
from sfumato.evidence.histograms import histogram, indicator_products, pair_tables, pair_width
from sfumato.evidence.spark_counting import count_pairs, count_tables
from sfumato.reading import tables
from sfumato.reading.spark_session import is_spark
from sfumato.released.counted import CountedPart
from sfumato.released.part import Part
from sfumato.released.writer import code_types

#: The most cells of a table that is kept in full; beyond it only the cells that occur are kept.
DENSE_CELLS = 1 << 25
#: The most cells of a joint table that is counted so that several smaller ones can be read off it.
JOINT_CELLS = 1 << 20
#: From so many tables of two columns on, all pairs are counted at once.
MANY_PAIRS = 256
#: The most codes that are read into memory; larger releases are counted where they are.
CODES_IN_MEMORY = 1 << 30
#: The most bytes of tables that are kept for later.
TABLES_IN_MEMORY = 1 << 28

_BLOCK = 1 << 16
_CODES_BLOCK = 1 << 18
PAIRS_WIDTH = 1024  # released values of all columns together, up to which all pairs are counted at once


class Counter:
    """The tables of one part of a release. ``counter(part)`` gives the one that every evidence of it shares."""

    def __init__(self, part: Part) -> None:
        self._part = ref(part)  # the part lives as long as somebody asks for its tables; this must not keep it alive
        self.sizes = part.scheme.output_sizes
        self._kept: dict[frozenset[str], tuple[tuple[str, ...], Array]] = {}
        self._bytes = 0
        self._codes: dict[str, NDArray[Any]] | None = None

    @property
    def part(self) -> Part:
        found = self._part()
        if found is None:  # whoever asks holds the part
            raise ReleaseError("the rows are gone")
        return found

    def counts(self, columns: Sequence[str]) -> Array:
        """How many rows hold each combination of released codes, flat, first column slowest."""
        wanted = tuple(columns)
        known = self._kept.get(frozenset(wanted))
        if known is None and self._codes is None:
            known = next((one for key, one in self._kept.items() if key.issuperset(wanted)), None)
        if known is not None:
            return self._read_off(*known, wanted)
        found = self._count(wanted)
        self._keep(wanted, found)
        return found

    def holds(self, columns: Sequence[str]) -> bool:
        """Whether these columns can be counted together."""
        return True

    def plan(self, requests: Sequence[Sequence[str]]) -> None:
        """Count what several tables can be read off, in as few scans as the sizes allow."""
        if self._codes is not None:
            return
        if len(requests) > MANY_PAIRS and all(len(request) <= 2 for request in requests):
            self.count_pairs()
            requests = [request for request in requests if frozenset(request) not in self._kept]
        plan: list[set[str]] = []
        for request in sorted(requests, key=len, reverse=True):
            for scan in plan:
                if prod(self.sizes[column] for column in scan | set(request)) <= JOINT_CELLS:
                    scan |= set(request)
                    break
            else:
                plan.append(set(request))
        self._count_all([tuple(column for column in self.part.scheme.columns if column in scan) for scan in plan])

    def _count_all(self, scans: Sequence[tuple[str, ...]]) -> None:
        if is_spark(self.part.rows):
            fitting = [scan for scan in scans if prod(self.sizes[column] for column in scan) <= DENSE_CELLS]
            for scan, table in zip(fitting, count_tables(self.part, self.sizes, fitting), strict=True):
                self._keep(scan, table)
            return
        for scan in scans:
            self.counts(scan)

    def records(self, columns: Sequence[str], distinct: bool) -> tuple[Codes, Array]:
        """Only the combinations that occur (or every row by itself), and how many rows hold each."""
        wanted = tuple(columns)
        if not distinct:
            rows = self.part.arrow()
            codes = tuple(rows.column(column).to_numpy() for column in wanted)
            check_columns(self.sizes, wanted, codes)
            return codes, np.ones(rows.num_rows)
        codes, found = (unique_rows if _streamed(self.part) else grouped)(self.part, wanted)
        return codes, found.astype(np.float64)

    def read(self) -> dict[str, NDArray[Any]] | None:
        """Every column in memory, or None where they would not fit."""
        if is_spark(self.part.rows):  # they stay where they are
            return None
        if self._codes is None and len(self.part) * len(self.sizes) <= CODES_IN_MEMORY:
            table = self.part.arrow()
            found = {column: table.column(column).to_numpy() for column in self.sizes}
            check_columns(self.sizes, tuple(found), tuple(found.values()))
            self._codes = {
                column: array.astype(np.min_scalar_type(max(self.sizes[column] - 1, 1)))
                for column, array in found.items()
            }
        return self._codes

    def count_pairs(self) -> None:
        """All pairs of columns from one product: Nxy = Σ_rows 1[x] 1[y]."""
        width = pair_width(self.sizes)
        if width > PAIRS_WIDTH or len(self.sizes) < 3 or len(self._kept) >= len(self.sizes):
            return
        if is_spark(self.part.rows):
            total = count_pairs(self.part, self.sizes)
        else:
            codes = self.read()
            if codes is None:
                return
            total = np.zeros((width, width))
            for start in range(0, len(next(iter(codes.values()))), _BLOCK):
                total += indicator_products(
                    {c: array[start : start + _BLOCK] for c, array in codes.items()}, self.sizes
                )
        for one, other, table in pair_tables(total, self.sizes):
            self._keep((one, other), table.reshape(-1))

    def _keep(self, columns: tuple[str, ...], table: Array) -> None:
        self._bytes += table.nbytes
        if self._bytes > TABLES_IN_MEMORY:
            self._kept.clear()
            self._bytes = table.nbytes
        self._kept[frozenset(columns)] = (columns, table)

    def _read_off(self, known: tuple[str, ...], table: Array, wanted: tuple[str, ...]) -> Array:
        if known == wanted:
            return table
        tensor = table.reshape([self.sizes[name] for name in known])
        left = [name for name in known if name in wanted]
        if len(left) < len(known):
            tensor = tensor.sum(axis=tuple(i for i, name in enumerate(known) if name not in wanted))
        return np.ascontiguousarray(tensor.transpose([left.index(name) for name in wanted])).reshape(-1)

    def _count(self, columns: tuple[str, ...]) -> Array:
        sizes = [self.sizes[column] for column in columns]
        cells = self._check_size(columns)
        part, out = self.part, np.zeros(cells, dtype=np.int64)
        if is_spark(part.rows):
            return count_tables(part, self.sizes, [columns])[0]
        if self._codes is not None:
            held = [self._codes[column] for column in columns]
            for begin in range(0, len(held[0]), _CODES_BLOCK):
                out += histogram(join_codes([one[begin : begin + _CODES_BLOCK] for one in held], sizes), cells)
        elif not _streamed(part):
            codes, found = grouped(part, columns)
            np.add.at(out, join_codes([np.asarray(code) for code in codes], sizes), found)
        else:
            for batch in part.batches(columns, code_types(part.scheme)):
                arrays = tuple(column.to_numpy(zero_copy_only=False) for column in batch.columns)
                check_columns(self.sizes, columns, arrays)
                step = _CODES_BLOCK if cells <= 1 << 16 else batch.num_rows
                for start in range(0, batch.num_rows, step):
                    out += histogram(join_codes([array[start : start + step] for array in arrays], sizes), cells)
        return out.astype(np.float64)

    def _check_size(self, columns: tuple[str, ...]) -> int:
        cells = prod(self.sizes[column] for column in columns)
        if cells > DENSE_CELLS:
            raise ReleaseError(
                f"the released answers to {', '.join(columns)} have {cells:,} combinations, more than {DENSE_CELLS:,}: "
                f"ask for fewer attributes at once, or in Python for some cells, evidence.cells(names, codes)"
            )
        return cells


class TableCounter(Counter):
    """The tables of a part that came as tables: smaller ones are read off them, others there are none."""

    def __init__(self, part: CountedPart) -> None:
        super().__init__(part)
        self._tables = part.tables

    def counts(self, columns: Sequence[str]) -> Array:
        wanted = tuple(columns)
        if not self.holds(wanted):
            raise self._missing(wanted)
        fitting = [known for known in self._tables if set(known).issuperset(wanted)]
        known = min(fitting, key=lambda one: self._tables[one].size)
        return self._read_off(known, self._tables[known].astype(np.float64), wanted)

    def holds(self, columns: Sequence[str]) -> bool:
        return any(set(known).issuperset(columns) for known in self._tables)

    def _missing(self, wanted: tuple[str, ...]) -> MissingTableError:
        groups = self.part.scheme.groups
        treated = {column: group.names for group in groups for column in group.columns if column not in group.names}
        names = list(dict.fromkeys(name for column in wanted for name in treated.get(column, (column,))))
        there = [" x ".join(known) for known in self._tables]
        return MissingTableError(
            f"no table of counts holds {all_together(names)}: ask its site for it "
            f"(sfumato counts --table {','.join(names)}), or ask for less; "
            f"there are {'; '.join(there[:8]) or 'none'}{'; ...' * (len(there) > 8)}"
        )

    def plan(self, requests: Sequence[Sequence[str]]) -> None:
        pass

    def records(self, columns: Sequence[str], distinct: bool) -> tuple[Codes, Array]:
        """A table of all these columns holds the records, up to their order."""
        found = self.counts(columns)
        at = np.flatnonzero(found)
        times = found[at]
        if not distinct:
            at, times = np.repeat(at, times.astype(np.int64)), np.ones(int(times.sum()))
        return np.unravel_index(at, [self.sizes[column] for column in columns]), times

    def read(self) -> None:
        return None


_counters: WeakKeyDictionary[Part, Counter] = WeakKeyDictionary()


def counter(part: Part) -> Counter:
    """The counter of a part, the same for as long as the part lives."""
    if part not in _counters:
        _counters[part] = TableCounter(part) if isinstance(part, CountedPart) else Counter(part)
    return _counters[part]


def all_together(names: Sequence[str]) -> str:
    """Names as a sentence has them.

    >>> all_together(["sex", "age", "grade"])
    'sex, age and grade together'
    """
    return f"{', '.join(names[:-1])} and {names[-1]} together" if len(names) > 1 else names[0]


def _streamed(part: Part) -> bool:
    """Whether rows are counted batch by batch here, and not by an engine: Arrow tables, CSV, and pieces of files."""
    import pyarrow as pa

    if part.span is not None or isinstance(part.rows, pa.Table):
        return True
    return isinstance(part.rows, Path) and tables.suffix(part.rows) in tables.CSV
