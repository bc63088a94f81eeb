"""Randomize a table at its owner: the last place where raw values exist."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from sfumato.domains import Tally, warn_moved
from sfumato.errors import DisclosureWarning, OutsideDomainError, SchemaError, SchemeError
from sfumato.owner.answers import Account, Digests, Fresh, Keyed, answer, encode
from sfumato.owner.ledger import Booking, Ledger
from sfumato.owner.shuffle import TAG, Shuffle, tag_column, tags_of
from sfumato.owner.spark import is_spark, randomize_spark
from sfumato.randomness import Source, source, warn_of_seed
from sfumato.reading import tables
from sfumato.release import Release
from sfumato.released.writer import Writer, code_types
from sfumato.scheme import Scheme
from sfumato.secrets.pseudonyms import Pseudonyms, decoded, hexadecimal, id_text
from sfumato.writing.described_file import sidecar
from sfumato.writing.whole_files import check_distinct

if TYPE_CHECKING:
    import pyarrow as pa

Rng = np.random.Generator | Source | int | None


def randomize(
    table: Any,
    scheme: Scheme,
    key: bytes | None = None,
    id: str | None = None,
    link_key: bytes | None = None,
    *,
    clear_ids: bool = False,
    order: str = "shuffle",
    rng: Rng = None,
    ledger: Ledger | str | Path | None = None,
    again: bool = False,
) -> Release:
    """Randomize every row of a table under a scheme.

    With ``key`` and ``id`` the same record with the same value always gets the same answer, however the table is
    ordered or cut into pieces; a changed value gets an independent one. Without, every call draws afresh from the
    secure source. Each id may occur once.

    The release carries a pseudonym instead of the id, in a column of the same name. Parties that want to join their
    releases give the same ``link_key``. Without one, pseudonyms are made under ``key``: only the owner's own releases
    can be joined. Without either, they are made under a key that is thrown away, and join no other release.
    ``clear_ids`` releases the ids themselves.

    Rows come in an order that says nothing about the table's; ``order="keep"`` keeps it, and tells whatever the table
    was sorted by.

    A ``ledger`` (or its path) books the release before it is handed out. It refuses a second fresh answer of anybody,
    unless asked for by ``again``; who was asked before is told by ``id``, and without it everybody was.
    """
    import pyarrow as pa

    request = Request.of(scheme, key, id, link_key, clear_ids, order, rng)
    with _booked(ledger, scheme, key, again, id) as booking:
        if is_spark(table) and rng is None:
            if booking is not None and id is not None:
                _take_down(table, request, id, booking)
            return randomize_spark(table, request)
        found = list(released_batches(table, request, None, account=booking))
        if not found:
            raise SchemaError("the table is empty: there is nothing to randomize")
    return Release(pa.Table.from_batches(found), scheme, id, request.link, request.order)


class How(TypedDict, total=False):
    """The further options of ``randomize``."""

    clear_ids: bool
    order: str
    rng: Rng


def randomize_file(
    table: Any,
    target: str | Path,
    scheme: Scheme,
    key: bytes | None = None,
    id: str | None = None,
    link_key: bytes | None = None,
    *,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
    ledger: Ledger | str | Path | None = None,
    again: bool = False,
    **how: Unpack[How],
) -> Release:
    """Randomize a table of any size into a Parquet or CSV file, a batch at a time; the file is whole or not there.

    Everything else (``clear_ids``, ``order``, ``rng`` too) is as ``randomize`` has it.
    """
    request = Request.of(scheme, key, id, link_key, **how)
    path = Path(target)
    beside = sidecar(path) if tables.suffix(path) in tables.CSV else None
    writes = {"the target": path, "the target's description": beside, "the ledger": ledger}
    check_distinct({"the source": table}, writes)
    with (
        _booked(ledger, scheme, key, again, id) as booking,
        Writer(path, [scheme], id, overwrite, [request.link], request.order) as writer,
    ):
        for batch in released_batches(table, request, path.parent, progress, booking):
            writer.write(batch)
        if booking is not None:
            writer.before_it_is_there = booking.settle
    return Release.load(target)


def _booked(
    ledger: Ledger | str | Path | None, scheme: Scheme, key: bytes | None, again: bool, id: str | None
) -> AbstractContextManager[Booking | None]:
    if ledger is None:
        return nullcontext()
    book = Ledger(ledger) if isinstance(ledger, str | Path) else ledger
    if not isinstance(book, Ledger):
        raise SchemeError(f"ledger must be a Ledger or the path of one, got {type(ledger).__name__} instead")
    return book.entry(scheme, key, again, id)


def _take_down(table: Any, request: Request, id: str, account: Account) -> None:
    """Tell an account who is asked, where the rows themselves are treated elsewhere."""
    digests = Digests(account)
    for batch in tables.batches(table, [*request.scheme.schema.names, id]):
        digests.see(request.scheme, encode(batch, request.scheme), id_text(batch.column(id)))


@dataclass(frozen=True)
class Request:
    """What was asked for, checked."""

    scheme: Scheme
    id: str | None
    answers: Fresh | Keyed
    pseudonyms: Pseudonyms | None
    clear_ids: bool
    keep_order: bool
    source: Source
    key: bytes | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        scheme: Scheme,
        key: bytes | None = None,
        id: str | None = None,
        link_key: bytes | None = None,
        clear_ids: bool = False,
        order: str = "shuffle",
        rng: Rng = None,
    ) -> Request:
        for name, given in (("key", key is not None), ("link_key", link_key is not None), ("clear_ids", clear_ids)):
            if given and id is None:
                raise SchemeError(f"{name} needs id, the column that tells records apart")
        if clear_ids and link_key is not None:
            raise SchemeError("clear_ids and link_key exclude each other: a link key makes pseudonyms")
        if key is not None and rng is not None:
            raise SchemeError("key and rng exclude each other: keyed answers are not drawn")
        if id is not None and id in scheme.schema:
            raise SchemeError(f"the id column {id!r} is also an attribute of the scheme; an id cannot be randomized")
        if id is not None and id in scheme.columns:
            raise SchemeError(f"a released column would be called {id!r} like the id column: rename one of them")
        if order not in ("shuffle", "keep"):
            raise SchemeError(f"order must be 'shuffle' or 'keep', got {order!r} instead")
        warn_of_seed(rng, "answers: whoever knows or guesses it reads the raw values back", stacklevel=4)
        src = source(rng)
        made = None if id is None else Pseudonyms.under(key, link_key, src)
        answers = Fresh(src) if key is None else Keyed(key)
        if clear_ids:
            _warn(f"the ids in {id!r} are released as they are: whoever knows an id finds its record")
        if order == "keep":
            _warn("the rows keep their order: whatever the table is sorted by can be read off the release")
        return cls(scheme, id, answers, made, clear_ids, order == "keep", src, key)

    @property
    def link(self) -> str | None:
        """The fingerprint of the key of the pseudonyms; None where the release carries none."""
        return None if self.pseudonyms is None or self.clear_ids else self.pseudonyms.fingerprint

    @property
    def order(self) -> str:
        """What the release says of the order of its rows."""
        return "kept" if self.keep_order else "shuffled"


def _warn(line: str) -> None:
    warnings.warn(line, DisclosureWarning, stacklevel=4)


def released_batches(
    table: Any,
    request: Request,
    folder: Path | None,
    progress: Callable[[int], None] | None = None,
    account: Account | None = None,
) -> Iterator[pa.RecordBatch]:
    """The released rows of a table in the order they are released in; ``folder`` takes those that memory does not."""
    import pyarrow as pa

    tagged = request.pseudonyms is not None
    with Shuffle(folder, request.source, tagged) as shuffle:
        for batch in answered_batches(table, request, account):
            if request.keep_order:
                yield finished(batch, request)
                if tagged:  # only to see that no id occurs twice
                    shuffle.add(pa.RecordBatch.from_arrays([batch.column(TAG)], [TAG]))
            else:
                shuffle.add(batch)
            if progress is not None:
                progress(batch.num_rows)
        for batch in shuffle.rows():
            if not request.keep_order:
                yield finished(batch, request)


def answered_batches(table: Any, request: Request, account: Account | None = None) -> Iterator[pa.RecordBatch]:
    """The answers to every batch of raw rows, with their tags, in the order of the table."""
    import pyarrow as pa

    scheme, id = request.scheme, request.id
    kinds = code_types(scheme)
    moved = Tally()
    digests = None if account is None else Digests(account)
    wanted = [*scheme.schema.names, *([id] if id is not None else [])]
    for batch in tables.batches(table, wanted, tables.AS_TEXT):  # as text, an id of 007 stays 007
        if not batch.num_rows:
            continue
        ids = None if id is None else id_text(batch.column(id))
        try:
            encoded = encode(batch, scheme, moved)
        except OutsideDomainError as problem:
            raise scheme.schema.count_outside(table, problem) from None
        if digests is not None and ids is not None:
            digests.see(scheme, encoded, ids)
        request.answers.meet(ids)
        released = answer(scheme, encoded, request.answers)
        columns = {name: pa.array(released[name], type=kinds[name]) for name in scheme.columns}
        if id is not None and ids is not None and request.pseudonyms is not None:
            if request.clear_ids:
                columns[id] = decoded(batch.column(id))
            columns[TAG] = tag_column(request.pseudonyms.of(ids))
        yield pa.RecordBatch.from_pydict(columns)
    warn_moved(scheme.schema, moved, stacklevel=5)


def answered_rows(table: Any, scheme: Scheme, rng: Rng = None) -> pa.Table:
    """The answers of every row, in the order of the rows: for experiments that compare both, not to be released."""
    import pyarrow as pa

    return pa.Table.from_batches(list(answered_batches(table, Request.of(scheme, rng=rng))))


def finished(batch: pa.RecordBatch, request: Request) -> pa.RecordBatch:
    """The batch as it is released: the tags leave as pseudonyms, or not at all."""
    import pyarrow as pa

    if request.pseudonyms is None:
        return batch
    columns = {name: batch.column(name) for name in batch.schema.names if name != TAG}
    if request.id is not None and not request.clear_ids:
        columns[request.id] = hexadecimal(tags_of(batch.column(TAG)))
    return pa.RecordBatch.from_pydict(columns)
