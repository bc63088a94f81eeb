"""Randomize a table at its owner: the last place where raw values exist."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from sfumato.errors import SchemaError, SchemeError
from sfumato.forms import Forms
from sfumato.input_checks import check_flags, check_progress, path_of
from sfumato.owner.answers import Account, Digests, encode
from sfumato.owner.ledger import Booking, Ledger
from sfumato.owner.request import RandomizeRequest, answered_batches, finished, formed_batches
from sfumato.owner.shuffle import TAG, Shuffle
from sfumato.owner.spark import as_it_is_now, randomize_spark
from sfumato.randomness import Rng
from sfumato.reading import tables
from sfumato.reading.spark_session import is_spark
from sfumato.release import Release
from sfumato.released.part import Part
from sfumato.released.writer import Writer, code_types
from sfumato.scheme import Scheme
from sfumato.secrets.pseudonyms import id_text
from sfumato.writing.described_file import sidecar
from sfumato.writing.whole_files import check_distinct

if TYPE_CHECKING:
    import pyarrow as pa


def randomize(
    table: Any,
    scheme: Scheme | Forms,
    key: bytes | None = None,
    id: str | None = None,
    link_key: bytes | None = None,
    *,
    clear_ids: bool = False,
    order: str = "shuffle",
    rng: Rng = None,
    study: str | None = None,
    ledger: Ledger | str | Path | None = None,
    again: bool = False,
) -> Release:
    """Randomize every row of a table under a scheme, or under one of several forms.

    Of ``Forms`` every record is given one at random, and answers only that; under a key the same record always gets the
    same form. The release has a part for every form.

    With ``key`` and ``id`` the same record with the same value always gets the same answer, however the table is
    ordered or cut into pieces; a changed value gets an independent one. Without, every call draws afresh from the
    secure source. Each id may occur once. A key that is bound to a study (``new_key(study=...)``) warns when it is used
    for another one; ``study`` is the name of this one, unless it has no other name than its scheme.

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

    request = RandomizeRequest.of(scheme, key, id, link_key, clear_ids, order, rng, study)
    with booked(ledger, scheme, key, again, id) as booking:
        if is_spark(table) and rng is None:
            if booking is not None and id is not None:
                _check_forms_known(request)
                table = as_it_is_now(table, [*scheme.schema.names, id])
                take_down(table, request, id, booking)
            return randomize_spark(table, request)
        found = list(released_batches(table, request, None, account=booking))
        if not found:
            raise SchemaError("the table is empty: there is nothing to randomize")
    if not isinstance(scheme, Forms):
        return Release(pa.Table.from_batches([batch for _, batch in found]), scheme, id, request.link, request.order)
    parts = []
    for number, form in enumerate(scheme.forms):
        own = [batch for form_number, batch in found if form_number == number]
        rows = pa.Table.from_batches(own) if own else no_rows(form, id, found[0][1])
        parts.append(Part(rows, form, id, request.link, request.order))
    return Release.of(parts)


class How(TypedDict, total=False):
    """The further options of ``randomize``."""

    clear_ids: bool
    order: str
    rng: Rng
    study: str | None


def randomize_file(
    table: Any,
    target: str | Path,
    scheme: Scheme | Forms,
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

    Everything else (``clear_ids``, ``order``, ``rng``, ``study`` too) is as ``randomize`` has it.
    """
    request = RandomizeRequest.of(scheme, key, id, link_key, **how)
    path = path_of(SchemaError, "target", target)
    check_flags(SchemaError, overwrite=overwrite)
    check_progress(SchemaError, progress)
    beside = sidecar(path) if tables.suffix(path) in tables.CSV else None
    writes = {"the target": path, "the target's description": beside, "the ledger": ledger}
    check_distinct({"the source": table}, writes)
    with (
        booked(ledger, scheme, key, again, id) as booking,
        Writer(path, request.schemes, id, overwrite, [request.link] * len(request.schemes), request.order) as writer,
    ):
        for number, batch in released_batches(table, request, path.parent, progress, booking):
            writer.write(batch, number)
        if booking is not None:
            writer.before_it_is_there = booking.settle
    return Release.load(target)


def booked(
    ledger: Ledger | str | Path | None,
    scheme: Scheme | Forms,
    key: bytes | None,
    again: bool,
    id: str | None,
    draft: str | None = None,
) -> AbstractContextManager[Booking | None]:
    """The entry of a release in a ledger, if there is one; ``draft`` as ``Booking`` has it."""
    check_flags(SchemeError, again=again)
    if ledger is None:
        return nullcontext()
    book = Ledger(ledger) if isinstance(ledger, str | Path) else ledger
    if not isinstance(book, Ledger):
        raise SchemeError(f"ledger must be a Ledger or the path of one, got {type(ledger).__name__} instead")
    return book.entry(scheme, key, again, id, draft)


def _check_forms_known(request: RandomizeRequest) -> None:
    """Refuse forms that would be drawn where the ledger does not see it: it would book another form than was asked."""
    if isinstance(request.scheme, Forms) and request.key is None:
        raise SchemeError(
            "the form of each record is drawn by the workers, where the ledger does not see it: give a key, "
            "under which it knows who answers which form"
        )


def take_down(table: Any, request: RandomizeRequest, id: str, account: Account) -> None:
    """Tell an account who is asked, where the rows themselves are treated elsewhere."""
    _check_forms_known(request)
    digests = Digests(account)
    forms = request.scheme if isinstance(request.scheme, Forms) else None
    for _, batch, number in formed_batches(tables.batches(table, [*request.scheme.schema.names, id]), request):
        scheme, ids = request.schemes[number], id_text(batch.column(id))
        request.answers.meet(ids)
        digests.see(scheme, encode(batch, scheme), ids, request.answers, None if forms is None else (forms, number))


def released_batches(
    table: Any,
    request: RandomizeRequest,
    folder: Path | None,
    progress: Callable[[int], None] | None = None,
    account: Account | None = None,
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The released rows of a table, form by form, in the order they are released in, each with its form's number.

    ``folder`` takes the rows that memory does not.
    """
    import pyarrow as pa

    tagged, count = request.pseudonyms is not None, len(request.schemes)
    kept: list[list[pa.RecordBatch]] = [[] for _ in range(count)]
    with ExitStack() as open_ones:
        mixed = [open_ones.enter_context(Shuffle(folder, request.source, tagged, count)) for _ in range(count)]
        everybody = open_ones.enter_context(Shuffle(folder, request.source, tagged))
        for number, batch in answered_batches(table, request, account):
            if not request.keep_order:
                mixed[number].add(batch)
            elif count == 1:
                yield number, finished(batch, request)
            else:
                kept[number].append(batch)
            if tagged and (request.keep_order or count > 1):  # to see that no id occurs twice, in whatever forms
                everybody.add(pa.RecordBatch.from_arrays([batch.column(TAG)], [TAG]))
            if progress is not None:
                progress(batch.num_rows)
        for _ in everybody.rows():
            pass
        for number in range(count):
            for batch in kept[number] if request.keep_order else mixed[number].rows():
                yield number, finished(batch, request)


def no_rows(scheme: Scheme, id: str | None, like: pa.RecordBatch) -> pa.Table:
    """The part of a form that nobody was given."""
    import pyarrow as pa

    kinds = {**code_types(scheme), **({id: like.schema.field(id).type} if id is not None else {})}
    return pa.table({name: pa.array([], type=kind) for name, kind in kinds.items()})
