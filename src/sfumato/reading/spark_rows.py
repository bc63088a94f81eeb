"""The rows of a Spark frame, a partition after the other: what has to come here comes without all of it at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.reading.positions import spark_places
from sfumato.reading.spark_session import in_one_line
from sfumato.reading.spark_workers import map_batches

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows that Spark's workers put into one cell: its own batches of 10 000 take longer to begin than to treat.
ROWS_IN_A_CELL = 1 << 17
#: Spark has no unsigned integers: a code of so many bits moves to the next signed type.
SIGNED = {8: "smallint", 16: "int", 32: "bigint"}


def spark_batches(frame: Any, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Some columns of a Spark frame in Arrow batches."""
    with in_one_line():
        cells = map_batches(spark_places(frame, columns), pack_partition, (), "rows binary")
        for row in cells.toLocalIterator():
            yield unpacked(row["rows"]).rename_columns(list(columns))


def pack_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """On a worker: the rows of a partition, many in a cell."""
    import pyarrow as pa

    for batch in larger(batches):
        yield pa.RecordBatch.from_pydict({"rows": packed(batch)})


def larger(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Neighbouring batches together."""
    import pyarrow as pa

    some: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        some.append(batch)
        rows += batch.num_rows
        if rows >= ROWS_IN_A_CELL:
            yield from pa.Table.from_batches(some).combine_chunks().to_batches()
            some, rows = [], 0
    if rows:
        yield from pa.Table.from_batches(some).combine_chunks().to_batches()


def packed(batch: pa.RecordBatch) -> pa.Array:
    """A column of one cell, which holds the batch."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as out:
        out.write_batch(batch)
    held = sink.getvalue()
    ends = pa.py_buffer(np.array([0, held.size], dtype=np.int32))
    return pa.Array.from_buffers(pa.binary(), 1, [None, ends, held])


def unpacked(cell: Any) -> pa.RecordBatch:
    """The batch that a cell holds."""
    import pyarrow as pa

    return pa.ipc.open_stream(cell).read_next_batch()


def packed_rows(cells: Any) -> int:
    """How many rows cells hold, which say it of themselves."""
    with in_one_line():
        return int(cells.selectExpr("coalesce(sum(n), 0) as n").first()["n"])


def unpack_partition(names: Sequence[str], batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """On a worker: the rows that cells hold, as columns."""
    import pyarrow as pa

    for batch in batches:
        for cell in batch.column(0):
            found = unpacked(cell.as_buffer())
            yield pa.RecordBatch.from_pydict({f"c{i}": signed(found.column(name)) for i, name in enumerate(names)})


def signed(column: pa.Array) -> pa.Array:
    """Codes in signed integers."""
    import pyarrow as pa

    wider = {8: pa.int16(), 16: pa.int32(), 32: pa.int64()}
    return column.cast(wider[column.type.bit_width]) if pa.types.is_unsigned_integer(column.type) else column
