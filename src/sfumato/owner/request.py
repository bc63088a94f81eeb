"""What was asked of a randomization, checked; and the answers to every batch of raw rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.domains import Tally, warn_moved
from sfumato.errors import DisclosureWarning, OutsideDomainError, SchemeError, warn
from sfumato.forms import Forms
from sfumato.input_checks import check_flags, check_word, given
from sfumato.owner.answers import Account, Digests, Fresh, Keyed, answer, encode
from sfumato.owner.shuffle import TAG, tag_column, tags_of
from sfumato.randomness import Rng, Source, source, warn_of_seed
from sfumato.reading import tables
from sfumato.released.writer import code_types
from sfumato.scheme import Scheme
from sfumato.secrets.keys import check_study
from sfumato.secrets.pseudonyms import Pseudonyms, decoded, hexadecimal, id_text
from sfumato.writing.description import check_raw

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class RandomizeRequest:
    """What was asked for, checked."""

    scheme: Scheme | Forms
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
        scheme: Scheme | Forms,
        key: bytes | None = None,
        id: str | None = None,
        link_key: bytes | None = None,
        clear_ids: bool = False,
        order: str = "shuffle",
        rng: Rng = None,
        study: str | None = None,
    ) -> RandomizeRequest:
        if not isinstance(scheme, Scheme | Forms):
            raise SchemeError(f"scheme must be a Scheme or Forms, got {type(scheme).__name__} instead")
        check_flags(SchemeError, clear_ids=clear_ids)
        if id is not None and not isinstance(id, str):
            raise SchemeError(f"id must be the name of a column, got {given(id)} instead")
        for name, asked in (("key", key is not None), ("link_key", link_key is not None), ("clear_ids", clear_ids)):
            if asked and id is None:
                raise SchemeError(f"{name} needs id, the column that tells records apart")
        if clear_ids and link_key is not None:
            raise SchemeError("clear_ids and link_key exclude each other: a link key makes pseudonyms")
        if key is not None and rng is not None:
            raise SchemeError("key and rng exclude each other: keyed answers are not drawn")
        if id == "":
            raise SchemeError("the id column has no name: rename it")
        if id is not None and id in scheme.schema:
            raise SchemeError(f"the id column {id!r} is also an attribute of the scheme; an id cannot be randomized")
        if id is not None and id in scheme.columns:
            raise SchemeError(f"a released column would be called {id!r} like the id column: rename one of them")
        check_word(SchemeError, "order", order, ("shuffle", "keep"))
        for secret in (key, link_key):
            if secret is not None:
                check_study(secret, scheme if study is None else study, stacklevel=4)
        warn_of_seed(rng, "answers: whoever knows or guesses it reads the raw values back", stacklevel=4)
        src = source(rng)
        made = None if id is None else Pseudonyms.under(key, link_key, src)
        answers = Fresh(src) if key is None else Keyed(key, src)
        if clear_ids:
            _warn(f"the ids in {id!r} are released as they are: whoever knows an id finds its record")
        if order == "keep":
            _warn("the rows keep their order: whatever the table is sorted by can be read off the release")
        return cls(scheme, id, answers, made, clear_ids, order == "keep", src, key)

    @property
    def schemes(self) -> tuple[Scheme, ...]:
        """The scheme, or that of each form."""
        return self.scheme.forms if isinstance(self.scheme, Forms) else (self.scheme,)

    @property
    def link(self) -> str | None:
        """The fingerprint of the key of the pseudonyms; None where the release carries none."""
        return None if self.pseudonyms is None or self.clear_ids else self.pseudonyms.fingerprint

    @property
    def order(self) -> str:
        """What the release says of the order of its rows."""
        return "kept" if self.keep_order else "shuffled"


def _warn(line: str) -> None:
    warn(line, DisclosureWarning, stacklevel=4)


def answered_batches(
    table: Any, request: RandomizeRequest, account: Account | None = None, moved: Tally | None = None
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The answers to every batch of raw rows, with their tags, in the order of the table, and the form's number.

    Values that were moved into their domain are told in a warning, or counted in ``moved`` where it is given.
    """
    import pyarrow as pa

    check_raw(table)
    id, schemes = request.id, request.schemes
    forms = request.scheme if isinstance(request.scheme, Forms) else None
    kinds = [code_types(scheme) for scheme in schemes]
    own = Tally() if moved is None else moved
    digests = None if account is None else Digests(account)
    wanted = [*request.scheme.schema.names, *([id] if id is not None else [])]
    rows = tables.batches(table, wanted, tables.AS_TEXT)  # as text, an id of 007 stays 007
    for whole, batch, number in formed_batches(rows, request):
        scheme = schemes[number]
        ids = None if id is None else id_text(batch.column(id))
        try:
            encoded = encode(batch, scheme, own)
        except OutsideDomainError as problem:
            raise scheme.schema.count_outside(table, problem) from None
        if not whole:
            request.answers.meet(ids)
        if digests is not None and ids is not None:
            digests.see(scheme, encoded, ids, request.answers, None if forms is None else (forms, number))
        released = answer(scheme, encoded, request.answers)
        columns = {name: pa.array(released[name], type=kinds[number][name]) for name in scheme.columns}
        if id is not None and ids is not None and request.pseudonyms is not None:
            if request.clear_ids:
                columns[id] = decoded(batch.column(id))
            columns[TAG] = tag_column(request.pseudonyms.of(ids))
        yield number, pa.RecordBatch.from_pydict(columns)
    if moved is None:
        warn_moved(request.scheme.schema, own, stacklevel=5)


def formed_batches(
    batches: Iterable[pa.RecordBatch], request: RandomizeRequest
) -> Iterator[tuple[bool, pa.RecordBatch, int]]:
    """The raw rows of each form, with its number; whether they are a whole batch, whose people were met already."""
    for batch in batches:
        if not batch.num_rows:
            continue
        request.answers.meet(None if request.id is None else id_text(batch.column(request.id)))
        if not isinstance(request.scheme, Forms):
            yield True, batch, 0
            continue
        chosen = request.answers.chosen(request.scheme, batch.num_rows)
        for number in np.unique(chosen).tolist():
            yield False, batch.take(np.flatnonzero(chosen == number)), number


def answered_rows(table: Any, scheme: Scheme, rng: Rng = None) -> pa.Table:
    """The answers of every row, in the order of the rows: for experiments that compare both, not to be released."""
    import pyarrow as pa

    return pa.Table.from_batches([batch for _, batch in answered_batches(table, RandomizeRequest.of(scheme, rng=rng))])


def finished(batch: pa.RecordBatch, request: RandomizeRequest) -> pa.RecordBatch:
    """The batch as it is released: the tags leave as pseudonyms, or not at all."""
    import pyarrow as pa

    if request.pseudonyms is None:
        return batch
    columns = {name: batch.column(name) for name in batch.schema.names if name != TAG}
    if request.id is not None and not request.clear_ids:
        columns[request.id] = hexadecimal(tags_of(batch.column(TAG)))
    return pa.RecordBatch.from_pydict(columns)
