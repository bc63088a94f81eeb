"""Randomize a table at its owner: the last place where raw values exist."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from sfumato.errors import SchemaError, SchemeError
from sfumato.owner.answers import Account, Digests, encode
from sfumato.owner.ledger import Booking, Ledger
from sfumato.owner.request import RandomizeRequest, answered_batches, finished
from sfumato.owner.shuffle import TAG, Shuffle
from sfumato.owner.spark import is_spark, randomize_spark
from sfumato.randomness import Rng
from sfumato.reading import tables
from sfumato.release import Release
from sfumato.released.writer import Writer
from sfumato.scheme import Scheme
from sfumato.secrets.pseudonyms import id_text
from sfumato.writing.described_file import sidecar
from sfumato.writing.whole_files import check_distinct

if TYPE_CHECKING:
    import pyarrow as pa


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

    request = RandomizeRequest.of(scheme, key, id, link_key, clear_ids, order, rng)
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
    request = RandomizeRequest.of(scheme, key, id, link_key, **how)
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


def _take_down(table: Any, request: RandomizeRequest, id: str, account: Account) -> None:
    """Tell an account who is asked, where the rows themselves are treated elsewhere."""
    digests = Digests(account)
    for batch in tables.batches(table, [*request.scheme.schema.names, id]):
        digests.see(request.scheme, encode(batch, request.scheme), id_text(batch.column(id)))


def released_batches(
    table: Any,
    request: RandomizeRequest,
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
