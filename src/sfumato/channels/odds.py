"""Integer weights for "gamma times as likely inside a set as outside it"."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Codes, Words
from sfumato.channels.arguments import check_bound
from sfumato.channels.base import Channel
from sfumato.channels.lookup import code_type
from sfumato.errors import ChannelError
from sfumato.randomness import Source, words

_BLOCK = 1 << 18  # records that are drawn together
_FRACTION = re.compile(r"\d{1,400}(/\d{1,400})?")


@dataclass(frozen=True, eq=False, repr=False)
class SetChannel(Channel):
    """Report a set of the values of one attribute, ``bound`` times as likely when it holds the true one."""

    values: int
    bound: Fraction

    @property
    def releases_values(self) -> bool:
        return False

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.values,)

    def sample_in_blocks(self, codes: Codes, src: Source) -> Codes:
        """One released set per true code by ``draw``, which needs no table; a block of records at a time."""
        out = np.empty(len(codes), dtype=code_type(self.m))
        for start in range(0, len(codes), _BLOCK):
            block = codes[start : start + _BLOCK]
            out[start : start + _BLOCK] = self.draw(block, words(src, len(block)))
        return out


def levels(count: int, outputs: int, share: int, gamma: Fraction) -> tuple[int, int, int]:
    """The weight of an entry outside, of one inside, and how many of those inside get one part more.

    The exact gamma of a channel made of such rows follows from these three, without its matrix.

    >>> levels(1, 3, 1000, Fraction(3))
    (200, 600, 0)
    """
    outside = outputs - count
    low = math.ceil(share / (gamma * count + outside))
    while True:
        high, spare = divmod(share - outside * low, count)
        if Fraction(high + (spare > 0), low) <= gamma:
            return low, high, spare
        low += 1


def worst_ratio(count: int, outputs: int, share: int, gamma: Fraction) -> Fraction:
    """The exact gamma of rows with these levels."""
    low, high, spare = levels(count, outputs, share, gamma)
    return Fraction(high + (spare > 0), low)


def odds(inside: NDArray[np.bool_], share: int, gamma: Fraction) -> Words:
    """Weights that sum to ``share`` in every row: gamma to 1 for entries inside, never more.

    Every row must have the same number inside. What does not divide evenly (less than one part an entry) goes to the
    first entries inside.
    """
    low, high, spare = levels(int(inside[0].sum()), inside.shape[1], share, gamma)
    order = np.cumsum(inside, axis=1)
    out = np.where(inside, np.uint64(high), np.uint64(low))
    return np.asarray(out + (inside & (order <= spare)).astype(np.uint64))


def position(u: Words, weight: int, more: NDArray[np.uint64] | np.uint64) -> Words:
    """Which of a row of outputs u falls on: so many of weight + 1, then others of this weight."""
    heavy = more * np.uint64(weight + 1)
    light = more + (np.maximum(u, heavy) - heavy) // np.uint64(weight)
    return np.asarray(np.where(u < heavy, u // np.uint64(weight + 1), light))


def read_fraction(text: object) -> Fraction:
    """A bound on gamma as a scheme writes it: a whole number or a quotient of two."""
    if not isinstance(text, str) or not _FRACTION.fullmatch(text):
        raise ChannelError(f"gamma must be written as a whole number or a quotient, got {str(text)[:40]!r} instead")
    top, _, bottom = text.partition("/")
    if bottom and not int(bottom):
        raise ChannelError("gamma must not be divided by zero")
    value = Fraction(int(top), int(bottom or 1))
    check_bound(value)
    return value
