"""Multi-scale windows: for ordered values, report a stretch of values that holds the true one with odds gamma."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.base import Channel
from sfumato.errors import ChannelError
from sfumato.randomness import ONE, Words


@dataclass(frozen=True, eq=False, repr=False)
class Windows(Channel):
    r"""Choose one of L scales, then report a window of that scale's width, gamma times as likely when it holds x.

        P[x, (l, a)] = (1 / L) (gamma if a <= x < a + w_l else 1) / (gamma w_l + k - 1),    a = -(w_l - 1) .. k - 1

    with widths w_l = 1, 2, 4, ...: wide windows tell the shape, narrow ones the detail, so that the whole distribution
    function is estimated well.

    >>> windows(8, gamma=3).gamma
    3.0
    """

    values: int
    bound: Fraction
    widths: tuple[int, ...]

    kind = "windows"

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.values,)

    @property
    def outputs(self) -> tuple[int, ...]:
        return (len(self.starts),)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """(start, width) of every window that can be released, in the order of the released codes."""
        return np.array([(a, w) for w in self.widths for a in range(1 - w, self.values)], dtype=np.int64)

    @cached_property
    def weights(self) -> Words:
        x = np.arange(self.values)[:, None]
        out = np.zeros((self.values, self.m), dtype=np.uint64)
        shares = [ONE // len(self.widths)] * len(self.widths)
        shares[0] += ONE - sum(shares)
        column = 0
        for width, share in zip(self.widths, shares, strict=True):
            low = math.ceil(share / (self.bound * width + self.values - 1))
            high, spare = divmod(share - (self.values - 1) * low, width)
            while Fraction(high + (spare > 0), low) > self.bound:
                low += 1
                high, spare = divmod(share - (self.values - 1) * low, width)
            offset = x - np.arange(1 - width, self.values)[None, :]
            inside = (offset >= 0) & (offset < width)
            # what does not divide evenly goes to the windows in which x stands first: one part of 2^-63 each
            block = np.where(inside, np.uint64(high), np.uint64(low)) + (inside & (offset < spare)).astype(np.uint64)
            out[:, column : column + block.shape[1]] = block
            column += block.shape[1]
        return out

    def parameters(self) -> dict[str, Any]:
        return {"values": self.values, "gamma": str(self.bound), "widths": list(self.widths)}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Windows:
        gamma = Fraction(parameters["gamma"])
        return _checked(int(parameters["values"]), gamma, tuple(map(int, parameters["widths"])))

    def __str__(self) -> str:
        return f"windows({self.values}, gamma={float(self.bound):.6g})"


def windows(k: int, gamma: float) -> Windows:
    """Windows of widths 1, 2, 4, ... over k ordered values, under a bound on gamma."""
    if k < 2:
        raise ChannelError(f"k must be at least 2, got {k} instead")
    if not 1 < gamma < math.inf:
        raise ChannelError(f"gamma must lie in (1, inf), got {gamma}: at 1 the output ignores the input")
    return _checked(k, Fraction(gamma), tuple(1 << i for i in range(max(1, (k - 1).bit_length()))))


def _checked(k: int, gamma: Fraction, widths: tuple[int, ...]) -> Windows:
    if not widths or min(widths) < 1 or max(widths) > k:
        raise ChannelError(f"widths must lie in [1, {k}], got {list(widths)} instead")
    if k * sum(k + w - 1 for w in widths) > 1 << 25:
        raise ChannelError(f"windows over {k} values would need too large a matrix: use fewer, wider bins")
    return Windows(k, gamma, widths).verified(gamma)
