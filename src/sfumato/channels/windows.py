"""Multi-scale windows: for ordered values, report a stretch of values that holds the true one with odds gamma."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.arguments import bound, whole
from sfumato.channels.base import Channel
from sfumato.channels.odds import odds, read_fraction, worst_ratio
from sfumato.channels.ratios import as_float
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
    def releases_values(self) -> bool:
        return False

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.values,)

    @property
    def outputs(self) -> tuple[int, ...]:
        return (sum(self.values + width - 1 for width in self.widths),)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """(start, width) of every window that can be released, in the order of the released codes."""
        return np.array([(a, w) for w in self.widths for a in range(1 - w, self.values)], dtype=np.int64)

    @cached_property
    def weights(self) -> Words:
        x = np.arange(self.values)[:, None]
        scales = []
        for width, share in zip(self.widths, self._shares, strict=True):
            offset = x - np.arange(1 - width, self.values)[None, :]
            scales.append(odds((offset >= 0) & (offset < width), share, self.bound))
        return np.concatenate(scales, axis=1)

    @property
    def _shares(self) -> list[int]:
        """The weight of each scale."""
        shares = [ONE // len(self.widths)] * len(self.widths)
        shares[0] += ONE - sum(shares)
        return shares

    @cached_property
    def exact_gamma(self) -> Fraction:
        scales = zip(self.widths, self._shares, strict=True)
        return max(worst_ratio(w, self.values + w - 1, share, self.bound) for w, share in scales)

    def parameters(self) -> dict[str, Any]:
        return {"values": self.values, "gamma": str(self.bound), "widths": list(self.widths)}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Windows:
        widths = tuple(int(width) for width in parameters["widths"][:65])
        return _checked(int(parameters["values"]), read_fraction(parameters["gamma"]), widths)

    def __str__(self) -> str:
        return f"windows({self.values}, gamma={as_float(self.bound):.6g})"


def windows(k: int, gamma: float) -> Windows:
    """Windows of widths 1, 2, 4, ... over k ordered values, under a bound on gamma."""
    k, gamma = whole("k", k, 2), bound(gamma)
    return _checked(k, Fraction(gamma), tuple(1 << i for i in range(max(1, (k - 1).bit_length()))))


def _checked(k: int, gamma: Fraction, widths: tuple[int, ...]) -> Windows:
    if not 1 <= len(widths) <= 64 or min(widths) < 1 or max(widths) > k or len(set(widths)) < len(widths):
        raise ChannelError(f"widths must be distinct and lie in [1, {k}], got {list(widths)[:8]} instead")
    if k * sum(k + w - 1 for w in widths) > 1 << 25:
        raise ChannelError(f"windows over {k} values would need too large a matrix: use fewer, wider bins")
    return Windows(k, gamma, widths).verified(gamma)
