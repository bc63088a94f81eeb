"""Randomize a table at its owner: the last place where raw values exist."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato import tables
from sfumato.channels import Noise
from sfumato.channels.linear import Array
from sfumato.channels.lookup import Codes
from sfumato.domains import Tally, warn_moved
from sfumato.errors import ChannelError, DisclosureWarning, OutsideDomainError, SchemaError, SchemeError
from sfumato.owner.ledger import Ledger
from sfumato.owner.spark import is_spark, randomize_spark
from sfumato.randomness import KeyedSource, Source, Words, source
from sfumato.release import Release
from sfumato.scheme import Group, Scheme
from sfumato.writer import Writer, code_types

if TYPE_CHECKING:
    import pyarrow as pa

_LONG_ID = 96  # bytes: longer ids are replaced by their digest, so that one of them does not widen all

Rng = np.random.Generator | Source | int | None


def randomize(
    table: Any,
    scheme: Scheme,
    key: bytes | None = None,
    id: str | None = None,
    *,
    rng: Rng = None,
    ledger: Ledger | str | Path | None = None,
    again: bool = False,
) -> Release:
    """Randomize every row of a table under a scheme.

    With ``key`` and ``id`` the same record and attribute always get the same answer, however the table is ordered or
    cut into pieces; without, every call draws afresh from the secure source. The id column travels with the release so
    that parties can join their columns; leave it out where ids name persons.

    A ``ledger`` (or its path) books the release, and refuses a second fresh answer of any attribute unless asked for
    by ``again``.
    """
    import pyarrow as pa

    with _booked(ledger, scheme, key, again, id):
        if is_spark(table) and rng is None:
            _check_request(scheme, key, id, rng)
            return randomize_spark(table, scheme, key, id)
        found = list(randomized_batches(table, scheme, key, id, rng))
        if not found:
            raise SchemaError("the table is empty: there is nothing to randomize")
    return Release(pa.Table.from_batches(found), scheme, id)


def randomize_file(
    table: Any,
    target: str | Path,
    scheme: Scheme,
    key: bytes | None = None,
    id: str | None = None,
    *,
    rng: Rng = None,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
    ledger: Ledger | str | Path | None = None,
    again: bool = False,
) -> Release:
    """Randomize a table of any size into a Parquet or CSV file, a batch at a time; the file is whole or not there."""
    with _booked(ledger, scheme, key, again, id), Writer(target, [scheme], id, overwrite) as writer:
        for batch in randomized_batches(table, scheme, key, id, rng):
            writer.write(batch)
            if progress is not None:
                progress(batch.num_rows)
    return Release.load(target)


def _booked(
    ledger: Ledger | str | Path | None, scheme: Scheme, key: bytes | None, again: bool, id: str | None
) -> AbstractContextManager[Any]:
    if ledger is None:
        return nullcontext()
    book = Ledger(ledger) if isinstance(ledger, str | Path) else ledger
    if not isinstance(book, Ledger):
        raise SchemeError(f"ledger must be a Ledger or the path of one, got {type(ledger).__name__} instead")
    return book.entry(scheme, key, again, id)


def randomized_batches(
    table: Any, scheme: Scheme, key: bytes | None, id: str | None, rng: Rng
) -> Iterator[pa.RecordBatch]:
    """The released rows of a table, batch by batch."""
    import pyarrow as pa

    _check_request(scheme, key, id, rng)
    answers = Keyed(key) if key is not None else Fresh(source(rng))
    kinds = code_types(scheme)
    moved = Tally()
    wanted = [*scheme.schema.names, *([id] if id is not None else [])]
    for batch in tables.batches(table, wanted, tables.AS_TEXT):  # as text, an id of 007 stays 007
        if not batch.num_rows:
            continue
        try:
            ids = id_text(batch.column(id)) if key is not None else None
            released = _treat(batch, scheme, answers, ids, moved)
        except OutsideDomainError as problem:
            raise scheme.schema.count_outside(table, problem) from None
        columns = {name: pa.array(released[name], type=kinds[name]) for name in scheme.columns}
        if id is not None:
            columns[id] = batch.column(id)
        yield pa.RecordBatch.from_pydict(columns)
    warn_moved(scheme.schema, moved, stacklevel=4)


def _check_request(scheme: Scheme, key: bytes | None, id: str | None, rng: Rng) -> None:
    if key is not None and id is None:
        raise SchemeError("key needs id, the column that tells records apart")
    if key is not None and rng is not None:
        raise SchemeError("key and rng exclude each other: keyed answers are not drawn")
    if isinstance(rng, int | np.integer | np.random.Generator):
        warnings.warn(
            f"rng={'a numpy Generator' if isinstance(rng, np.random.Generator) else 'a seed'} gives predictable "
            f"answers: whoever knows or guesses it reads the raw values back; leave it out for real records, "
            f"and in experiments write rng=sf.experiment(seed)",
            DisclosureWarning,
            stacklevel=3,
        )
    if id is not None and id in scheme.schema:
        raise SchemeError(f"the id column {id!r} is also an attribute of the scheme; an id cannot be randomized")


class Fresh:
    """Answers drawn anew from a source of random bits."""

    def __init__(self, src: Source) -> None:
        self._source = src

    def codes(self, group: Group, columns: Sequence[Codes], _: bytes, __: Any) -> list[Codes]:
        return group.channel.sample_columns(columns, self._source)

    def number(self, noise: Noise, values: Array, _: bytes, __: Any) -> Array:
        return noise.randomize(values, self._source)


class Keyed:
    """Answers that are a function of the owner's key, the record's id and the question."""

    def __init__(self, key: bytes) -> None:
        self._source = KeyedSource(key)

    def codes(self, group: Group, columns: Sequence[Codes], asked: bytes, ids: Any) -> list[Codes]:
        return group.channel.draw_columns(columns, lambda i: self._word(asked, ids, i))

    def number(self, noise: Noise, values: Array, asked: bytes, ids: Any) -> Array:
        return noise.draw(values, self._word(asked, ids, 0))

    def _word(self, asked: bytes, ids: Any, index: int) -> Words:
        return self._source.words(asked + b"|" + str(index).encode(), ids)


def _treat(
    batch: pa.RecordBatch, scheme: Scheme, answers: Fresh | Keyed, ids: Any, moved: Tally | None = None
) -> dict[str, Any]:
    """The released columns of one batch of raw rows."""
    out: dict[str, Any] = {}
    for group in scheme.groups:
        columns = [scheme.schema[name].encode(batch.column(name), name, moved) for name in group.names]
        try:
            group.channel.check_columns(columns)
        except ChannelError as problem:
            raise SchemaError(f"columns {' + '.join(group.names)}: {problem}") from None
        out.update(zip(group.columns, answers.codes(group, columns, purpose(scheme, group.names), ids), strict=True))
    for name, noise in scheme.noises.items():
        domain = scheme.schema[name]
        values = domain.numbers(batch.column(name), name, moved)
        out[name] = answers.number(noise, values, purpose(scheme, (name,)), ids)
    return out


@lru_cache(maxsize=1 << 10)
def purpose(scheme: Scheme, names: tuple[str, ...]) -> bytes:
    """What a keyed answer depends on besides key and id: the attributes, their domains and the channel.

    Not the rest of the scheme: adding an attribute must not give the others a second, independent answer.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisclosureWarning)  # said when the scheme itself was made
        return scheme.select(names).fingerprint.encode()


def id_text(ids: Any) -> np.ndarray[Any, np.dtype[np.bytes_]]:
    """Ids as text in bytes, so that 7 in a Parquet file and "7" in a CSV file are the same record."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if ids.null_count:
        raise SchemaError(f"the id column holds {ids.null_count} nulls; every record needs an id")
    if pa.types.is_floating(ids.type):
        raise SchemaError("the id column holds fractions; use whole numbers or text")
    try:
        text = ids.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise SchemaError(f"the id column of type {ids.type} cannot be read as text") from None
    long = pc.greater(pc.binary_length(text), _LONG_ID)
    # The last byte tells an id from its digest, and keeps ids apart that differ only in trailing zero bytes.
    text = pc.binary_join_element_wise(text, pa.scalar("\1"), pa.scalar(""))
    if pc.any(long).as_py():
        digests = [hashlib.sha256(value.encode()).hexdigest() + "\2" for value in text.filter(long).to_pylist()]
        text = pc.replace_with_mask(text, long, pa.array(digests))
    widest = int(pc.max(pc.binary_length(text)).as_py())
    padded = pc.ascii_rpad(text, width=widest, padding="\0")  # by bytes: all ids end up equally long
    data = np.frombuffer(padded.buffers()[2], dtype=np.uint8)
    start = np.frombuffer(padded.buffers()[1], dtype=np.int32)[padded.offset]
    return data[start : start + len(padded) * widest].view(f"S{widest}")
