"""Gaussian coefficients from unbiased moments: any number of covariates, no table of all of them.

    Σ_z Ñ_z (xy)_z = Σ_z Ñ_z (xxᵀ)_z β

where (xxᵀ)_z and (xy)_z are unbiased given the released record z; each entry looks at the attributes of two columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.seen import Seen
from sfumato.learn.regression.cell_weights import ListedRecords
from sfumato.learn.regression.design_columns import Column
from sfumato.learn.regression.told_by_records import told_of_column


class Counted(Protocol):
    """A part of the records."""

    @property
    def total(self) -> float: ...


Part = TypeVar("Part", bound=Counted)
Term = TypeVar("Term")


class Moments(ABC, Generic[Part, Term]):
    """Unbiased moments of the columns and the response, part by part."""

    def __init__(self, parts: Sequence[Part], columns: Sequence[Term], y: Term) -> None:
        self.parts = list(parts)
        self.factors = [1.0] * len(self.parts)
        self._columns, self._y = columns, y
        self._sums = [self._moments(part) for part in self.parts]

    @abstractmethod
    def _told(self, part: Part, one: Term, other: Term) -> Array:
        """What each released record tells, without bias, of the product of two columns."""

    @abstractmethod
    def _counts(self, part: Part) -> Array:
        """How often each released record occurs."""

    def _moments(self, part: Part) -> tuple[Array, Array, float]:
        """Σ x xᵀ, Σ x y and Σ y²."""
        counts, width = self._counts(part), len(self._columns)
        xx, xy = np.empty((width, width)), np.empty(width)
        for i, one in enumerate(self._columns):
            xy[i] = counts @ self._told(part, one, self._y)
            for j, other in enumerate(self._columns[: i + 1]):
                xx[i, j] = xx[j, i] = counts @ self._told(part, one, other)
        return xx, xy, float(counts @ self._told(part, self._y, self._y))

    def weigh(self, factors: Sequence[float]) -> None:
        """Let each part count by a factor, which leaves the number of records what it is."""
        held = sum(factor * part.total for factor, part in zip(factors, self.parts, strict=True))
        self.factors = [factor * self.total / held for factor in factors]

    @property
    def total(self) -> float:
        return float(sum(part.total for part in self.parts))

    @property
    def information(self) -> Array:
        """Σ x xᵀ."""
        return np.asarray(sum(f * xx for f, (xx, _, _) in zip(self.factors, self._sums, strict=True)))

    @property
    def answers(self) -> Array:
        """Σ x y."""
        return np.asarray(sum(f * xy for f, (_, xy, _) in zip(self.factors, self._sums, strict=True)))

    @property
    def squares(self) -> float:
        """Σ y²."""
        return float(sum(f * yy for f, (_, _, yy) in zip(self.factors, self._sums, strict=True)))

    def spreads(self, beta: Array) -> list[Array]:
        """Σ_z Ñ_z s_z s_zᵀ of every part, s_z = (xy)_z - (xxᵀ)_z β."""
        out = []
        for part in self.parts:
            s = np.stack([self._told(part, one, self._y) for one in self._columns], axis=1)
            for i, one in enumerate(self._columns):
                for j, other in enumerate(self._columns[: i + 1]):
                    told = self._told(part, one, other)
                    s[:, i] -= beta[j] * told
                    if i != j:
                        s[:, j] -= beta[i] * told
            out.append((s * self._counts(part)[:, None]).T @ s)
        return out

    def spread(self, beta: Array) -> Array:
        """The same of all parts, each by its factor."""
        return np.asarray(sum(f * f * one for f, one in zip(self.factors, self.spreads(beta), strict=True)))

    def quadratic_spread(self, directions: Array) -> Array:
        """The variance of Σ (xᵀv)² for each column v of the directions."""
        out = np.zeros(directions.shape[1])
        for factor, part in zip(self.factors, self.parts, strict=True):
            counts = self._counts(part)
            s = np.zeros((len(counts), directions.shape[1]))
            for i, one in enumerate(self._columns):
                for j, other in enumerate(self._columns[: i + 1]):
                    both = directions[i] * directions[j] * (1 if i == j else 2)
                    s += self._told(part, one, other)[:, None] * both
            out += factor**2 * (counts @ s**2 - (counts @ s) ** 2 / part.total)
        return out


class RecordMoments(Moments[Seen, Column]):
    """The moments of randomized codes; ``answered`` is 0 where there is no response."""

    def __init__(
        self, source: ListedRecords, names: Sequence[str], columns: Sequence[Column], y: Column, answered: Column | None
    ) -> None:
        self._answered = answered
        super().__init__(list(source.records(names)), columns, y)

    def _told(self, part: Seen, one: Column, other: Column) -> Array:
        product = one.times(other)
        return told_of_column(part, product if self._answered is None else product.times(self._answered))

    def _counts(self, part: Seen) -> Array:
        return part.counts
