r"""Keyed answers, version 2: random words that are a function of the key, the question, the person and the true value.

The same person with the same value always meets the same words, so a repeated release tells nothing new. Another value
meets words that are independent of the first ones. (In version 1 it met the same words, and a changed answer gave both
values away.) This is what a program in another language has to compute, byte by byte::

    CBC(k, m)  the last 16 bytes of AES-256-CBC of m under the key k, with a zero IV and without padding
    k          = SHA-256("sfumato keyed answers 2\n" || the 32 secret bytes of the key)
    t          = the id as UTF-8 || 01, filled with zero bytes to whole blocks of 16 bytes
                 (the id in Unicode's form NFC, without white space before and after it)
                 (an id of more than 96 bytes: the SHA-256 of UTF-8 || 01, as 64 hexadecimal digits || 02)
    person     = CBC(k, h || t),  h = first 16 bytes of SHA-256("person|" || the number of blocks of t, in decimal)
    v          = the true codes of all attributes of the group, in its order; a code of an attribute with K values takes
                 1 byte (K <= 2^8), 2 bytes (K <= 2^16), 4 bytes (K <= 2^32), low byte first; under additive noise the
                 value as an 8-byte double, low byte first; then zero bytes until the length is 12 modulo 16
                 (an attribute with points, which has values between its codes: the value as an 8-byte double, too, and
                 00 00 00 00 00 00 f8 7f for no answer; free text: its letters, 1 for the first of the alphabet, as
                 many bytes as the longest text has, zeros behind the text, ff alone for no answer)
    word(i)    = CBC(k, g || person || v || i),  i in 4 bytes, low byte first, and g = first 16 bytes of
                 SHA-256("answer|" || question || "|" || the number of blocks of v || i, in decimal)
    form       = CBC(k, f || person),  f = first 16 bytes of SHA-256("form|" || the 32 bytes of the forms' fingerprint)

A longitudinal channel asks twice. The hash function is word(0) modulo their number, with no v and with SHA-256(question
|| "hash") for the question. The permanent answer is drawn from word(0) for the question itself, with the class for v,
in 1 byte. What is drawn from it in each round has no key.

An attribute with points is rounded first. With p = (x - low) / (high - low) (points - 1) in doubles, computed in this
order, and i = the smaller of floor(p) and points - 2, its code is i + 1 if word(2^31 + j) < floor((p - i) 2^63), and
else i; j is its place in the group, from 0. So the whole answer, rounding and all, is a function of the true value: the
same person with the same value repeats it, and the words of another value, however near, are independent of these.

Where records answer forms, the form is the first one whose weight, added to the weights before it, exceeds the word of
``form``, weights in 2^-63 parts. It does not depend on any value: a person always gets the same form.

The 63-bit word is the first 8 bytes, low byte first, shifted right by one bit. The question is the SHA-256 that
``sfumato.question`` describes. CBC as a message code is a pseudo-random function as long as no message begins
with another one; h, g and f fix the length of what follows, so none does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from sfumato.arrays import Bytes, Words
from sfumato.randomness import BITS
from sfumato.secrets.keys import answer_secret, subkey

BLOCK = 16
ROUNDING = 1 << 31  # the number of the word that rounds a group's first attribute; the channel's own begin at 0
_ROOM = 12  # bytes of the last block that the true value may use; the number of the draw takes the others


class Chain:
    """The chain of cipher blocks for a whole column of messages at once: one AES call for 16 bytes of every message."""

    def __init__(self, key: bytes) -> None:
        # ECB is the bare block cipher; the chaining is ours.
        self._aes = Cipher(algorithms.AES256(key), modes.ECB()).encryptor()

    def start(self, head: bytes) -> Bytes:
        """The state after a first block that all messages share."""
        return np.frombuffer(self._aes.update(hashlib.sha256(head).digest()[:BLOCK]), dtype=np.uint8)

    def step(self, state: Bytes, blocks: Bytes) -> Bytes:
        """The state after one more block of each message."""
        given = np.bitwise_xor(state.view(np.uint64), blocks.view(np.uint64))
        room = np.empty(8 * given.size + BLOCK - 1, dtype=np.uint8)  # the library asks for one block of slack
        self._aes.update_into(given.reshape(-1).view(np.uint8).data, room.data)
        return room[: 8 * given.size].reshape(-1, BLOCK)

    def texts(self, head: str, ids: NDArray[np.bytes_]) -> Bytes:
        """16 bytes for each text; ``ids`` are padded with zero bytes and end in another one."""
        out = np.empty((len(ids), BLOCK), dtype=np.uint8)
        width = max(-(-ids.dtype.itemsize // BLOCK), 1)
        text = np.zeros((len(ids), width * BLOCK), dtype=np.uint8)
        text[:, : ids.dtype.itemsize] = ids.view(np.uint8).reshape(len(ids), ids.dtype.itemsize)
        blocks = np.ones(len(ids), dtype=np.int64)
        for place in range(1, width):
            blocks[text[:, place * BLOCK : (place + 1) * BLOCK].any(axis=1)] = place + 1
        for count in np.flatnonzero(np.bincount(blocks)).tolist():
            chosen = slice(None) if width == 1 else np.flatnonzero(blocks == count)
            own = text[chosen]
            state = self.start(f"{head}|{count}".encode())
            for place in range(count):
                state = self.step(state, np.ascontiguousarray(own[:, place * BLOCK : (place + 1) * BLOCK]))
            out[chosen] = state
        return out


class KeyedSource:
    """Words under one key of 32 bytes, as a function of question, person and true value."""

    def __init__(self, key: bytes) -> None:
        self._chain = Chain(key)

    @classmethod
    def of_answers(cls, key: bytes) -> KeyedSource:
        """The words that an owner's key answers with."""
        return cls(subkey(answer_secret(key), "sfumato keyed answers 2"))

    def people(self, ids: NDArray[np.bytes_]) -> Bytes:
        """16 bytes that stand for each person."""
        return self._chain.texts("person", ids)

    def form_words(self, fingerprint: bytes, people: Bytes) -> Words:
        """A word of every person, which says which form is theirs."""
        return _word(self._chain.step(self._chain.start(b"form|" + fingerprint), people))

    def words(self, question: bytes, people: Bytes, truth: Sequence[NDArray[Any]]) -> Callable[[int], Words]:
        """``word(i)``: the i-th word of every person, for this question and these true values.

        ``truth`` is a column of unsigned codes for each attribute of the group, in the type that its number of values
        asks for (``code_bytes``), or of doubles.
        """
        size = sum(column.dtype.itemsize for column in truth)
        count = -(-(size + BLOCK - _ROOM) // BLOCK)
        block = np.zeros((len(people), BLOCK), dtype=np.uint8)
        state = self._chain.step(self._chain.start(b"answer|" + question + b"|" + str(count).encode()), people)
        place = 0
        for column in truth:
            every = np.ascontiguousarray(column).view(np.uint8).reshape(len(people), -1)
            for byte in range(every.shape[1]):
                if place == BLOCK:
                    state = self._chain.step(state, block)
                    block[:], place = 0, 0
                block[:, place] = every[:, byte]
                place += 1
        if place > _ROOM:
            state = self._chain.step(state, block)
            block[:] = 0

        def word(index: int) -> Words:
            block.view("<u4")[:, 3] = index
            return _word(self._chain.step(state, block))

        return word


def _word(state: Bytes) -> Words:
    out = np.ascontiguousarray(state.view("<u8")[:, 0])
    out >>= np.uint64(64 - BITS)
    return out


def code_bytes(codes: NDArray[Any], size: int) -> NDArray[Any]:
    """Codes in the 1, 2 or 4 bytes that an attribute with so many values takes in the message."""
    width = 1 if size <= 1 << 8 else 2 if size <= 1 << 16 else 4
    return np.asarray(codes).astype(f"<u{width}", copy=False)
