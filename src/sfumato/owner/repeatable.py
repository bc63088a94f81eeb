r"""Fresh answers of rows that may be computed a second time, as an engine does that has lost a worker.

Bits come from AES-256 in counter mode under a key of their own for every batch and question:

    SHA-256(key || place || question || the true values of the batch)

where ``key`` is drawn for one release and then forgotten, and ``place`` is the number of the partition and of the batch
in it. The same rows at the same place meet the same bits, so computing them again draws nothing new. Other rows there
meet bits that are independent of the first ones: no two values ever share a word.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from sfumato.arrays import Bytes, Codes, Index
from sfumato.domains import Domain
from sfumato.forms import Forms
from sfumato.owner.answers import Fresh, Keyed
from sfumato.randomness import words
from sfumato.scheme import Group


class KeyStream:
    """The bits of one key, the same each time they are asked for."""

    def __init__(self, key: bytes) -> None:
        self._cipher = Cipher(algorithms.AES256(key), modes.CTR(bytes(16))).encryptor()

    def fill(self, buffer: Bytes) -> None:
        buffer[:] = 0
        self._cipher.update_into(buffer.data, buffer.data)


class Places:
    """Where we are in a table that is computed piece by piece, and the bits that belong there."""

    def __init__(self, key: bytes, partition: int) -> None:
        self._key, self._partition, self._batch = key, partition, 0

    def move(self) -> None:
        """To the next batch."""
        self._batch += 1

    def stream(self, what: bytes, told: Sequence[NDArray[Any]] = ()) -> KeyStream:
        """The bits for one purpose, here, of rows that hold this."""
        digest = hashlib.sha256(self._key)
        digest.update(f"{self._partition}|{self._batch}|{len(what)}|".encode() + what)
        for column in told:
            digest.update(f"|{column.dtype.str}{column.shape}|".encode())
            digest.update(np.ascontiguousarray(column).view(np.uint8).data)
        return KeyStream(digest.digest())


class RepeatableFresh(Fresh):
    """Answers that nobody can predict, and that are the same when the same rows are computed again."""

    def __init__(self, places: Places) -> None:
        self._places = places

    def meet(self, ids: NDArray[np.bytes_] | None) -> None:
        self._places.move()

    def chosen(self, forms: Forms, n: int) -> Index:
        return forms.chosen(words(self._places.stream(b"forms"), n))

    def codes(self, group: Group, domains: Sequence[Domain], truth: Sequence[Codes], asked: bytes) -> list[Codes]:
        return Fresh(self._places.stream(asked, truth)).codes(group, domains, truth, asked)


class RepeatableRounds(Keyed):
    """Keyed answers whose rounds, which no key decides, are the same when the same people are computed again."""

    def __init__(self, key: bytes, places: Places) -> None:
        super().__init__(key)
        self._places = places

    def meet(self, ids: NDArray[np.bytes_] | None) -> None:
        super().meet(ids)
        self._places.move()

    def codes(self, group: Group, domains: Sequence[Domain], truth: Sequence[Codes], asked: bytes) -> list[Codes]:
        if group.channel.memoizes:
            self._fresh = self._places.stream(asked, [self._people, *truth])
        return super().codes(group, domains, truth, asked)
