"""Tables of rows that lie in Spark: all that were asked for from one job, counted where the rows are.

A worker counts its partition as ``sfumato.evidence.counting`` counts rows in memory, and sends on the cells that occur.
Spark adds them up. Only whole numbers come here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.channels.codes import join_codes
from sfumato.evidence.histograms import histogram, indicator_products, pair_width
from sfumato.reading.positions import spark_places
from sfumato.reading.spark_rows import unpacked
from sfumato.reading.spark_session import in_one_line
from sfumato.reading.spark_workers import map_batches
from sfumato.released.part import Part
from sfumato.released.writer import check_codes

if TYPE_CHECKING:
    import pyarrow as pa

#: The most cells of all tables together that a worker counts at a time.
CELLS_IN_A_JOB = 1 << 23

Columns = tuple[str, ...]


def count_tables(part: Part, sizes: Mapping[str, int], scans: Sequence[Columns]) -> list[Array]:
    """How many rows hold each combination of codes, flat, for every set of columns; one job for as many as fit."""
    out: list[Array] = []
    some: list[Columns] = []
    for place, scan in enumerate(scans):
        some.append(scan)
        after = scans[place + 1] if place + 1 < len(scans) else None
        cells = sum(prod(sizes[column] for column in one) for one in [*some, *([after] if after else [])])
        if after is None or cells > CELLS_IN_A_JOB:
            used = {column: size for column, size in sizes.items() if any(column in one for one in some)}
            shapes = [prod(sizes[column] for column in one) for one in some]
            out += _collected(part, count_tables_of_partition, (used, some), shapes)
            some = []
    return out


def count_pairs(part: Part, sizes: Mapping[str, int]) -> Array:
    """The products of the indicators of all columns (``histograms.indicator_products``), from one job."""
    width = pair_width(sizes)
    (total,) = _collected(part, count_pairs_of_partition, (dict(sizes),), [width * width])
    return total.reshape(width, width)


def _collected(part: Part, work: Any, told: tuple[Any, ...], cells: Sequence[int]) -> list[Array]:
    """Flat tables of so many cells each, added up over what the workers counted."""
    from pyspark.sql import functions as f

    with in_one_line():
        packed = part.packed is not None
        rows = part.packed.select("rows") if packed else spark_places(part.rows, list(told[0]))
        counted = map_batches(rows, work, (packed, *told), "t int, cell bigint, n bigint")
        found = counted.groupBy("t", "cell").agg(f.sum("n").alias("n")).toArrow()
    which, cell, n = (found.column(name).to_numpy() for name in ("t", "cell", "n"))
    out = [np.zeros(size) for size in cells]
    for number, table in enumerate(out):
        own = which == number
        table[cell[own]] = n[own]
    return out


# What runs on the workers.


def count_tables_of_partition(
    packed: bool, sizes: dict[str, int], scans: list[Columns], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The cells of every table that occur in a partition, and how often."""
    shapes = [[sizes[column] for column in scan] for scan in scans]
    totals = [np.zeros(prod(shape), dtype=np.int64) for shape in shapes]
    for held in _codes(packed, sizes, batches):
        for scan, shape, total in zip(scans, shapes, totals, strict=True):
            flat = join_codes([held[column] for column in scan], shape)
            if total.size <= 1 << 16:
                total += histogram(flat, total.size)
            else:
                np.add.at(total, flat, 1)
    yield from map(_occurring, range(len(totals)), totals)


def count_pairs_of_partition(
    packed: bool, sizes: dict[str, int], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The pairs of released values that occur together in a partition, and how often."""
    width = pair_width(sizes)
    total = np.zeros((width, width))
    for held in _codes(packed, sizes, batches):
        total += indicator_products(held, sizes)
    yield _occurring(0, np.rint(total).astype(np.int64).reshape(-1))


def _codes(
    packed: bool, sizes: Mapping[str, int], batches: Iterator[pa.RecordBatch]
) -> Iterator[dict[str, NDArray[Any]]]:
    """The columns of some rows at a time, out of cells or as they come."""
    for batch in batches:
        rows = [unpacked(cell.as_buffer()) for cell in batch.column(0)] if packed else [batch]
        for some in rows:
            held = {column: some.column(column if packed else i) for i, column in enumerate(sizes)}
            codes = {column: array.to_numpy(zero_copy_only=False) for column, array in held.items()}
            for column, size in sizes.items():
                check_codes(column, codes[column], size)
            if some.num_rows:
                yield codes


def _occurring(number: int, table: Any) -> pa.RecordBatch:
    import pyarrow as pa

    at = np.flatnonzero(table)
    return pa.RecordBatch.from_pydict(
        {"t": np.full(len(at), number, dtype=np.int32), "cell": at.astype(np.int64), "n": table[at]}
    )
