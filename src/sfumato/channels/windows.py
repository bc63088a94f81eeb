"""Multi-scale windows: for ordered values, report a stretch of values that holds the true one with odds gamma."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Words
from sfumato.channels.arguments import bound, whole
from sfumato.channels.base import Channel
from sfumato.channels.odds import SetChannel, levels, odds, read_fraction
from sfumato.channels.ratios import as_float
from sfumato.errors import ChannelError
from sfumato.randomness import ONE
from sfumato.schema import Domain


@dataclass(frozen=True, eq=False, repr=False)
class Windows(SetChannel):
    r"""Choose one of L scales, then report a window of that scale's width, gamma times as likely when it holds x.

        P[x, (l, a)] = (1 / L) (gamma if a <= x < a + w_l else 1) / (gamma w_l + k - 1),    a = -(w_l - 1) .. k - 1

    with widths w_l = 1, 2, 4, ...: wide windows tell the shape, narrow ones the detail, so that the whole distribution
    function is estimated well.

    Where answers may be missing, "no answer" is input k and one more output, which lies in no window:

        P[x, none] = t,    P[none, none] = gamma t,    P[none, (l, a)] = (1 - t) / L / (gamma w_l + k - 1)

    The windows of the others shrink by 1 - t; t = (1 - f) / (gamma - f) makes the rows sum to 1, where f is the mean
    over the scales of (k + w_l - 1) / (k - 1 + gamma w_l).

    >>> windows(8, gamma=3).gamma, windows(8, gamma=3, nullable=True).sizes
    (3.0, (9,))
    """

    widths: tuple[int, ...]
    nullable: bool = False

    kind = "windows"

    @property
    def sizes(self) -> tuple[int, ...]:
        return (self.values + self.nullable,)

    @property
    def outputs(self) -> tuple[int, ...]:
        return (sum(self.values + width - 1 for width in self.widths) + self.nullable,)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """(start, width) of every window that can be released, in the order of the codes; "no answer" comes after."""
        return np.array([(a, w) for w in self.widths for a in range(1 - w, self.values)], dtype=np.int64)

    @cached_property
    def weights(self) -> Words:
        x = np.arange(self.values)[:, None]
        scales = []
        for width, share in zip(self.widths, self._shares, strict=True):
            offset = x - np.arange(1 - width, self.values)[None, :]
            scales.append(odds((offset >= 0) & (offset < width), share, self.bound))
        answered = np.concatenate(scales, axis=1)
        if not self.nullable:
            return answered
        missing = answered.min(axis=0)  # outside every window
        rest = np.uint64(ONE - int(missing.sum()))  # at most gamma t, since the low weights are rounded up
        whole = np.vstack((answered, missing))
        return np.column_stack((whole, np.append(np.full(self.values, self._none, dtype=np.uint64), rest)))

    @cached_property
    def _none(self) -> int:
        """t in parts of 2^-63, rounded up."""
        k = self.values
        f = sum(Fraction(k + w - 1) / (k - 1 + self.bound * w) for w in self.widths) / len(self.widths)
        return math.ceil(ONE * (1 - f) / (self.bound - f))

    def bind(self, domains: Sequence[Domain]) -> Channel:
        if len(domains) == 1 and domains[0].nullable and domains[0].size == self.values + 1 and not self.nullable:
            raise ChannelError(f"{self} has no place for missing answers: use windows(..., nullable=True)")
        return super().bind(domains)

    @property
    def _shares(self) -> list[int]:
        """The weight of each scale, of those who answer."""
        whole = ONE - (self._none if self.nullable else 0)
        shares = [whole // len(self.widths)] * len(self.widths)
        shares[0] += whole - sum(shares)
        return shares

    @cached_property
    def exact_gamma(self) -> Fraction:
        k, worst, rest = self.values, Fraction(1), ONE
        for width, share in zip(self.widths, self._shares, strict=True):
            low, high, spare = levels(width, k + width - 1, share, self.bound)
            worst = max(worst, Fraction(high + (spare > 0), low))
            rest -= low * (k + width - 1) + (high - low) * (width == k)  # one window of width k holds every value
        if not self.nullable:
            return worst
        return max(worst, Fraction(max(rest, self._none), min(rest, self._none)))

    def parameters(self) -> dict[str, Any]:
        plain = {"values": self.values, "gamma": str(self.bound), "widths": list(self.widths)}
        return plain | {"nullable": True} if self.nullable else plain

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Windows:
        widths = tuple(int(width) for width in parameters["widths"][:65])
        nullable = parameters.get("nullable", False)
        if not isinstance(nullable, bool):
            raise ChannelError(f"nullable must be true or false, got {str(nullable)[:40]!r} instead")
        return _checked(int(parameters["values"]), read_fraction(parameters["gamma"]), widths, nullable)

    def __str__(self) -> str:
        return f"windows({self.values}, gamma={as_float(self.bound):.6g}{', nullable=True' if self.nullable else ''})"


def windows(k: int, gamma: float, nullable: bool = False) -> Windows:
    """Windows of widths 1, 2, 4, ... over k ordered values (and "no answer", if nullable), under a bound on gamma."""
    k, gamma = whole("k", k, 2), bound(gamma)
    return _checked(k, Fraction(gamma), tuple(1 << i for i in range(max(1, (k - 1).bit_length()))), bool(nullable))


def _checked(k: int, gamma: Fraction, widths: tuple[int, ...], nullable: bool) -> Windows:
    if not 1 <= len(widths) <= 64 or min(widths) < 1 or max(widths) > k or len(set(widths)) < len(widths):
        raise ChannelError(f"widths must be distinct and lie in [1, {k}], got {list(widths)[:8]} instead")
    if k * sum(k + w - 1 for w in widths) > 1 << 25:
        raise ChannelError(f"windows over {k} values would need too large a matrix: use fewer, wider bins")
    return Windows(k, gamma, widths, nullable).verified(gamma)
