"""A uniformly random order of rows, from a source of random bytes.

Without numba the rows are sorted by random words, whose low bits give way to the number of the row: to sort integers
and read their low bits is several times as fast as to sort rows by a key. With numba it is the shuffle of Fisher and
Yates, about ten times as fast again, with exact whole numbers below a bound (Lemire 2019). Rows of a few bytes are
swapped themselves, which stay in the processor's cache, and not their numbers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.randomness import SecureSource, Source

Order = NDArray[np.int64]

_WORTH_COMPILING = 1 << 20  # below this many rows, loading numba takes longer than it saves
_SPARE = 64  # words in reserve for draws that are refused, which one in 2^32 / n is
_MOST = 1 << 31


def random_order(n: int, src: Source, more: bool = False) -> Order:
    """The rows 0 .. n - 1 in a random order; ``more`` says that others will be asked for.

    A source that is not the secure one gives the same order with and without numba, so that experiments repeat.
    """
    order = np.arange(n)
    return order if _swapped(order, src, more) else _sorted(n, src)


def shuffled(values: NDArray[Any], src: Source, more: bool = False) -> NDArray[Any]:
    """The values in a random order."""
    found = values.copy()
    return found if _swapped(found, src, more) else values.take(_sorted(len(values), src))


def sorted_order(words: NDArray[np.uint64]) -> tuple[Order, Order]:
    """The order that sorts the words by their high bits, and the places in it where these do not tell rows apart.

    Two million rows are told apart by 43 bits, the rows of a bucket by 47 or more.
    """
    low = np.uint64((1 << max(len(words) - 1, 0).bit_length()) - 1)
    packed = (words & ~low) | np.arange(len(words), dtype=np.uint64)
    packed.sort()
    alike = (packed[1:] ^ packed[:-1]) <= low
    places = np.flatnonzero(np.append(alike, False) | np.append(False, alike)) if alike.any() else np.flatnonzero(alike)
    packed &= low
    return packed.view(np.int64), places


def _sorted(n: int, src: Source) -> Order:
    first = random_numbers(n, np.uint64, src)
    order, alike = sorted_order(first)
    if len(alike):
        rows = order[alike]
        order[alike] = rows[np.lexsort((random_numbers(len(rows), np.uint64, src), first[rows]))]
    return order


def _swapped(values: NDArray[Any], src: Source, more: bool) -> bool:
    """Shuffle the values in place, if numba is there and worth its loading."""
    n = len(values)
    worth = more or n >= _WORTH_COMPILING or "numba" in sys.modules
    shuffle = _compiled() if worth and n < _MOST and isinstance(src, SecureSource) else None
    if shuffle is None:
        return False
    left = n - 1
    while left > 0:  # once; again only where more draws were refused than are in reserve
        left = shuffle(values, random_numbers(left + _SPARE, np.uint32, src), left)
    return True


def random_numbers(n: int, kind: type[np.unsignedinteger[Any]], src: Source) -> NDArray[Any]:
    """Unsigned integers of one kind, all equally likely."""
    out = np.empty(n, dtype=kind)
    src.fill(out.view(np.uint8))
    return out


@cache
def _compiled() -> Callable[..., int] | None:
    """Fisher and Yates: each place from the last gets one of the values up to it; the place it came to, 0 when done."""
    try:
        import numba
    except ImportError:
        return None

    @numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
    def shuffle(values: NDArray[Any], words: NDArray[np.uint32], left: int) -> int:
        for word in words:
            if left == 0:
                break
            bound = np.uint64(left + 1)
            product = np.uint64(word) * bound
            low = product & np.uint64(0xFFFFFFFF)
            if low < bound and low < (np.uint64(1 << 32) - bound) % bound:
                continue  # refused: some rows would be a little likelier than others
            other = np.int64(product >> np.uint64(32))
            values[left], values[other] = values[other], values[left]
            left -= 1
        return left

    compiled: Callable[..., int] = shuffle
    return compiled
