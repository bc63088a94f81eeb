"""Finite fields: whole numbers modulo a prime, and the field of four elements, which no prime gives.

The best order is near gamma + 1. Between 3 and 5 there is a gap that costs two parts in a hundred at gamma = 3; the
field of four closes it. Powers of primes further up would gain less.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array, Words

Elements = NDArray[Any]  # numbers 0 .. q - 1


class Field(Protocol):
    """What a projective space asks of its field of q elements."""

    @property
    def q(self) -> int: ...

    @property
    def frequencies(self) -> int:
        """How many multiples of a frequency settle its line."""

    def times(self, factor: int) -> NDArray[np.int64]:
        """The products of all elements with one."""

    def add_product(self, total: Words, left: Words, right: Words) -> Words:
        """total + left right, still to be reduced."""

    def opposite(self, total: Words) -> Words:
        """The element that gives 0 when it is added to a total."""

    def vanishing(self, left: Elements, right: Elements) -> NDArray[np.bool_]:
        """Where the inner products of rows with rows are 0."""

    def spectrum(self, values: Array, digits: int) -> NDArray[Any]:
        """The Fourier transform of values that are numbered by digits."""

    def from_line(self, line: NDArray[Any]) -> Array:
        """Sums over the elements t with <a, y> = -t, from the spectrum at the multiples of a: a row for each a."""


@dataclass(frozen=True)
class PrimeField:
    """Whole numbers modulo q."""

    q: int

    @property
    def frequencies(self) -> int:
        return self.q // 2 + 1  # the others are conjugates

    def times(self, factor: int) -> NDArray[np.int64]:
        return np.arange(self.q, dtype=np.int64) * factor % self.q

    def add_product(self, total: Words, left: Words, right: Words) -> Words:
        return np.asarray(total + left * right)

    def opposite(self, total: Words) -> Words:
        q = np.uint64(self.q)
        return np.asarray((q - total % q) % q)

    def vanishing(self, left: Elements, right: Elements) -> NDArray[np.bool_]:
        product = left.astype(np.float64) @ right.T.astype(np.float64)
        return np.asarray(product % self.q == 0)  # whole numbers below 2^53

    def spectrum(self, values: Array, digits: int) -> NDArray[Any]:
        from scipy import fft

        return np.asarray(fft.rfftn(values.reshape((self.q,) * digits)))

    def from_line(self, line: NDArray[Any]) -> Array:
        from scipy import fft

        np.conjugate(line, out=line)
        return np.asarray(fft.irfft(line, self.q, axis=0, overwrite_x=True).T)


@dataclass(frozen=True)
class FieldOfFour:
    """0, 1, a and a + 1 with a² = a + 1, numbered by their two bits. To add is to compare bits, and -t is t.

    >>> FieldOfFour().times(2)
    array([0, 2, 3, 1])
    """

    q: int = 4

    @property
    def frequencies(self) -> int:
        return 4

    def times(self, factor: int) -> NDArray[np.int64]:
        return np.asarray(_PRODUCTS[factor])

    def add_product(self, total: Words, left: Words, right: Words) -> Words:
        return np.asarray(total ^ _LISTED.take(((left << np.uint64(2)) | right).view(np.int64)))

    def opposite(self, total: Words) -> Words:
        return total

    def vanishing(self, left: Elements, right: Elements) -> NDArray[np.bool_]:
        found = np.ones((len(left), len(right)), dtype=np.bool_)
        for factor in (1, 2):  # an element is 0 where neither it nor its double has a trace
            traces = _trace_bits(_PRODUCTS[factor, left]).astype(np.float64) @ _bits(right).T.astype(np.float64)
            found &= traces % 2 == 0
        return found

    def spectrum(self, values: Array, digits: int) -> NDArray[Any]:
        found = np.asarray(values, dtype=np.float64).reshape(-1)
        for _ in range(digits):  # the first digit moves to the end each time
            found = (found.reshape(4, -1).T @ _CHARACTERS).reshape(-1)
        return found.reshape((4,) * digits)

    def from_line(self, line: NDArray[Any]) -> Array:
        return np.asarray(line.T @ _CHARACTERS) / 4


_PRODUCTS = np.array([[0, 0, 0, 0], [0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2]], dtype=np.int64)
_LISTED = _PRODUCTS.reshape(-1).astype(np.uint64)
#: (-1) to the trace of a product; the trace of an element is its higher bit.
_CHARACTERS = 1.0 - 2.0 * (_PRODUCTS >> 1)


def _bits(elements: Elements) -> Elements:
    return np.concatenate((elements & 1, elements >> 1), axis=1)


def _trace_bits(elements: Elements) -> Elements:
    """Bits whose product with the bits of another element is, modulo 2, the trace of their product."""
    low, high = elements & 1, elements >> 1
    return np.concatenate((high, low ^ high), axis=1)


def field(q: int) -> Field:
    """The field of q elements."""
    return FieldOfFour() if q == 4 else PrimeField(q)


@lru_cache(maxsize=1 << 12)
def is_prime(q: int) -> bool:
    return q >= 2 and all(q % divisor for divisor in range(2, math.isqrt(q) + 1))


def is_order(q: int) -> bool:
    """Whether there is a field of q elements here."""
    return q == 4 or is_prime(q)
