"""Randomized response: keep the value, or report another at random (Warner 1965; Ma 2006, section 2.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Codes, Words
from sfumato.channels.arguments import real, whole
from sfumato.channels.base import Channel
from sfumato.channels.codes import check_axes, join_codes
from sfumato.channels.linear import Embedded, Operator, UniformPlus
from sfumato.channels.lookup import code_type
from sfumato.channels.ratios import Ratio
from sfumato.channels.size_limits import count_combinations
from sfumato.errors import ChannelError
from sfumato.randomness import ONE, Source, parts, words
from sfumato.schema import Domain

_LISTED = 256  # values up to which a table of the matrix samples faster than arithmetic


@dataclass(frozen=True, eq=False, repr=False)
class Symmetric(Channel):
    r"""Keep a value with probability 1 - p, otherwise report one of the others uniformly.

        P[x, y] = 1 - p  if x == y  else  p / (k - 1),        gamma = (1 - p)(k - 1) / p

    Over a group of attributes, k is the number of their combinations and a changed record changes as a whole.
    Ma (2006) section 2.1; Warner (1965) for k = 2.

    >>> symmetric(6, p=0.3).gamma
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
        sizes = _check_sizes(parameters["sizes"])
        other = int(parameters["other"])
        if other < 0 or (prod(sizes) * other >= ONE and prod(sizes) > 1):
            raise ChannelError(f"other must lie in [0, 2^63 / {prod(sizes)}), got {other} instead")
        return cls(sizes, other)

    def __str__(self) -> str:
        shape = " x ".join(map(str, self.sizes))
        return f"identity({shape})" if not self.other else f"symmetric({shape}, p={self.p:.6g})"


@dataclass(frozen=True, eq=False, repr=False)
class ValidSymmetric(Channel):
    r"""Symmetric over the listed combinations of a group only, so that no released row is impossible.

        P[x, y] = 1 - p  if x == y  else  p / (v - 1),        x, y among the v valid combinations

    Made from combinations of labels; the scheme that uses it turns them into cells of the group's table. Until then it
    is a channel on the positions of the list.
    """

    combinations: tuple[tuple[Any, ...], ...]
    other: int
    bound_sizes: tuple[int, ...] | None = None
    cells: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    kind = "valid"

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.bound_sizes or (len(self.combinations),)

    @cached_property
    def _inner(self) -> Symmetric:
        return Symmetric((len(self.combinations),), self.other)

    @property
    def p(self) -> float:
        """The probability of changing the combination."""
        return self._inner.p

    @property
    def weights(self) -> Words:
        if self.bound_sizes is None:
            return self._inner.weights
        out = np.zeros((self.k, self.k), dtype=np.uint64)
        out[np.ix_(self.cells, self.cells)] = self._inner.weights
        return out

    @cached_property
    def transition(self) -> Operator:
        inner = self._inner.transition
        return inner if self.bound_sizes is None else Embedded(inner, self.cells, self.k)

    @cached_property
    def inverse(self) -> Operator:
        inner = self._inner.inverse
        return inner if self.bound_sizes is None else Embedded(inner, self.cells, self.k)

    @property
    def invertible(self) -> bool:
        return True

    def exact_gammas(self) -> list[Ratio]:
        return self._inner.exact_gammas()

    @property
    def exact_gamma(self) -> Ratio:
        return self._inner.exact_gamma

    @property
    def matrix_cells(self) -> int:
        return self._inner.matrix_cells + self.k  # where each combination stands in the list

    @cached_property
    def _position(self) -> NDArray[np.int64]:
        position = np.full(self.k, -1, dtype=np.int64)
        position[self.cells] = np.arange(len(self.cells))
        return position

    def draw(self, codes: Codes, draws: Words) -> Codes:
        if self.bound_sizes is None:
            return self._inner.draw(codes, draws)
        return self.cells[self._inner.draw(self._position[codes], draws)].astype(code_type(self.k))

    def sample(self, codes: Codes, src: Source) -> Codes:
        if self.bound_sizes is None:
            return self._inner.sample(codes, src)
        return self.cells[self._inner.sample(self._position[codes], src)].astype(code_type(self.k))

    def check_columns(self, columns: Sequence[Codes]) -> None:
        if self.bound_sizes is None or not len(columns[0]):
            return
        bad = self._position[join_codes(columns, self.sizes)] < 0
        if bad.any():
            raise ChannelError(
                f"{int(bad.sum())} rows hold a combination that is not among the {len(self.combinations)} valid ones; "
                f"add it to valid= or mend the rows"
            )

    def bind(self, domains: Sequence[Domain]) -> ValidSymmetric:
        sizes = tuple(domain.size for domain in domains)
        if any(domain.rounds for domain in domains):
            raise ChannelError("an attribute with points cannot be in valid combinations: rounding would break them")
        if self.bound_sizes is not None:
            super().bind(domains)
            return self
        wrong = [combination for combination in self.combinations if len(combination) != len(domains)]
        if wrong:
            raise ChannelError(f"{wrong[0]!r} must name {len(domains)} values, one for each attribute of the group")
        count_combinations(sizes)
        columns = zip(domains, zip(*self.combinations, strict=True), strict=True)
        cells = join_codes([domain.codes_of(values) for domain, values in columns], sizes).astype(np.int64)
        if len(np.unique(cells)) < len(cells):
            raise ChannelError("two of the valid combinations are the same after encoding: name each once")
        return ValidSymmetric(self.combinations, self.other, sizes, cells)

    def marginal(self, axes: Sequence[int]) -> Channel:
        axes = check_axes(axes, len(self.sizes))
        if axes == tuple(range(len(self.sizes))):
            return self
        raise ChannelError("a channel over valid combinations has no marginal channel: ask for the whole group")

    def parameters(self) -> dict[str, Any]:
        bound = {} if self.bound_sizes is None else {"sizes": list(self.sizes), "cells": self.cells.tolist()}
        return {"combinations": [list(c) for c in self.combinations], "other": str(self.other), **bound}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> ValidSymmetric:
        combinations = tuple(tuple(c) for c in parameters["combinations"])
        inner = Symmetric.from_parameters({"sizes": [len(combinations)], "other": parameters["other"]})
        if "cells" not in parameters:
            return cls(combinations, inner.other)
        sizes, cells = _check_sizes(parameters["sizes"]), [int(cell) for cell in parameters["cells"]]
        if len(set(cells)) != len(combinations) or min(cells) < 0 or max(cells) >= prod(sizes):
            raise ChannelError("cells must name a different place of the table for each valid combination")
        return cls(combinations, inner.other, sizes, np.array(cells, dtype=np.int64))

    def __str__(self) -> str:
        return f"symmetric({len(self.combinations)} valid combinations, p={self.p:.6g})"


def symmetric(
    k: int | Sequence[int] | None = None,
    p: float | None = None,
    *,
    gamma: float | None = None,
    valid: Sequence[Sequence[Any]] | None = None,
) -> Symmetric | ValidSymmetric:
    """Keep a value with probability 1 - p, or with the odds gamma; jointly for a group when k is a tuple of sizes.

    >>> symmetric((2, 2, 2), 0.3).gamma
    16.333333333333336
    >>> symmetric(4, gamma=3).p
    0.5
    """
    if (p is None) == (gamma is None):
        raise ChannelError("symmetric takes either p (the probability of changing) or gamma, and not both")
    if valid is not None:
        listed = [tuple(c) if isinstance(c, Sequence) and not isinstance(c, str) else (c,) for c in valid]
        combinations = tuple(tuple(v.item() if isinstance(v, np.generic) else v for v in c) for c in listed)
        if k is not None:
            raise ChannelError("symmetric takes either k or valid, and not both")
        if len(combinations) < 2 or len(set(combinations)) != len(combinations):
            raise ChannelError("valid must list at least two combinations, each once")
        return ValidSymmetric(combinations, _other(len(combinations), p, gamma)).verified(_bound(gamma))
    if k is None:
        raise ChannelError("symmetric needs k, the number of values, or the sizes of a group of attributes")
    sizes = _check_sizes(k)
    return Symmetric(sizes, _other(prod(sizes), p, gamma)).verified(_bound(gamma))


def identity(k: int | Sequence[int]) -> Symmetric:
    """Report the value itself: no privacy (gamma is infinite), for attributes that are not sensitive.

    >>> identity(3).gamma
    inf
    """
    return Symmetric(_check_sizes(k), 0)


def _other(k: int, p: float | None, gamma: float | None) -> int:
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


def _bound(gamma: float | None) -> Ratio:
    return math.inf if gamma is None or gamma == math.inf else Fraction(float(gamma))


def _check_sizes(k: int | Sequence[int]) -> tuple[int, ...]:
    sizes = tuple(k) if isinstance(k, Sequence) and not isinstance(k, str) else (k,)
    if not sizes:
        raise ChannelError("k must be a number of values or a tuple of such numbers, got none")
    sizes = tuple(whole("k", size, 1) for size in sizes)
    count_combinations(sizes)
    return sizes
