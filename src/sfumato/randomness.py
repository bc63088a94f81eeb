"""Where random bits come from, and how a probability becomes an exact integer.

Two sources answer the same call, ``fill(buffer)``: the secure one (AES-256-CTR under a fresh key, the default) and a
numpy generator for experiments. Keyed answers, which repeat, are in ``sfumato.keyed``.

A probability is an integer number of 2^-63 parts: ``ONE`` parts are certainty, a draw is a uniform 63-bit integer, and
every comparison is between integers. So the matrix that is published is exactly the one that is sampled.
"""

from __future__ import annotations

import os
import threading
from fractions import Fraction
from typing import Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from sfumato.errors import SfumatoError

BITS = 63
ONE = 1 << BITS

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]


class Source(Protocol):
    """Anything that fills a byte buffer with uniform, independent random bytes."""

    def fill(self, buffer: Bytes) -> None: ...


class _Stream:
    """One key stream of one process, which threads take turns at."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.lock = threading.Lock()
        self.cipher = Cipher(algorithms.AES256(os.urandom(32)), modes.CTR(bytes(16))).encryptor()


class SecureSource:
    """AES-256 in counter mode under a key from the operating system: the default, at several GB/s.

    A process that was forked gets a key of its own: with the parent's it would draw the same bits.
    """

    def __init__(self) -> None:
        self._stream = _Stream()

    def fill(self, buffer: Bytes) -> None:
        stream = self._stream
        if stream.process != os.getpid():
            stream = self._stream = _Stream()
        buffer[:] = 0
        with stream.lock:
            stream.cipher.update_into(buffer.data, buffer.data)


class GeneratorSource:
    """A numpy generator: reproducible, not secure. For experiments and tests."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def fill(self, buffer: Bytes) -> None:
        buffer[:] = np.frombuffer(self._generator.bytes(buffer.size), dtype=np.uint8)


def experiment(seed: int) -> GeneratorSource:
    """Reproducible answers for experiments: whoever knows the seed can undo them, so never for real records."""
    return GeneratorSource(np.random.default_rng(seed))


def source(rng: np.random.Generator | Source | int | None = None) -> Source:
    """The secure source for None; otherwise the caller's own generator, seed or source."""
    if rng is None:
        return SecureSource()
    if isinstance(rng, np.random.Generator):
        return GeneratorSource(rng)
    if isinstance(rng, int | np.integer) and rng >= 0:
        return GeneratorSource(np.random.default_rng(int(rng)))
    if not isinstance(rng, int | np.integer) and callable(getattr(rng, "fill", None)):
        return rng
    raise SfumatoError(f"rng must be None (secure), a seed or a numpy Generator, got {type(rng).__name__} instead")


def words(src: Source, n: int) -> Words:
    """n uniform integers in [0, 2^63)."""
    out = np.empty(n, dtype=np.uint64)
    src.fill(out.view(np.uint8))
    out >>= np.uint64(64 - BITS)
    return out


def parts(probability: float | Fraction) -> int:
    """The probability as the nearest whole number of 2^-63 parts.

    >>> parts(0.25) == ONE // 4
    True
    """
    return round(Fraction(probability) * ONE)


def quantize(rows: NDArray[np.float64]) -> Words:
    """Rows of probabilities as integers that sum to ONE exactly; zeros stay zero, positive entries stay positive.

    >>> quantize(np.array([0.5, 0.25, 0.25])).tolist() == [ONE // 2, ONE // 4, ONE // 4]
    True
    """
    exact = np.atleast_2d(rows) * float(ONE)  # a power of two: no rounding
    whole = np.maximum(np.floor(exact), exact > 0).astype(np.uint64)
    # What is left over, by rounding down and by rows that sum to 1 only nearly, goes to the largest entry.
    largest = whole.argmax(axis=1)
    for row, place in zip(whole, largest, strict=True):
        row[place] = ONE - (int(row.sum(dtype=np.uint64)) - int(row[place]))
    return whole if rows.ndim == 2 else whole[0]
