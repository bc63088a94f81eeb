"""Randomized response over all combinations of a group of attributes, or over the valid ones only."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Codes, Words
from sfumato.channels.base import Channel
from sfumato.channels.codes import check_axes, join_codes
from sfumato.channels.linear import Embedded, Operator
from sfumato.channels.lookup import code_type
from sfumato.channels.ratios import Ratio
from sfumato.channels.response import Symmetric, check_sizes, other_weight
from sfumato.channels.size_limits import count_combinations
from sfumato.errors import ChannelError
from sfumato.printable import many
from sfumato.randomness import Source
from sfumato.schema import Domain


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
    def inner(self) -> Symmetric:
        return Symmetric((len(self.combinations),), self.other)

    @property
    def p(self) -> float:
        """The probability of changing the combination."""
        return self.inner.p

    @property
    def weights(self) -> Words:
        if self.bound_sizes is None:
            return self.inner.weights
        out = np.zeros((self.k, self.k), dtype=np.uint64)
        out[np.ix_(self.cells, self.cells)] = self.inner.weights
        return out

    @cached_property
    def transition(self) -> Operator:
        inner = self.inner.transition
        return inner if self.bound_sizes is None else Embedded(inner, self.cells, self.k)

    @cached_property
    def inverse(self) -> Operator:
        inner = self.inner.inverse
        return inner if self.bound_sizes is None else Embedded(inner, self.cells, self.k)

    @property
    def invertible(self) -> bool:
        return True

    def exact_gammas(self) -> list[Ratio]:
        return self.inner.exact_gammas()

    @property
    def exact_gamma(self) -> Ratio:
        return self.inner.exact_gamma

    @property
    def matrix_cells(self) -> int:
        return self.inner.matrix_cells + self.k  # where each combination stands in the list

    @cached_property
    def _position(self) -> NDArray[np.int64]:
        position = np.full(self.k, -1, dtype=np.int64)
        position[self.cells] = np.arange(len(self.cells))
        return position

    def draw(self, codes: Codes, draws: Words) -> Codes:
        if self.bound_sizes is None:
            return self.inner.draw(codes, draws)
        return self.cells[self.inner.draw(self._position[codes], draws)].astype(code_type(self.k))

    def sample(self, codes: Codes, src: Source) -> Codes:
        if self.bound_sizes is None:
            return self.inner.sample(codes, src)
        return self.cells[self.inner.sample(self._position[codes], src)].astype(code_type(self.k))

    def check_columns(self, columns: Sequence[Codes]) -> None:
        if self.bound_sizes is None or not len(columns[0]):
            return
        bad = self._position[join_codes(columns, self.sizes)] < 0
        if bad.any():
            raise ChannelError(
                f"{many(int(bad.sum()), 'row holds', 'rows hold')} a combination that is not among the "
                f"{len(self.combinations)} valid ones; add it to valid= or mend the rows"
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
        sizes, cells = check_sizes(parameters["sizes"]), [int(cell) for cell in parameters["cells"]]
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
        if not isinstance(valid, Iterable):
            raise ChannelError(f'valid must look like [("F", "yes"), ("F", "no"), ("M", "no")], got {valid!r} instead')
        listed = [tuple(c) if isinstance(c, Sequence) and not isinstance(c, str) else (c,) for c in valid]
        combinations = tuple(tuple(v.item() if isinstance(v, np.generic) else v for v in c) for c in listed)
        if k is not None:
            raise ChannelError("symmetric takes either k or valid, and not both")
        if len(combinations) < 2 or len(set(combinations)) != len(combinations):
            raise ChannelError("valid must list at least two combinations, each once")
        return ValidSymmetric(combinations, other_weight(len(combinations), p, gamma)).verified(_bound(gamma))
    if k is None:
        raise ChannelError("symmetric needs k, the number of values, or the sizes of a group of attributes")
    sizes = check_sizes(k)
    return Symmetric(sizes, other_weight(prod(sizes), p, gamma)).verified(_bound(gamma))


def _bound(gamma: float | None) -> Ratio:
    return math.inf if gamma is None or gamma == math.inf else Fraction(float(gamma))
