"""Exact sampling from an integer matrix, at one or two random bytes a record.

A draw is a 63-bit integer u, and record x becomes the first output y whose cumulative weight exceeds u. The leading
byte of u alone settles almost every record: a table of 256 entries per input holds the answer wherever all u with that
leading byte agree. The few that straddle a threshold get their remaining bits and an exact integer comparison. The
result is the distribution of the integer matrix itself, bit for bit, and about 8 random bits a record instead of 63.
Where the outputs are many, twelve or sixteen leading bits take the byte's place.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Codes, Words
from sfumato.randomness import BITS, Source

Places = NDArray[np.int32]

_BLOCK = 1 << 17  # records treated at a time: their bytes and codes stay in the processor's cache
_FEW_OUTPUTS = 64  # one leading byte leaves a quarter of the records open at most
_MANY_OUTPUTS = 256  # twelve bits would leave more than a sixteenth of them open
_CACHED_CELLS = 1 << 21
_WORTH_COMPILING = 1 << 20  # below this many records, loading numba takes longer than it saves


def code_type(size: int) -> np.dtype[Any]:
    """The smallest unsigned integer type that holds the codes 0 .. size - 1.

    >>> code_type(256), code_type(257)
    (dtype('uint8'), dtype('uint16'))
    """
    return np.min_scalar_type(max(size - 1, 0))


def _leading_bits(inputs: int, outputs: int) -> int:
    """How many leading bits settle almost every record, in a table that stays in the processor's cache."""
    if outputs <= _FEW_OUTPUTS:
        return 8
    return 16 if outputs > _MANY_OUTPUTS and inputs << 16 <= _CACHED_CELLS else 12


class Lookup:
    """The sampler of one integer matrix of weights, K inputs by M outputs, each row summing to 2^63."""

    def __init__(self, weights: Words) -> None:
        inputs, outputs = weights.shape
        self.upper = np.cumsum(weights, axis=1, dtype=np.uint64)
        self.outputs = outputs
        self.bits = _leading_bits(inputs, outputs)
        shift, cells = np.uint64(BITS - self.bits), 1 << self.bits
        table = np.empty((inputs, cells), dtype=code_type(outputs + 1))
        for x, upper in enumerate(self.upper):
            # how many thresholds lie at or below the first draw of a cell, and below the first draw of the next
            floor = (upper >> shift).astype(np.int64)
            ceiling = floor + ((floor.astype(np.uint64) << shift) != upper)
            low, high = (np.cumsum(np.bincount(at, minlength=cells)[:cells]) for at in (ceiling, floor))
            table[x] = np.where(low == high, low, outputs)
        self._table = table.reshape(-1)

    def exact(self, codes: Codes, draws: Words) -> Codes:
        """The output for each (input, 63-bit draw), by bisection on the cumulative weights."""
        return _bisect(self.upper, codes, draws).astype(code_type(self.outputs))

    def sample(self, codes: Codes, source: Source) -> Codes:
        """One output per input code."""
        out = np.empty(len(codes), dtype=self._table.dtype)
        worth = len(codes) >= _WORTH_COMPILING or (len(codes) >= _BLOCK and "numba" in sys.modules)
        gather, settle = (worth and _compiled()) or (_gather, _settle)
        wide = self.bits > 8
        buffer = np.empty(min(_BLOCK, len(codes)) * (1 + wide), dtype=np.uint8)
        places = np.empty(min(_BLOCK, len(codes)), dtype=np.int32)
        for start in range(0, len(codes), _BLOCK):
            block, found = codes[start : start + _BLOCK], out[start : start + _BLOCK]
            raw = buffer[: len(block) * (1 + wide)]
            source.fill(raw)
            leading = raw.view(np.uint16) >> np.uint16(16 - self.bits) if wide else raw
            unsettled = gather(self._table, block, leading, self.bits, self.outputs, found, places)
            if len(unsettled):
                rest = np.empty(len(unsettled), dtype=np.uint64)
                source.fill(rest.view(np.uint8))
                settle(self.upper, block, leading, unsettled, rest, np.uint64(BITS - self.bits), found)
        return out.astype(code_type(self.outputs), copy=False)


def _gather(
    table: Codes, codes: Codes, leading: NDArray[Any], bits: int, undecided: int, out: Codes, _: Places
) -> Places:
    """Write what the leading bits settle into ``out``; return where they do not."""
    index: NDArray[np.unsignedinteger[Any]] = codes.astype(np.uint16 if len(table) <= 1 << 16 else np.uint32)
    index <<= bits
    index |= leading
    table.take(index, out=out, mode="clip")
    return np.flatnonzero(out == undecided).astype(np.int32)


def _settle(
    upper: Words,
    codes: Codes,
    leading: NDArray[Any],
    where: Places,
    rest: Words,
    shift: np.uint64,
    out: Codes,
) -> None:
    """Complete the draws of the records that the leading bits left open, and compare exactly."""
    rest &= (np.uint64(1) << shift) - np.uint64(1)
    rest |= leading[where].astype(np.uint64) << shift
    out[where] = _bisect(upper, codes[where], rest)


def _bisect(upper: Words, codes: Codes, draws: Words) -> NDArray[np.int64]:
    outputs = upper.shape[1]
    rows = codes.astype(np.int64) * outputs
    flat = upper.reshape(-1)
    low = np.zeros(len(rows), dtype=np.int64)
    high = np.full(len(rows), outputs - 1, dtype=np.int64)
    for _ in range(int(outputs - 1).bit_length()):
        middle = (low + high) >> 1
        beyond = flat[rows + middle] <= draws
        low = np.where(beyond, np.minimum(middle + 1, high), low)
        high = np.where(beyond, high, middle)
    return low


@cache
def _compiled() -> tuple[Callable[..., Places], Callable[..., None]] | None:
    """The same two passes fused by numba, when it is installed."""
    try:
        import numba
    except ImportError:
        return None

    @numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
    def gather(
        table: Codes, codes: Codes, leading: NDArray[Any], bits: int, undecided: int, out: Codes, left: Places
    ) -> Places:
        count = 0
        for i in range(len(codes)):
            y = table[(np.int64(codes[i]) << bits) | np.int64(leading[i])]
            out[i] = y
            left[count] = i  # kept only where the count moves on: no branch to mispredict
            count += y == undecided
        return left[:count]

    @numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
    def settle(
        upper: Words,
        codes: Codes,
        leading: NDArray[Any],
        where: Places,
        rest: Words,
        shift: np.uint64,
        out: Codes,
    ) -> None:
        mask = (np.uint64(1) << shift) - np.uint64(1)
        for j in range(len(where)):
            i = where[j]
            draw = (np.uint64(leading[i]) << shift) | (rest[j] & mask)
            x = codes[i]
            low, size = np.uint64(0), upper.shape[1]
            if size <= 64:  # counting in vector registers beats bisection, whose branches the processor cannot guess
                for y in range(size - 1):
                    low += np.uint64(upper[x, y] <= draw)
            else:
                low = np.uint64(np.searchsorted(upper[x], draw, side="right"))
            out[i] = low

    return gather, settle
