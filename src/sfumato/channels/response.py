"""Randomized response: keep the value, or report another at random (Warner 1965; Ma 2006, section 2.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from sfumato.arrays import Codes, Words
from sfumato.channels.arguments import real, whole
from sfumato.channels.base import Channel
from sfumato.channels.codes import check_axes
from sfumato.channels.linear import UniformPlus
from sfumato.channels.lookup import code_type
from sfumato.channels.ratios import Ratio
from sfumato.channels.size_limits import count_combinations
from sfumato.errors import ChannelError
from sfumato.randomness import ONE, Source, parts, words

_LISTED = 256  # values up to which a table of the matrix samples faster than arithmetic


@dataclass(frozen=True, eq=False, repr=False)
class Symmetric(Channel):
    r"""Keep a value with probability 1 - p, otherwise report one of the others uniformly.

        P[x, y] = 1 - p  if x == y  else  p / (k - 1),        gamma = (1 - p)(k - 1) / p

    Over a group of attributes, k is the number of their combinations and a changed record changes as a whole.
    Ma (2006) section 2.1; Warner (1965) for k = 2.

    >>> Symmetric((6,), other_weight(6, 0.3)).gamma
    11.666666666666668
    """

    shape: tuple[int, ...]
    other: int  # the weight of each value other than the true one, in parts of 2^-63

    kind = "symmetric"

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.shape

    @property
    def p(self) -> float:
        """The probability of changing the value."""
        return float(Fraction(self.other * (self.k - 1), ONE))

    @property
    def weights(self) -> Words:
        out = np.full((self.k, self.k), self.other, dtype=np.uint64)
        np.fill_diagonal(out, np.uint64(self._keep))
        return out

    @property
    def _keep(self) -> int:
        return ONE - (self.k - 1) * self.other

    @cached_property
    def transition(self) -> UniformPlus:
        return UniformPlus(float(Fraction(ONE - self.k * self.other, ONE)), float(Fraction(self.other, ONE)), self.k)

    @cached_property
    def inverse(self) -> UniformPlus:
        return self.transition.inverse()

    @property
    def invertible(self) -> bool:
        return True

    @cached_property
    def exact_gamma(self) -> Ratio:
        if self.k == 1:
            return Fraction(1)
        return Fraction(self._keep, self.other) if self.other else math.inf

    def exact_gammas(self) -> list[Ratio]:
        return [self.exact_gamma] * self.k

    @property
    def matrix_cells(self) -> int:
        return self.k**2 if self.k <= _LISTED else 0

    def draw(self, codes: Codes, draws: Words) -> Codes:
        out_type = code_type(self.k)
        if not self.other:
            return codes.astype(out_type)
        other = np.uint64(self.other)
        before = codes.astype(np.uint64) * other
        low = draws < before
        high = draws >= before + np.uint64(self._keep)
        out = codes.astype(out_type)
        out[low] = (draws[low] // other).astype(out_type)
        out[high] = ((draws[high] - np.uint64(self._keep)) // other + np.uint64(1)).astype(out_type)
        return out

    def sample(self, codes: Codes, src: Source) -> Codes:
        if not self.other:
            return codes.astype(code_type(self.k))
        if self.k <= _LISTED:
            return super().sample(codes, src)
        return self.draw(codes, words(src, len(codes)))

    def marginal(self, axes: Sequence[int]) -> Symmetric:
        axes = check_axes(axes, len(self.sizes))
        kept = tuple(self.sizes[axis] for axis in axes)
        return Symmetric(kept, self.other * (self.k // prod(kept)))

    def parameters(self) -> dict[str, Any]:
        return {"sizes": list(self.sizes), "other": str(self.other)}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Symmetric:
        sizes = check_sizes(parameters["sizes"])
        other = int(parameters["other"])
        if other < 0 or (prod(sizes) * other >= ONE and prod(sizes) > 1):
            raise ChannelError(f"other must lie in [0, 2^63 / {prod(sizes)}), got {other} instead")
        return cls(sizes, other)

    def __str__(self) -> str:
        shape = " x ".join(map(str, self.sizes))
        return f"identity({shape})" if not self.other else f"symmetric({shape}, p={self.p:.6g})"


def identity(k: int | Sequence[int]) -> Symmetric:
    """Report the value itself: no privacy (gamma is infinite), for attributes that are not sensitive.

    >>> identity(3).gamma
    inf
    """
    return Symmetric(check_sizes(k), 0)


def is_identity(channel: Channel) -> bool:
    """Whether every value is released as it is."""
    if isinstance(channel, Symmetric):
        return channel.other == 0 or channel.k == 1
    small = not channel.continuous and channel.k == channel.m and channel.k <= 4096
    return small and bool((channel.matrix == np.eye(channel.k)).all())


def other_weight(k: int, p: float | None, gamma: float | None = None) -> int:
    """The integer weight of each other value, so that p is met to one part in 10^9 or gamma is never exceeded."""
    if k < 2:
        raise ChannelError(f"a channel needs at least two values to choose from, got {k} instead")
    if gamma is not None:
        if gamma == math.inf:
            return 0
        if not real("gamma", gamma) > 1:
            raise ChannelError(f"gamma must lie in (1, inf], got {gamma}: at 1 the output ignores the input")
        other = math.ceil(ONE / (Fraction(float(gamma)) + k - 1))
        exact = 1 / (Fraction(float(gamma)) + k - 1)
    else:
        change = real("p", p)
        if not 0 <= change < (1 - 1 / k) * (1 - 1e-12):  # (k - 1) / k is not exact in doubles
            raise ChannelError(f"p must lie in [0, 1 - 1/{k}), got {p}: at {k - 1}/{k} the output ignores the input")
        exact = Fraction(change) / (k - 1)
        other = parts(exact)
    if abs(Fraction(other, ONE) - exact) > exact / 10**9:
        raise ChannelError(f"{k} combinations are too many for weights of 2^-63: split the group, or change more often")
    return other


def check_sizes(k: int | Sequence[int], name: str = "k") -> tuple[int, ...]:
    """How many values each attribute has: whole numbers whose combinations can be told apart."""
    sizes = tuple(k) if isinstance(k, Sequence) and not isinstance(k, str) else (k,)
    if not sizes:
        raise ChannelError(f"{name} must be a number of values or a tuple of such numbers, got none")
    sizes = tuple(whole(name, size, 1) for size in sizes)
    count_combinations(sizes)
    return sizes
