"""Randomize a Spark frame where its partitions are, over Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.errors import SchemaError
from sfumato.forms import Forms, read_scheme
from sfumato.owner.repeatable import KeyStream, Places, RepeatableFresh, RepeatableRounds
from sfumato.owner.request import RandomizeRequest, answered_batches
from sfumato.owner.shuffle import TAG, repeated_ids, tags_of
from sfumato.randomness import SecureSource
from sfumato.reading import tables
from sfumato.reading.positions import spark_places
from sfumato.reading.spark_rows import SIGNED, larger, packed, signed, unpacked
from sfumato.reading.spark_session import in_one_line
from sfumato.reading.spark_workers import map_batches, place_of_partition
from sfumato.release import Release
from sfumato.released.part import Part
from sfumato.released.writer import code_types
from sfumato.scheme import Scheme
from sfumato.secrets.keys import subkey
from sfumato.secrets.pseudonyms import Pseudonyms, hexadecimal

if TYPE_CHECKING:
    import pyarrow as pa

_CELLS = "form int, place binary, n bigint, rows binary"
_ORDER = "order of rows"


def randomize_spark(frame: Any, request: RandomizeRequest) -> Release:
    """Randomize a Spark frame; the release's rows are a Spark frame again, sorted by pseudonym or by a random column.

    The answers are computed once, into cells that hold many rows each, and kept in the cluster: a partition that Spark
    computed a second time must not be a second, independent release of the same records. Two things see to that. Fresh
    answers come from a key that is drawn for this release, and are the same when the same rows are computed again
    (``sfumato.owner.repeatable``). And the lineage is cut, so that rows which would come in another order the second
    time are not computed again; a copy on a second worker stands in for one that is lost. Keyed answers are the same
    each time, and need no keeping.
    """
    id, once = request.id, np.empty(32, dtype=np.uint8)
    SecureSource().fill(once)
    wanted = [*request.scheme.schema.names, *([id] if id is not None else [])]
    told = (request.scheme.to_json(), request.key, once.tobytes(), id, request.pseudonyms, request.clear_ids)
    with in_one_line():
        held = map_batches(spark_places(frame, wanted), answer_partition, told, _CELLS)
        if request.key is None or isinstance(request.scheme, Forms) or _draws(request):
            held = held.localCheckpoint(True, _two_copies(held))
        parts = [_rows(held, number, frame, request, once.tobytes()) for number in range(len(request.schemes))]
        if id is not None:
            _check_ids(held)
    return Release.of(parts)


def as_it_is_now(frame: Any, wanted: Sequence[str]) -> Any:
    """The rows of a frame as they are at this moment.

    A frame over a live table is read anew each time: others would be booked than are then answered.
    """
    tables.check_has(frame, wanted)
    with in_one_line():
        own = spark_places(frame, wanted).toDF(*wanted)
        return own.localCheckpoint(True, _two_copies(own))


def _draws(request: RandomizeRequest) -> bool:
    """Whether a part of keyed answers is drawn in each round."""
    return any(group.channel.memoizes for scheme in request.schemes for group in scheme.groups)


def _two_copies(frame: Any) -> Any:
    """Where there are several workers, the cells stay on two of them."""
    from pyspark import StorageLevel

    local = frame.sparkSession.conf.get("spark.master", "local").startswith("local")
    return StorageLevel.MEMORY_AND_DISK if local else StorageLevel.MEMORY_AND_DISK_2


def _rows(held: Any, number: int, frame: Any, request: RandomizeRequest, once: bytes) -> Part:
    """The rows of one form, in the order they are released in."""
    scheme, id = request.schemes[number], request.id
    kinds = [SIGNED.get(kind.bit_width, "double") for kind in code_types(scheme).values()]
    if id is not None:
        own = frame.schema.fields[frame.columns.index(id)].dataType.simpleString()
        kinds.append(own if request.clear_ids else "string")
    tagged = not request.keep_order and (id is None or request.clear_ids)
    columns = [f"c{i} {kind}" for i, kind in enumerate(kinds)] + ["tag bigint"] * tagged
    named = [*scheme.columns, *([id] if id is not None else [])]
    cells = held if len(request.schemes) == 1 else held.filter(f"form = {number}")
    told = (named, once if tagged else None, None if request.clear_ids else id)
    rows = map_batches(cells.select("place", "rows"), unpack_partition, told, ", ".join(columns))
    if not request.keep_order:
        rows = rows.orderBy("tag" if tagged else f"c{len(named) - 1}")
    if tagged:
        rows = rows.drop("tag")
    return Part(rows.toDF(*named), scheme, id, request.link, request.order, packed=cells)


def _check_ids(held: Any) -> None:
    tags = map_batches(held.select("rows"), tags_of_partition, (), "tag binary")
    repeated = tags.groupBy("tag").count().filter("count > 1").count()
    if repeated:
        raise SchemaError(repeated_ids(repeated))


# What runs on the workers.


@lru_cache(maxsize=8)
def _scheme(text: str) -> Scheme | Forms:
    """The scheme, read once by each worker, with the tables that its channels have built so far."""
    return read_scheme(text)


def answer_partition(
    text: str,
    key: bytes | None,
    once: bytes,
    id: str | None,
    pseudonyms: Pseudonyms | None,
    clear_ids: bool,
    batches: Iterator[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    """The answers of a partition, many rows in a cell."""
    import pyarrow as pa

    partition = place_of_partition()
    places = Places(once, partition)
    answers = RepeatableFresh(places) if key is None else RepeatableRounds(key, places)
    request = RandomizeRequest(_scheme(text), id, answers, pseudonyms, clear_ids, True, SecureSource())
    wanted = [*request.scheme.schema.names, *([id] if id is not None else [])]
    for count, batch in enumerate(larger(batches)):
        for number, answered in answered_batches(batch.rename_columns(wanted), request):
            place = f"{partition}|{count}|{number}".encode()
            yield pa.RecordBatch.from_pydict(
                {
                    "form": pa.array([number], pa.int32()),
                    "place": pa.array([place], pa.binary()),
                    "n": pa.array([answered.num_rows], pa.int64()),
                    "rows": packed(answered),
                }
            )


def unpack_partition(
    names: list[str], once: bytes | None, pseudonyms: str | None, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """The rows that cells hold, as columns; a random tag for each of them where the order needs one."""
    import pyarrow as pa

    for batch in batches:
        for place, cell in zip(batch.column(0).to_pylist(), batch.column(1), strict=True):
            found = unpacked(cell.as_buffer())
            columns = {
                f"c{i}": hexadecimal(tags_of(found.column(TAG))) if name == pseudonyms else signed(found.column(name))
                for i, name in enumerate(names)
            }
            if once is not None:
                tags = np.empty(found.num_rows, dtype=np.int64)
                KeyStream(subkey(once, f"{_ORDER} {place.decode()}")).fill(tags.view(np.uint8))
                columns["tag"] = pa.array(tags)
            yield pa.RecordBatch.from_pydict(columns)


def tags_of_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The pseudonyms that cells hold."""
    import pyarrow as pa

    for batch in batches:
        for cell in batch.column(0):
            yield pa.RecordBatch.from_pydict({"tag": unpacked(cell.as_buffer()).column(TAG).cast(pa.binary())})
