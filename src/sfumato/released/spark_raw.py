"""A party's own records that lie in Spark, as codes: encoded where they are, and counted there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sfumato.reading import tables
from sfumato.reading.positions import spark_places
from sfumato.reading.spark_rows import SIGNED, larger, packed, unpack_partition
from sfumato.reading.spark_session import in_one_line
from sfumato.reading.spark_workers import map_batches
from sfumato.released.part import Part
from sfumato.released.writer import code_types
from sfumato.schema import Schema
from sfumato.scheme import Scheme
from sfumato.secrets.pseudonyms import Pseudonyms, decoded, hexadecimal, id_text

if TYPE_CHECKING:
    import pyarrow as pa


def raw_part(frame: Any, schema: Schema, id: str | None, made: Pseudonyms | None) -> Part:
    """The rows of a Spark frame under the identity; ids become pseudonyms where they are made."""
    scheme = Scheme.identity(schema)
    names = [*schema.names, *([id] if id is not None else [])]
    tables.check_has(frame, names)
    kinds = [SIGNED[kind.bit_width] for kind in code_types(scheme).values()]
    if id is not None:
        own = frame.schema.fields[frame.columns.index(id)].dataType.simpleString()
        kinds.append(own if made is None else "string")
    with in_one_line():
        told = (schema.to_json(), id, made)
        cells = map_batches(spark_places(frame, names), encode_partition, told, "n bigint, rows binary")
        columns = ", ".join(f"c{i} {kind}" for i, kind in enumerate(kinds))
        rows = map_batches(cells.select("rows"), unpack_partition, (names,), columns).toDF(*names)
    link = None if id is None or made is None else made.fingerprint
    return Part(rows, scheme, id, link, raw=True, packed=cells)


@lru_cache(maxsize=8)
def _schema(text: str) -> Schema:
    return Schema.from_json(text)


def encode_partition(
    text: str, id: str | None, made: Pseudonyms | None, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """On a worker: the codes of a partition, many rows in a cell."""
    import pyarrow as pa

    schema = _schema(text)
    for batch in larger(batches):
        columns: dict[str, Any] = {
            name: domain.encode(batch.column(i), name) for i, (name, domain) in enumerate(schema.items())
        }
        if id is not None:
            ids = batch.column(len(columns))
            columns[id] = decoded(ids) if made is None else hexadecimal(made.of(id_text(ids)))
        coded = pa.RecordBatch.from_pydict(columns)
        yield pa.RecordBatch.from_pydict({"n": pa.array([coded.num_rows], pa.int64()), "rows": packed(coded)})
