"""Where random bits come from, how a probability becomes an exact integer, and numbers drawn from any source of bits.

Two sources answer the same call, ``fill(buffer)``: the secure one (AES-256-CTR under a fresh key, the default) and a
numpy generator for experiments. Keyed answers, which repeat, are in ``sfumato.secrets.keyed_answers``.

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

from sfumato.arrays import Array, Bytes, Index, Words
from sfumato.errors import DisclosureWarning, EstimationError, SfumatoError, warn
from sfumato.input_checks import given

BITS = 63
ONE = 1 << BITS


#: Numbers made at a time: the working buffers then stay in the processor's cache.
BLOCK = 1 << 15


class Source(Protocol):
    """Anything that fills a byte buffer with uniform, independent random bytes."""

    def fill(self, buffer: Bytes) -> None: ...


#: Where bits may come from: a source, or for experiments a generator or a seed; None is the secure source.
Rng = np.random.Generator | Source | int | None


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


def numpy_generator(rng: np.random.Generator | int | None, name: str = "rng") -> np.random.Generator:
    """The generator of draws that need not be secret: the caller's own, or one from a seed."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise EstimationError(f"{name} must be a numpy Generator or a seed, got {given(rng)} instead") from None


def experiment(seed: int) -> GeneratorSource:
    """Reproducible answers for experiments: whoever knows the seed can undo them, so never for real records."""
    return GeneratorSource(numpy_generator(seed, "seed"))


def warn_of_seed(rng: object, what: str, stacklevel: int = 3) -> None:
    """Say that whoever knows or guesses a seed can undo ``what``; ``experiment`` says that this is meant."""
    if isinstance(rng, int | np.integer | np.random.Generator):
        given = "a numpy Generator" if isinstance(rng, np.random.Generator) else "a seed"
        warn(
            f"rng={given} gives predictable {what}; leave it out for real records, and in experiments write "
            f"rng=sf.experiment(seed)",
            DisclosureWarning,
            stacklevel=stacklevel,
        )


def source(rng: Rng = None) -> Source:
    """The secure source for None; otherwise the caller's own generator, seed or source."""
    if rng is None:
        return SecureSource()
    if isinstance(rng, np.random.Generator):
        return GeneratorSource(rng)
    if isinstance(rng, int | np.integer) and rng >= 0:
        return GeneratorSource(np.random.default_rng(int(rng)))
    if not isinstance(rng, int | np.generic | np.ndarray) and callable(getattr(rng, "fill", None)):
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


def uniforms(src: Source, n: int) -> Array:
    """n numbers uniform on (0, 1), on a grid of 2^52 midpoints: neither end is ever drawn."""
    out = np.empty(n)
    word = np.empty(min(n, BLOCK), dtype=np.uint64)
    for start in range(0, n, BLOCK):
        piece = word[: min(BLOCK, n - start)]
        src.fill(piece.view(np.uint8))
        piece >>= np.uint64(12)
        np.add(piece, 0.5, out=out[start : start + len(piece)])
    out *= 2.0**-52
    return out


#: Normals reach so far, and never farther: uniforms end at 2^-105.
REACH = 12.0


def normals(src: Source, *shape: int) -> Array:
    """Standard normals of this shape, in pairs from two uniforms each (Box and Muller 1958)."""
    n = int(np.prod(shape))
    half = (n + 1) // 2
    out = np.empty((2, half))
    for start in range(0, half, BLOCK):
        size = min(BLOCK, half - start)
        radius, angle = uniforms(src, size), uniforms(src, size)
        _refine(radius, src)
        np.log(radius, out=radius)
        radius *= -2
        np.sqrt(radius, out=radius)
        angle *= 2 * np.pi
        np.cos(angle, out=out[0, start : start + size])
        np.sin(angle, out=out[1, start : start + size])
        out[:, start : start + size] *= radius
    return out.reshape(-1)[:n].reshape(shape)


def _refine(numbers: Array, src: Source) -> None:
    """Draw the least uniforms again within their cells of the grid, whose midpoint ends normals at 8.6 deviations."""
    small = np.flatnonzero(numbers < 2.0**-32)
    if small.size:
        cells = np.floor(numbers[small] * 2.0**52)
        numbers[small] = (cells + uniforms(src, small.size)) * 2.0**-52


def integers(src: Source, high: int, n: int) -> Index:
    """n integers uniform on 0 .. high - 1; the bias of the multiplication is below high / 2^52."""
    out = uniforms(src, n)
    out *= high
    drawn = out.astype(np.int64)
    return np.minimum(drawn, high - 1, out=drawn)


def permutation(src: Source, n: int) -> Index:
    """A random order of 0 .. n - 1."""
    word = np.empty(n, dtype=np.uint64)
    src.fill(word.view(np.uint8))
    return np.argsort(word, kind="stable")
