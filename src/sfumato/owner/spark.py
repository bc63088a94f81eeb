"""Randomize a Spark frame where its partitions are, over Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from sfumato.release import Release
from sfumato.scheme import Scheme
from sfumato.writer import code_types

if TYPE_CHECKING:
    import pyarrow as pa

#: Spark has no unsigned integers: each code moves to the next signed type.
_SIGNED = {8: "smallint", 16: "int", 32: "bigint"}


def is_spark(table: Any) -> bool:
    """Whether the table is a Spark frame, without importing Spark."""
    return type(table).__module__.startswith("pyspark.")


def randomize_spark(frame: Any, scheme: Scheme, key: bytes | None, id: str | None) -> Release:
    """Randomize a Spark frame; the release's rows are a Spark frame again.

    Fresh answers are drawn once and kept (the lineage is cut): a partition that Spark computed a second time would be a
    second, independent release of the same records.
    """
    kinds = code_types(scheme)
    columns = [f"`{name}` {_SIGNED.get(kinds[name].bit_width, 'double')}" for name in scheme.columns]
    wanted = list(scheme.schema.names)
    if id is not None:
        wanted.append(id)
        columns.append(f"`{id}` {frame.schema[id].dataType.simpleString()}")
    treated = frame.select(*(f"`{name}`" for name in wanted)).mapInArrow(
        partial(_partition, scheme.to_json(), key, id), ", ".join(columns)
    )
    return Release(treated if key is not None else treated.localCheckpoint(eager=True), scheme, id)


def _partition(
    text: str, key: bytes | None, id: str | None, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    from sfumato.owner.randomize import randomized_batches

    for batch in batches:
        for released in randomized_batches(batch, Scheme.from_json(text), key, id, None):
            yield _signed(released)


def _signed(batch: pa.RecordBatch) -> pa.RecordBatch:
    import pyarrow as pa

    wider = {8: pa.int16(), 16: pa.int32(), 32: pa.int64()}
    fields = [
        pa.field(f.name, wider[f.type.bit_width] if pa.types.is_unsigned_integer(f.type) else f.type)
        for f in batch.schema
    ]
    return batch.cast(pa.schema(fields))
