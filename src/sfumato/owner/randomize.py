"""Randomize a table at its owner: the last place where raw values exist."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato import tables
from sfumato.channels.lookup import Codes
from sfumato.errors import ChannelError, SchemaError, SchemeError
from sfumato.owner.ledger import Ledger
from sfumato.randomness import KeyedSource, Source, Words, source
from sfumato.release import Release, Writer, code_types
from sfumato.scheme import Group, Scheme

if TYPE_CHECKING:
    import pyarrow as pa

Rng = np.random.Generator | Source | int | None


def randomize(
    table: Any,
    scheme: Scheme,
    key: bytes | None = None,
    id: str | None = None,
    *,
    rng: Rng = None,
    ledger: Ledger | None = None,
    again: bool = False,
) -> Release:
    """Randomize every row of a table under a scheme.

    With ``key`` and ``id`` the same record and attribute always get the same answer, however the table is ordered or
    cut into pieces; without, every call draws afresh from the secure source. The id column travels with the release so
    that parties can join their columns; leave it out where ids name persons.

    A ``ledger`` books the release, and refuses a second fresh answer of any attribute unless asked for by ``again``.
    """
    import pyarrow as pa

    with _booked(ledger, scheme, key, again):
        found = list(_batches(table, scheme, key, id, rng))
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
    ledger: Ledger | None = None,
    again: bool = False,
) -> Release:
    """Randomize a table of any size into a Parquet or CSV file, a batch at a time; the file is whole or not there."""
    with _booked(ledger, scheme, key, again), Writer(target, overwrite) as writer:
        writer.part(scheme, id)
        for batch in _batches(table, scheme, key, id, rng):
            writer.write(batch)
            if progress is not None:
                progress(batch.num_rows)
    return Release.load(target)


def _booked(ledger: Ledger | None, scheme: Scheme, key: bytes | None, again: bool) -> AbstractContextManager[Any]:
    return nullcontext() if ledger is None else ledger.entry(scheme, key, again)


def _batches(table: Any, scheme: Scheme, key: bytes | None, id: str | None, rng: Rng) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    _check_request(table, scheme, key, id, rng)
    treat = _keyed(scheme, KeyedSource(key)) if key is not None else _fresh(scheme, source(rng))
    kinds = code_types(scheme)
    wanted = [*scheme.schema.names, *([id] if id is not None else [])]
    types = scheme.schema.arrow_types | ({id: pa.string()} if id is not None else {})  # an id of 007 stays 007
    for batch in tables.batches(table, wanted, types):
        if not batch.num_rows:
            continue
        released = treat(scheme.schema.encode_batch(batch), batch.column(id) if id is not None else None)
        columns = {name: pa.array(released[name], type=kinds[name]) for name in scheme.columns}
        if id is not None:
            columns[id] = batch.column(id)
        yield pa.RecordBatch.from_pydict(columns)


def _check_request(table: Any, scheme: Scheme, key: bytes | None, id: str | None, rng: Rng) -> None:
    if key is not None and id is None:
        raise SchemeError("key needs id, the column that tells records apart")
    if key is not None and rng is not None:
        raise SchemeError("key and rng exclude each other: keyed answers are not drawn")
    if id is not None and id in scheme.schema:
        raise SchemeError(f"the id column {id!r} is also an attribute of the scheme; an id cannot be randomized")


Treat = Callable[[dict[str, Codes], Any], dict[str, Codes]]


def _fresh(scheme: Scheme, src: Source) -> Treat:
    def treat(codes: dict[str, Codes], _: Any) -> dict[str, Codes]:
        return _each_group(scheme, codes, lambda group, columns: group.channel.sample_columns(columns, src))

    return treat


def _keyed(scheme: Scheme, keyed: KeyedSource) -> Treat:
    def treat(codes: dict[str, Codes], ids: Any) -> dict[str, Codes]:
        text = id_text(ids)

        def answer(group: Group, columns: Sequence[Codes]) -> list[Codes]:
            return group.channel.draw_columns(columns, partial(_word, keyed, purpose(scheme, group), text))

        return _each_group(scheme, codes, answer)

    return treat


def _word(keyed: KeyedSource, asked: bytes, ids: Any, index: int) -> Words:
    return keyed.words(asked + b"|" + str(index).encode(), ids)


def _each_group(
    scheme: Scheme, codes: dict[str, Codes], answer: Callable[[Group, Sequence[Codes]], list[Codes]]
) -> dict[str, Codes]:
    out: dict[str, Codes] = {}
    for group in scheme.groups:
        columns = [codes[name] for name in group.names]
        try:
            group.channel.check_columns(columns)
        except ChannelError as problem:
            raise SchemaError(f"columns {' + '.join(group.names)}: {problem}") from None
        out.update(zip(group.columns, answer(group, columns), strict=True))
    return out


def purpose(scheme: Scheme, group: Group) -> bytes:
    """What a keyed answer depends on besides key and id: the attributes, their domains and the channel.

    Not the rest of the scheme: adding an attribute must not give the others a second, independent answer.
    """
    return scheme.select(group.names).fingerprint.encode()


def id_text(ids: Any) -> np.ndarray[Any, np.dtype[np.bytes_]]:
    """Ids as text in bytes, so that 7 in a Parquet file and "7" in a CSV file are the same record."""
    import pyarrow as pa

    if ids.null_count:
        raise SchemaError(f"the id column holds {ids.null_count} nulls; every record needs an id")
    if pa.types.is_floating(ids.type):
        raise SchemaError("the id column holds fractions; use whole numbers or text")
    text = ids.cast(pa.string()).cast(pa.binary())
    return np.asarray(text.to_numpy(zero_copy_only=False)).astype("S")
