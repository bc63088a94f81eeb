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

from sfumato.arrays import Codes, Words
from sfumato.channels.arguments import bound, whole
from sfumato.channels.base import DENSE_LIMIT, Channel
from sfumato.channels.lookup import code_type
from sfumato.channels.odds import SetChannel, levels, odds, position, read_fraction
from sfumato.channels.ratios import as_float
from sfumato.channels.window_sums import WindowInverse, WindowSums
from sfumato.channels.window_widths import widths_for
from sfumato.errors import ChannelError
from sfumato.input_checks import check_flags
from sfumato.randomness import ONE, Source
from sfumato.schema import Domain

MOST_VALUES = 1 << 16
MOST_PARTS = 2_000_000  # of a mix
_LISTED = 1 << 18


@dataclass(frozen=True, eq=False, repr=False)
class Windows(SetChannel):
    r"""Choose one of L scales, then report a window of that scale's width, gamma times as likely when it holds x.

        P[x, (l, a)] = s_l (gamma if a <= x < a + w_l else 1) / (gamma w_l + k - 1),    a = -(w_l - 1) .. k - 1

    s_l is 1 / L, or in proportion to ``mix``. Wide windows tell the shape, narrow ones the detail. The widths are
    chosen for what will be estimated, see ``widths_for``: 1, 2, 4, ... for unbiased shares and running shares of few
    values; for many values, whose distribution is smoothed anyway, two around the one of the square wave.
    ``window_sums`` needs no matrix.

    Where answers may be missing, "no answer" is input k and one more output, which lies in no window:

        P[x, none] = t,    P[none, none] = gamma t,    P[none, (l, a)] = (1 - t) s_l / (gamma w_l + k - 1)

    The windows of the others shrink by 1 - t; t = (1 - f) / (gamma - f) makes the rows sum to 1, where f is the mean
    over the scales of (k + w_l - 1) / (k - 1 + gamma w_l).

    >>> windows(8, gamma=3).gamma, windows(8, gamma=3, nullable=True).sizes
    (3.0, (9,))
    """

    widths: tuple[int, ...]
    nullable: bool = False
    mix: tuple[int, ...] = ()

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

    @property
    def matrix_cells(self) -> int:
        return self.k * self.m if self._listed else self.m

    @property
    def _listed(self) -> bool:
        """Whether a table of the matrix samples faster than arithmetic."""
        return self.k * self.m <= _LISTED

    @cached_property
    def weights(self) -> Words:
        if self.k * self.m > DENSE_LIMIT:
            raise ChannelError(f"{self} has no list of its weights: {self.k} x {self.m} are too many")
        x = np.arange(self.values)[:, None]
        scales = []
        for width, share in zip(self.widths, self._shares, strict=True):
            offset = x - np.arange(1 - width, self.values)[None, :]
            scales.append(odds((offset >= 0) & (offset < width), share, self.bound))
        answered = np.concatenate(scales, axis=1)
        if not self.nullable:
            return answered
        missing = answered.min(axis=0)  # outside every window
        whole = np.vstack((answered, missing))
        none = np.append(np.full(self.values, self._none, dtype=np.uint64), np.uint64(self._kept_none))
        return np.column_stack((whole, none))

    @cached_property
    def _levels(self) -> list[tuple[int, int, int]]:
        """Of each scale: the weight of a window outside, of one inside, and how many of these get one part more."""
        return [
            levels(width, self.values + width - 1, share, self.bound)
            for width, share in zip(self.widths, self._shares, strict=True)
        ]

    @cached_property
    def common(self) -> Fraction:
        """The sum over the outputs of their least weight."""
        least = sum(self._of_nobody) + (min(self._none, self._kept_none) if self.nullable else 0)
        return Fraction(least, ONE)

    @cached_property
    def _of_nobody(self) -> list[int]:
        """Of each scale the sum of the least weights: all outside, but for the one window that holds every value."""
        k = self.values
        return [
            low * (k + width - 1) + (high - low) * (width == k)
            for width, (low, high, _) in zip(self.widths, self._levels, strict=True)
        ]

    @property
    def _kept_none(self) -> int:
        """The weight of "no answer" for itself: at most gamma t, since the low weights are rounded up."""
        return ONE - sum(self._of_nobody)

    @cached_property
    def transition(self) -> WindowSums:
        inside = [  # the parts that do not divide evenly are spread
            Fraction(share - (self.values - 1) * low, width * ONE)
            for width, share, (low, _, _) in zip(self.widths, self._shares, self._levels, strict=True)
        ]
        none = (self._none / ONE, self._kept_none / ONE) if self.nullable else None
        outside = tuple(low / ONE for low, _, _ in self._levels)
        return WindowSums(self.values, self.widths, outside, tuple(map(float, inside)), none)

    @cached_property
    def inverse(self) -> WindowInverse:
        return WindowInverse(self.transition)

    @property
    def invertible(self) -> bool:
        """Always: the windows of one width are a product of polynomials, of which one is known."""
        return True

    def draw(self, codes: Codes, draws: Words) -> Codes:
        if self._listed:
            return super().draw(codes, draws)
        out = np.empty(len(codes), dtype=code_type(self.m))
        missing = codes == self.values
        shares = np.cumsum([0, *self._shares], dtype=np.uint64)
        nobody = np.cumsum([0, *self._of_nobody], dtype=np.uint64)
        for here, cuts in ((~missing, shares), (missing, nobody)):
            rows = np.flatnonzero(here)
            scale = np.searchsorted(cuts, draws[rows], side="right") - 1
            out[rows[scale == len(self.widths)]] = self.m - 1
            first = 0
            for number, width in enumerate(self.widths):
                own = rows[scale == number]
                place = self._place(number, codes[own], draws[own] - cuts[number], cuts is nobody)
                out[own] = place + np.uint64(first)
                first += self.values + width - 1
        return out

    def _place(self, number: int, codes: Codes, u: Words, missing: bool) -> Words:
        """Which window of a scale: the inverse of the cumulative weights, which are low, then high, then low again."""
        low, high, spare = self._levels[number]
        width = self.widths[number]
        start = codes.astype(np.uint64)
        if missing:
            start = np.full(len(codes), self.values - 1, dtype=np.uint64)
            width, spare = int(width == self.values), 0
        before = start * np.uint64(low)
        inside = np.uint64(width * high + spare)
        after = np.maximum(u, before + inside) - inside  # as if the windows inside were not there
        out = np.where(u < before, u, after) // np.uint64(low)
        out[u >= before + inside] += np.uint64(width)
        held = np.flatnonzero((u >= before) & (u < before + inside))
        out[held] = start[held] + position(u[held] - before[held], high, np.uint64(spare))
        return np.asarray(out)

    def sample(self, codes: Codes, src: Source) -> Codes:
        return super().sample(codes, src) if self._listed else self.sample_in_blocks(codes, src)

    @cached_property
    def _none(self) -> int:
        """t in parts of 2^-63, rounded up."""
        k = self.values
        held = [Fraction(k + w - 1) / (k - 1 + self.bound * w) for w in self.widths]
        f = sum(Fraction(part, sum(self._parts)) * of for part, of in zip(self._parts, held, strict=True))
        return math.ceil(ONE * (1 - f) / (self.bound - f))

    def bind(self, domains: Sequence[Domain]) -> Channel:
        if len(domains) == 1 and domains[0].nullable and domains[0].size == self.values + 1 and not self.nullable:
            raise ChannelError(f"{self} has no place for missing answers: use windows(..., nullable=True)")
        return super().bind(domains)

    @property
    def _parts(self) -> tuple[int, ...]:
        """How often each scale is drawn."""
        return self.mix or (1,) * len(self.widths)

    @property
    def _shares(self) -> list[int]:
        """The weight of each scale, of those who answer."""
        whole = ONE - (self._none if self.nullable else 0)
        shares = [whole * part // sum(self._parts) for part in self._parts]
        shares[0] += whole - sum(shares)
        return shares

    @cached_property
    def exact_gamma(self) -> Fraction:
        worst = max(Fraction(high + (spare > 0), low) for low, high, spare in self._levels)
        if not self.nullable:
            return worst
        return max(worst, Fraction(max(self._none, self._kept_none), min(self._none, self._kept_none)))

    def exact_gammas(self) -> list[Fraction]:  # type: ignore[override]
        out: list[Fraction] = []
        k = self.values
        for width, (low, high, spare) in zip(self.widths, self._levels, strict=True):
            for place in range(k + width - 1):
                most = high + (spare >= max(1, place - k + 2))
                out.append(Fraction(most, high if width == k and place == k - 1 else low))
        if self.nullable:
            out.append(Fraction(max(self._none, self._kept_none), min(self._none, self._kept_none)))
        return out

    def parameters(self) -> dict[str, Any]:
        plain = {"values": self.values, "gamma": str(self.bound), "widths": list(self.widths)}
        mixed = {"mix": list(self.mix)} if self.mix else {}
        return plain | mixed | ({"nullable": True} if self.nullable else {})

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Windows:
        widths = tuple(int(width) for width in parameters["widths"][:65])
        nullable = parameters.get("nullable", False)
        if not isinstance(nullable, bool):
            raise ChannelError(f"nullable must be true or false, got {str(nullable)[:40]!r} instead")
        mix = tuple(int(part) for part in parameters.get("mix", ())[:65])
        return _checked(int(parameters["values"]), read_fraction(parameters["gamma"]), widths, nullable, mix)

    @property
    def as_chosen(self) -> bool:
        """Whether the widths are those that are taken where none are given."""
        return (self.widths, self.mix) == widths_for(self.values, float(self.bound))

    def __str__(self) -> str:
        mix = f", mix={list(self.mix)}" if self.mix else ""
        widths = "" if self.as_chosen else f", widths={list(self.widths)}{mix}"
        nullable = ", nullable=True" if self.nullable else ""
        return f"windows({self.values}, gamma={as_float(self.bound):.6g}{widths}{nullable})"


def windows(
    k: int,
    gamma: float,
    widths: Sequence[int] | None = None,
    nullable: bool = False,
    mix: Sequence[int] | None = None,
) -> Windows:
    """Windows over k ordered values (and "no answer", if nullable), under a bound on gamma.

    ``widths`` are chosen if they are not given: see ``widths_for``. ``mix`` says in which proportion they are drawn;
    without it those that are given are drawn equally often.
    """
    k, gamma = whole("k", k, 2), bound(gamma)
    check_flags(ChannelError, nullable=nullable)
    if widths is None:
        if mix is not None:
            raise ChannelError("mix is the proportion of the widths: give widths, too")
        chosen, often = widths_for(k, gamma)
    else:
        chosen, often = _whole_numbers("widths", widths), _whole_numbers("mix", () if mix is None else mix)
    return _checked(k, Fraction(gamma), chosen, bool(nullable), often)


def _whole_numbers(name: str, given: Sequence[int]) -> tuple[int, ...]:
    if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str):
        raise ChannelError(f"{name} must be a list of whole numbers, got {given!r:.40} instead")
    return tuple(whole(name, one, 1) for one in given)


def _checked(k: int, gamma: Fraction, widths: tuple[int, ...], nullable: bool, mix: tuple[int, ...]) -> Windows:
    if k > MOST_VALUES:
        raise ChannelError(f"windows take at most {MOST_VALUES} values, got {k}: use fewer, wider bins")
    if not 1 <= len(widths) <= 64 or min(widths) < 1 or max(widths) > k or len(set(widths)) < len(widths):
        raise ChannelError(f"widths must be distinct and lie in [1, {k}], got {list(widths)[:8]} instead")
    if mix and (len(mix) != len(widths) or min(mix) < 1 or max(mix) > MOST_PARTS):
        raise ChannelError(
            f"mix must be a whole number from 1 to {MOST_PARTS:,} for each of the {len(widths)} widths, got "
            f"{list(mix)[:8]} instead"
        )
    return Windows(k, gamma, widths, nullable, mix).verified(gamma)
