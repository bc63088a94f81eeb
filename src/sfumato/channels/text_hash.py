"""Texts as numbers: every letter at every place has a number, and a text's is their sum."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.arrays import Bytes, Codes, Index
from sfumato.domains.text import UNANSWERED

_BYTES = 256


@dataclass(frozen=True)
class TextHash:
    r"""The number of a text's first ``length`` letters.

        h(x) = T[0, x_0] + T[1, x_1] + ...  (mod cells)

    Tables of random numbers (from ``seed`` and ``level`` by SHAKE-256) make any two texts meet with probability
    1 / cells; any three are independent (tabulation hashing, Patrascu and Thorup 2012). With ``base`` the numbers are
    digits instead, T[i, b] = b base^i, and no two texts meet: "no answer" is the last number. The end of a text counts
    nothing, T[i, 0] = 0.
    """

    length: int
    cells: int
    level: int = 0
    seed: int = 0
    base: int | None = None

    @cached_property
    def table(self) -> Index:
        """A row for every place, a column for every letter."""
        if self.base is not None:
            digits = np.outer([self.base**place for place in range(self.length)], np.arange(_BYTES))
            digits[:, UNANSWERED] = self.cells - 1
            return digits
        named = f"sfumato prefixes|{self.seed}|{self.level}".encode()
        drawn = np.frombuffer(hashlib.shake_256(named).digest(8 * self.length * _BYTES), dtype="<u8")
        out = (drawn % np.uint64(self.cells)).astype(np.int64).reshape(self.length, _BYTES)
        out[:, 0] = 0
        return out

    def __call__(self, texts: Bytes) -> Index:
        """The numbers of texts, a row of bytes each, of which any after the first ``length`` do not count."""
        return self.shift(texts[:, : self.length], 0) % self.cells

    def shift(self, endings: Bytes, before: int) -> Index:
        """What endings add to the number of a beginning of so many letters."""
        out = np.zeros(len(endings), dtype=np.int64)
        for place in range(endings.shape[1]):
            out += self.table[before + place, endings[:, place]]
        return out


def as_rows(codes: Codes) -> Bytes:
    """Texts as rows of bytes, filled up with zeros.

    >>> as_rows(np.array([b"ab", b"c"])).tolist()
    [[97, 98], [99, 0]]
    """
    given = np.ascontiguousarray(codes)
    return given.view(np.uint8).reshape(len(given), given.dtype.itemsize)
