"""Free text: words or codes that nobody lists beforehand."""

from __future__ import annotations

import string
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Codes
from sfumato.domains.base import Domain, Tally, count, null_rows
from sfumato.errors import OutsideDomainError, SchemaError
from sfumato.reading.csv_reader import NULL_WORDS
from sfumato.reading.json_documents import SURROGATE

if TYPE_CHECKING:
    import pyarrow as pa

MOST_LETTERS = 254
LONGEST = 64
#: The byte that stands for "no answer"; the letters are 1, 2, ..., and 0 is the end of a text.
UNANSWERED = 255


@dataclass(frozen=True)
class Text(Domain):
    """Texts of at most ``max_length`` letters of an ``alphabet``, which nobody lists: names, words, codes.

    A text's code is its letters as bytes: 1 for the first letter of the alphabet, 2 for the second. ``clip`` cuts off
    what is too long and leaves out letters that the alphabet does not have.

    >>> word = Text(8)
    >>> word.decode(word.encode(["flu", "cold"])).to_pylist()
    ['flu', 'cold']
    >>> Text(4, "0123456789", clip=True).decode(Text(4, "0123456789", clip=True).encode(["12-345"])).to_pylist()
    ['1234']
    """

    max_length: int
    alphabet: str = string.ascii_lowercase
    nullable: bool = False
    clip: bool = field(default=False, compare=False, kw_only=True)
    missing: tuple[str, ...] = field(default=(), compare=False, kw_only=True)

    kind = "text"

    @property
    def ordered(self) -> bool:
        return False

    def __post_init__(self) -> None:
        if isinstance(self.max_length, bool) or not isinstance(self.max_length, int | np.integer):
            raise SchemaError(f"max_length must be a whole number, got {self.max_length!r} instead")
        if not 1 <= self.max_length <= LONGEST:
            raise SchemaError(f"max_length must lie in [1, {LONGEST}], got {self.max_length} instead")
        object.__setattr__(self, "max_length", int(self.max_length))
        if not isinstance(self.alphabet, str) or not 2 <= len(self.alphabet) <= MOST_LETTERS:
            raise SchemaError(f"alphabet must be a text of 2 to {MOST_LETTERS} different letters")
        twice = next((a for a in self.alphabet if self.alphabet.count(a) > 1), None)
        if twice is not None:
            raise SchemaError(f"alphabet must name each letter once, got {twice!r} twice")
        if SURROGATE.search(self.alphabet) or "\0" in self.alphabet:
            raise SchemaError("alphabet must be made of characters, got half of a surrogate pair or a zero byte")
        if self.alphabet.strip() != self.alphabet:
            raise SchemaError("alphabet must not begin or end with a blank: put it between the letters")
        self._check_missing()

    @property
    def listed(self) -> bool:
        return False

    @property
    def labels(self) -> tuple[Any, ...]:
        raise SchemaError("free text has no list of its values: ask for its top values instead")

    @property
    def size(self) -> int:
        """How many texts there are."""
        a = len(self.alphabet)
        return int((a ** (self.max_length + 1) - a) // (a - 1)) + self.nullable

    @property
    def code_type(self) -> np.dtype[Any]:
        return np.dtype(f"S{self.max_length}")

    @cached_property
    def _bytes(self) -> dict[int, int]:
        return {ord(letter): place + 1 for place, letter in enumerate(self.alphabet)}

    def encode(self, column: Any, name: str = "value", tally: Tally | None = None) -> Codes:
        import pyarrow as pa
        import pyarrow.compute as pc

        given = self._read(column)
        try:
            text = pc.utf8_trim_whitespace(given.cast(pa.string()))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise SchemaError(f"column {name!r} of type {given.type} cannot hold text") from None
        packed = pc.dictionary_encode(
            pc.if_else(pc.is_in(text, value_set=pa.array(NULL_WORDS)), pa.scalar(None, pa.string()), text)
        )
        each = [*packed.dictionary.to_pylist(), ""]
        at = np.asarray(packed.indices.fill_null(len(each) - 1).to_numpy(zero_copy_only=False), dtype=np.int64)
        rows = np.bincount(at, minlength=len(each))
        for kind, wrong in (("long", self._too_long), ("letter", self._strange)):
            bad = [place for place, one in enumerate(each) if wrong(one)]
            if bad and not self.clip:
                allowed = f"at most {self.max_length}" if kind == "long" else f"the alphabet is {self._shown()}"
                raise OutsideDomainError(name, kind, each[bad[0]], int(rows[bad].sum()), allowed)
        moved = [place for place, one in enumerate(each) if self._too_long(one) or self._strange(one)]
        count(tally, name, int(rows[moved].sum()))
        for place in moved:
            each[place] = "".join(letter for letter in each[place] if ord(letter) in self._bytes)[: self.max_length]
        empty = [place for place, one in enumerate(each) if not one]
        if rows[empty].any() and not self.nullable:
            raise null_rows(name, int(rows[empty].sum()))
        codes = np.array([one.translate(self._bytes).encode("latin-1") for one in each], dtype=self.code_type)
        codes[empty] = bytes([UNANSWERED])
        return np.asarray(codes[at])

    def _too_long(self, text: str) -> bool:
        return len(text) > self.max_length

    def _strange(self, text: str) -> bool:
        return not all(ord(letter) in self._bytes for letter in text)

    def _shown(self) -> str:
        return self.alphabet if len(self.alphabet) <= 40 else f"{self.alphabet[:40]}..."

    def moved(self, rows: int) -> str:
        return f"{rows:,} text{'s' * (rows != 1)} too long or with other letters {'were' if rows != 1 else 'was'} cut"

    def decode(self, codes: ArrayLike) -> pa.Array:
        """Texts for codes, None for "no answer"."""
        import pyarrow as pa

        given = np.asarray(codes, dtype=self.code_type)
        letters = {place + 1: letter for place, letter in enumerate(self.alphabet)}
        unanswered = bytes([UNANSWERED])
        return pa.array(
            [None if code == unanswered else code.decode("latin-1").translate(letters) for code in given.tolist()],
            type=pa.string(),
        )

    def meaning(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "max_length": self.max_length,
            "alphabet": self.alphabet,
            "nullable": self.nullable,
        }

    def _written(self) -> dict[str, Any]:
        return {**super()._written(), **({"clip": True} if self.clip else {})}
