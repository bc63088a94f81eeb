"""Contingency tables of released columns, on whatever engine holds the rows, kept for as long as the release lives.

Rows in memory are counted by mixed-radix codes and bincount; rows on disk by DuckDB; rows of any other engine by
that engine, through Narwhals. Several tables that together have few cells come from one scan.
"""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.codes import join_codes
from sfumato.errors import ReleaseError
from sfumato.reading import tables
from sfumato.reading.positions import placed
from sfumato.reading.problems import described
from sfumato.release import Part
from sfumato.released.writer import check_codes, code_types

Counts = NDArray[np.int64]

#: The most cells of a table that is kept in full; beyond it only the cells that occur are kept.
DENSE_CELLS = 1 << 25
#: The most cells of a joint table that is counted so that several smaller ones can be read off it.
JOINT_CELLS = 1 << 20

_BLOCK = 1 << 16


@dataclass(frozen=True)
class SparseCounts:
    """The cells that occur: a column of codes per attribute, and how many rows hold them."""

    codes: tuple[NDArray[Any], ...]
    counts: Counts


_kept: WeakKeyDictionary[Part, dict[tuple[str, ...], Counts]] = WeakKeyDictionary()


def counts(part: Part, columns: Sequence[str]) -> Counts:
    """How many rows hold each combination of released codes, flat, first column slowest."""
    wanted = tuple(columns)
    kept = _kept.setdefault(part, {})
    for known, table in kept.items():
        if set(wanted) <= set(known):
            return _read_off(table, known, wanted, part)
    kept[wanted] = _count(part, wanted)
    return kept[wanted]


def counts_many(part: Part, requests: Sequence[Sequence[str]]) -> list[Counts]:
    """Several tables, from as few scans as the sizes allow."""
    sizes = part.scheme.output_sizes
    plan: list[set[str]] = []
    for request in sorted(requests, key=len, reverse=True):
        for scan in plan:
            if prod(sizes[column] for column in scan | set(request)) <= JOINT_CELLS:
                scan |= set(request)
                break
        else:
            plan.append(set(request))
    for scan in plan:
        counts(part, tuple(column for column in part.scheme.columns if column in scan))
    return [counts(part, request) for request in requests]


def sparse_counts(part: Part, columns: Sequence[str]) -> SparseCounts:
    """Only the cells that occur, for tables with too many cells to list."""
    if _streamed(part):
        codes, found = _unique_rows(part, tuple(columns))
    else:
        codes, found = _grouped(part, tuple(columns))
    return SparseCounts(codes, found)


def _read_off(table: Counts, known: tuple[str, ...], wanted: tuple[str, ...], part: Part) -> Counts:
    if known == wanted:
        return table
    sizes = part.scheme.output_sizes
    tensor = table.reshape([sizes[name] for name in known])
    dropped = tuple(i for i, name in enumerate(known) if name not in wanted)
    left = [name for name in known if name in wanted]
    return np.asarray(tensor.sum(axis=dropped).transpose([left.index(name) for name in wanted]).reshape(-1))


def _count(part: Part, columns: tuple[str, ...]) -> Counts:
    sizes = [part.scheme.output_sizes[column] for column in columns]
    cells = prod(sizes)
    if cells > DENSE_CELLS:
        raise ReleaseError(
            f"the table of {', '.join(columns)} has {cells} cells, more than {DENSE_CELLS}; ask for fewer attributes, "
            f"or name the cells you want"
        )
    if not _streamed(part):
        codes, found = _grouped(part, columns)
        out = np.zeros(cells, dtype=np.int64)
        flat = _flatten(part, columns, codes)
        np.add.at(out, flat, found)
        return out
    out = np.zeros(cells, dtype=np.int64)
    for batch in part.batches(columns, code_types(part.scheme)):
        arrays = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
        for column, array, size in zip(columns, arrays, sizes, strict=True):
            check_codes(column, array, size)
        small = cells <= 1 << 16
        for start in range(0, batch.num_rows, _BLOCK if small else batch.num_rows):
            stop = start + (_BLOCK if small else batch.num_rows)
            flat = join_codes([array[start:stop] for array in arrays], sizes)
            out += np.bincount(flat, minlength=cells)
    return out


def _streamed(part: Part) -> bool:
    """Whether rows are counted batch by batch here, and not by an engine: Arrow tables, CSV, and pieces of files."""
    import pyarrow as pa

    if part.span is not None or isinstance(part.rows, pa.Table):
        return True
    return isinstance(part.rows, Path) and tables.suffix(part.rows) in tables.CSV


def _unique_rows(part: Part, columns: tuple[str, ...]) -> tuple[tuple[NDArray[Any], ...], Counts]:
    grouped = part.arrow().select(list(columns)).group_by(list(columns)).aggregate([([], "count_all")])
    codes = tuple(grouped.column(i).to_numpy() for i in range(len(columns)))
    for column, array in zip(columns, codes, strict=True):
        check_codes(column, array, part.scheme.output_sizes[column])
    return codes, grouped.column(len(columns)).to_numpy()


def _grouped(part: Part, columns: tuple[str, ...]) -> tuple[tuple[NDArray[Any], ...], Counts]:
    """Group and count on the engine that holds the rows."""
    import narwhals as nw

    part.check_unchanged()
    places = [f"c{i}" for i in range(len(columns))]
    try:
        on_disk = isinstance(part.rows, Path)
        held = _on_disk(part.rows) if on_disk else part.rows
        frame = nw.from_native(placed(held, columns, tables.column_names(part.rows) if on_disk else None))
        counted = frame.lazy().group_by(*places).agg(nw.len().alias("rows")).collect(backend="pyarrow").to_native()
    except Exception as problem:  # every engine has errors of its own
        where = part.rows if isinstance(part.rows, Path) else "the rows"
        raise ReleaseError(f"{where}: cannot be counted: {described(problem)}") from problem
    part.check_unchanged()
    codes = tuple(counted.column(place).to_numpy() for place in places)
    for column, array in zip(columns, codes, strict=True):
        check_codes(column, array, part.scheme.output_sizes[column])
    return codes, np.asarray(counted.column("rows").to_numpy(), dtype=np.int64)


def _on_disk(path: Path) -> Any:
    import duckdb

    return duckdb.connect().read_parquet(glob.escape(str(path)))  # a star in the name is a star, not a pattern


def _flatten(part: Part, columns: tuple[str, ...], codes: tuple[NDArray[Any], ...]) -> NDArray[Any]:
    sizes = [part.scheme.output_sizes[column] for column in columns]
    return join_codes([np.asarray(code) for code in codes], sizes) if columns else np.zeros(1, dtype=np.int64)
