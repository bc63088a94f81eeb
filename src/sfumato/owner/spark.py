"""Randomize a Spark frame where its partitions are, over Arrow batches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.errors import SchemaError, SfumatoError
from sfumato.forms import Forms, read_scheme
from sfumato.owner.answers import Fresh, Keyed
from sfumato.owner.request import RandomizeRequest, answered_batches, finished
from sfumato.owner.shuffle import TAG, repeated_ids, tag_column, tags_of
from sfumato.randomness import SecureSource
from sfumato.reading.positions import spark_places
from sfumato.reading.problems import without_values
from sfumato.release import Release
from sfumato.released.part import Part
from sfumato.released.writer import common_types
from sfumato.secrets.pseudonyms import Pseudonyms

if TYPE_CHECKING:
    import pyarrow as pa

#: Spark has no unsigned integers: each code moves to the next signed type.
_SIGNED = {8: "smallint", 16: "int", 32: "bigint"}


def is_spark(table: Any) -> bool:
    """Whether the table is a Spark frame, without importing Spark."""
    return type(table).__module__.startswith("pyspark.")


def randomize_spark(frame: Any, request: RandomizeRequest) -> Release:
    """Randomize a Spark frame; the release's rows are a Spark frame again, sorted by pseudonym or by a random column.

    Fresh answers and random columns are drawn once and kept (the lineage is cut): a partition that Spark computed a
    second time would be a second, independent release of the same records. Keyed answers and pseudonyms are the same
    each time. Forms are told apart once, so they are kept too, and so are the rounds of a longitudinal channel.
    """
    scheme, id = request.scheme, request.id
    kinds = common_types(request.schemes)
    columns = [_SIGNED.get(kinds[name].bit_width, "double") for name in scheme.columns]
    wanted = list(scheme.schema.names)
    if id is not None:
        wanted.append(id)
        kept = frame.schema.fields[frame.columns.index(id)].dataType.simpleString() if request.clear_ids else "string"
        columns.append(kept)
    released = [*scheme.columns, *([id] if id is not None else [])]
    treated = spark_places(frame, wanted).mapInArrow(
        partial(_partition, scheme.to_json(), request.key, id, request.pseudonyms, request.clear_ids),
        ", ".join([*(f"c{i} {kind}" for i, kind in enumerate(columns)), "form int", "tag binary"]),
    )
    with _in_one_line():
        if request.key is None or isinstance(scheme, Forms) or _draws(request):
            treated = treated.localCheckpoint(eager=True)
        repeated = 0 if id is None else treated.groupBy("tag").count().filter("count > 1").count()
    if repeated:
        raise SchemaError(repeated_ids(repeated))
    ordered = treated if request.keep_order else treated.orderBy("tag")
    parts = []
    for number, form in enumerate(request.schemes):
        held = [i for i, name in enumerate(released) if name in form.columns or name == id]
        rows = ordered if len(request.schemes) == 1 else ordered.filter(f"form = {number}")
        named = rows.select(*(f"c{i}" for i in held)).toDF(*(released[i] for i in held))
        parts.append(Part(named, form, id, request.link, request.order))
    return Release.of(parts)


def _draws(request: RandomizeRequest) -> bool:
    """Whether a part of keyed answers is drawn in each round."""
    return any(group.channel.memoizes for scheme in request.schemes for group in scheme.groups)


@contextmanager
def _in_one_line() -> Iterator[None]:
    """An error that we raised on a worker as the one line it was there; Spark's own pages quote values of the data."""
    with without_values("Spark cannot compute the table"):
        try:
            yield
        except Exception as problem:
            ours = re.search(r"sfumato\.errors\.\w+: ([^\n]+)", str(problem))
            if ours is None or isinstance(problem, SfumatoError):
                raise
            raise SchemaError(ours[1]) from None


def _partition(
    text: str,
    key: bytes | None,
    id: str | None,
    pseudonyms: Pseudonyms | None,
    clear_ids: bool,
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    src = SecureSource()
    answers = Fresh(src) if key is None else Keyed(key, src)
    request = RandomizeRequest(read_scheme(text), id, answers, pseudonyms, clear_ids, keep_order=True, source=src)
    wanted = [*request.scheme.schema.names, *([id] if id is not None else [])]
    kinds = common_types(request.schemes)
    for batch in batches:
        for number, answered in answered_batches(batch.rename_columns(wanted), request):
            if id is None:
                tags = np.empty((answered.num_rows, 16), dtype=np.uint8)
                src.fill(tags.reshape(-1))
            else:
                tags = tags_of(answered.column(TAG))
            ready = finished(answered, request)
            for name in kinds:
                if name not in ready.schema.names:
                    ready = ready.append_column(name, pa.nulls(ready.num_rows, kinds[name]))
            out = _signed(ready.select([*request.scheme.columns, *([id] if id is not None else [])]), kinds)
            out = out.append_column("form", pa.array(np.full(out.num_rows, number, dtype=np.int32)))
            out = out.append_column("tag", tag_column(tags).cast(pa.binary()))
            yield out.rename_columns([*(f"c{i}" for i in range(out.num_columns - 2)), "form", "tag"])


def _signed(batch: pa.RecordBatch, kinds: Mapping[str, Any]) -> pa.RecordBatch:
    """Codes in signed integers, as wide as any form needs."""
    import pyarrow as pa

    wider = {8: pa.int16(), 16: pa.int32(), 32: pa.int64()}
    fields = [
        pa.field(f.name, wider[kinds[f.name].bit_width] if pa.types.is_unsigned_integer(f.type) else f.type)
        for f in batch.schema
    ]
    return batch.cast(pa.schema(fields))
