"""The answers of one batch of raw rows: drawn afresh, or as a function of the owner's key."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array, Bytes, Codes, Index, Words
from sfumato.channels.longitudinal import Longitudinal
from sfumato.domains import Domain, Tally
from sfumato.errors import ChannelError, SchemaError
from sfumato.forms import Forms
from sfumato.question import question
from sfumato.randomness import SecureSource, Source, words
from sfumato.scheme import Group, Scheme
from sfumato.secrets.keyed_answers import ROUNDING, KeyedSource, code_bytes
from sfumato.secrets.keys import subkey

if TYPE_CHECKING:
    import pyarrow as pa


class Fresh:
    """Answers drawn anew from a source of random bits."""

    def __init__(self, src: Source) -> None:
        self._source = src

    def meet(self, ids: NDArray[np.bytes_] | None) -> None:
        """The people of the next rows, who do not matter here."""

    def chosen(self, forms: Forms, n: int) -> Index:
        """The form of each of n records."""
        return forms.chosen(words(self._source, n))

    def told(self, group: Group, truth: Sequence[Codes], asked: bytes) -> list[NDArray[Any]]:
        """What an answer of theirs depends on: the true values."""
        return _truth(group, truth)

    def codes(self, group: Group, domains: Sequence[Domain], truth: Sequence[Codes], asked: bytes) -> list[Codes]:
        columns = _rounded(group, domains, truth, lambda _: words(self._source, len(truth[0])))
        return group.channel.sample_columns(columns, self._source)


class Keyed:
    """Answers that are a function of the owner's key, the question, the record's id and its true value.

    A longitudinal channel hides the permanent answer, which is such a function of the class, by a fresh draw.
    """

    def __init__(self, key: bytes, fresh: Source | None = None) -> None:
        self._source = KeyedSource.of_answers(key)
        self._fresh = SecureSource() if fresh is None else fresh

    def meet(self, ids: NDArray[np.bytes_] | None) -> None:
        """The people of the next rows."""
        if ids is None:
            raise SchemaError("keyed answers need ids")
        self._people = self._source.people(ids)

    def chosen(self, forms: Forms, n: int) -> Index:
        """The form of each of these people."""
        return forms.chosen(self._source.form_words(bytes.fromhex(forms.fingerprint), self._people))

    def told(self, group: Group, truth: Sequence[Codes], asked: bytes) -> list[NDArray[Any]]:
        """What an answer of theirs depends on: the true values, or their class where only that is answered."""
        if isinstance(group.channel, Longitudinal):
            return [self._hashed(group.channel, truth[0], asked)[1]]
        return _truth(group, truth)

    def codes(self, group: Group, domains: Sequence[Domain], truth: Sequence[Codes], asked: bytes) -> list[Codes]:
        channel = group.channel
        if isinstance(channel, Longitudinal):
            chosen, classes = self._hashed(channel, truth[0], asked)
            first = self._source.words(asked, self._people, [classes])(0)
            return [channel.report(chosen, classes, first, words(self._fresh, len(first)))]
        word = self._source.words(asked, self._people, _truth(group, truth))
        return channel.draw_columns(_rounded(group, domains, truth, word), word)

    def _hashed(self, channel: Longitudinal, codes: Codes, asked: bytes) -> tuple[Words, Codes]:
        """The hash function of each of these people, whatever their value, and their class under it."""
        own = hashlib.sha256(asked + b"hash").digest()
        return channel.hashed(codes, self._source.words(own, self._people, [])(0))


@dataclass(frozen=True)
class BatchDigests:
    """What an account may keep of one batch: digests under the account's own secret, never ids or values.

    ``people`` has 16 bytes for each row. ``values`` has, for each question (the attributes, and ``question``), a word
    that is the same exactly when person and true value are the same. Fresh answers count anew each time; keyed answers
    count once for each distinct (person, question, value). ``form`` is the number of the form that all of them answer,
    where there are several.
    """

    people: Bytes
    values: Sequence[tuple[tuple[str, ...], bytes, Words]]
    form: int | None = None


class Account(Protocol):
    """The hook of an owner's ledger: ``see`` is called for every batch before it is released, and may refuse."""

    @property
    def secret(self) -> bytes: ...

    def see(self, seen: BatchDigests) -> None: ...


class Digests:
    """The digests that an account asked for."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._source = KeyedSource(subkey(account.secret, "sfumato ledger 2"))

    def see(
        self,
        scheme: Scheme,
        encoded: Encoded,
        ids: NDArray[np.bytes_],
        answers: Fresh | Keyed,
        forms: tuple[Forms, int] | None = None,
    ) -> None:
        """Records that answer a scheme, which may be one of several forms, by its number; ``answers`` has met them.

        Of forms every attribute is told, in the same order for all: nothing of those that are not on this form.
        """
        people = self._source.people(ids)
        values = []
        for group, columns in encoded:
            asked = question(scheme, group.names)
            told = answers.told(group, columns, asked)
            values.append((group.names, asked, self._source.words(asked, people, told)(0)))
        if forms is None:
            self._account.see(BatchDigests(people, values))
            return
        found = {name: (asked, words) for names, asked, words in values for name in names}
        none = b"", np.zeros(len(ids), dtype=np.uint64)
        every = [((name,), *found.get(name, none)) for name in forms[0].schema.names]
        self._account.see(BatchDigests(people, every, forms[1]))


#: The true codes of a batch, or its true numbers where they are answered or rounded: a column for each attribute.
Encoded = list[tuple[Group, list[Codes]]]


def encode(batch: pa.RecordBatch, scheme: Scheme, moved: Tally | None = None) -> Encoded:
    """Raw rows as each channel takes them; a row that the scheme does not allow is an error."""
    out = []
    for group in scheme.groups:
        domains = [scheme.schema[name] for name in group.names]
        columns: list[Codes] = []
        for name, domain in zip(group.names, domains, strict=True):
            coded = domain.unrounded if domain.rounds else domain.encode
            read = domain.numbers if group.channel.continuous else coded
            columns.append(read(batch.column(name), name, moved))
        if any(domain.rounds for domain in domains):  # a channel for which some rows are impossible takes no points
            out.append((group, columns))
            continue
        try:
            group.channel.check_columns(columns)
        except ChannelError as problem:
            raise SchemaError(f"columns {' + '.join(group.names)}: {problem}") from None
        out.append((group, columns))
    return out


def answer(scheme: Scheme, encoded: Encoded, answers: Fresh | Keyed) -> dict[str, Any]:
    """The released columns of one batch."""
    out: dict[str, Any] = {}
    for group, columns in encoded:
        domains = [scheme.schema[name] for name in group.names]
        given = answers.codes(group, domains, columns, question(scheme, group.names))
        out.update(zip(group.columns, given, strict=True))
    return out


def _rounded(
    group: Group, domains: Sequence[Domain], truth: Sequence[Codes], word: Callable[[int], Words]
) -> list[Codes]:
    """The true codes; of an attribute with points the code of one of the two around its value."""
    if group.channel.continuous:
        return list(truth)
    return [
        domain.rounded(column, word(ROUNDING + place)) if domain.rounds else column
        for place, (domain, column) in enumerate(zip(domains, truth, strict=True))
    ]


def _truth(group: Group, columns: Sequence[Codes]) -> list[NDArray[Any]]:
    if group.channel.continuous:
        return [_double(column) for column in columns]
    if not group.channel.listed:
        return list(columns)  # the letters of a text, as many bytes as it may have
    return [
        _double(column) if column.dtype.kind == "f" else code_bytes(column, size)
        for column, size in zip(columns, group.channel.sizes, strict=True)
    ]


def _double(values: Array) -> NDArray[Any]:
    plain = np.where(np.isnan(values), np.nan, np.asarray(values) + 0.0)  # -0.0 and 0.0 are one value, as are all nan
    return plain.astype("<f8", copy=False)
