"""Gaussian coefficients from unbiased moments: any number of covariates, no table of all of them.

    Σ_z Ñ_z (xy)_z = Σ_z Ñ_z (xxᵀ)_z β

where (xxᵀ)_z and (xy)_z are unbiased given the released record z; each entry looks at the attributes of two columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.seen import Seen
from sfumato.learn.regression.cell_weights import ListedRecords
from sfumato.learn.regression.design_columns import Column
from sfumato.learn.regression.told_by_records import told_of_column


class RecordMoments:
    """Unbiased moments of the columns and the response, part by part; ``answered`` is 0 where there is no response."""

    def __init__(
        self, source: ListedRecords, names: Sequence[str], columns: Sequence[Column], y: Column, answered: Column | None
    ) -> None:
        self.parts: list[Seen] = list(source.records(names))
        self.factors = [1.0] * len(self.parts)
        self._columns, self._y, self._answered = columns, y, answered
        width = len(columns)
        self._xx = [np.empty((width, width)) for _ in self.parts]
        self._xy = [np.empty(width) for _ in self.parts]
        self._yy = []
        for place, part in enumerate(self.parts):
            for i, one in enumerate(columns):
                self._xy[place][i] = part.counts @ self._told(part, one, y)
                for j, other in enumerate(columns[: i + 1]):
                    value = part.counts @ self._told(part, one, other)
                    self._xx[place][i, j] = self._xx[place][j, i] = value
            self._yy.append(float(part.counts @ self._told(part, y, y)))

    def weigh(self, factors: Sequence[float]) -> None:
        """Let each part count by a factor, which leaves the number of records what it is."""
        total = sum(part.total for part in self.parts)
        held = sum(factor * part.total for factor, part in zip(factors, self.parts, strict=True))
        self.factors = [factor * total / held for factor in factors]

    @property
    def information(self) -> Array:
        return np.asarray(sum(f * one for f, one in zip(self.factors, self._xx, strict=True)))

    @property
    def answers(self) -> Array:
        """Σ x y."""
        return np.asarray(sum(f * one for f, one in zip(self.factors, self._xy, strict=True)))

    @property
    def squares(self) -> float:
        """Σ y²."""
        return float(sum(f * one for f, one in zip(self.factors, self._yy, strict=True)))

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
            out.append((s * part.counts[:, None]).T @ s)
        return out

    def spread(self, beta: Array) -> Array:
        return np.asarray(sum(f * f * one for f, one in zip(self.factors, self.spreads(beta), strict=True)))

    def quadratic_spread(self, directions: Array) -> Array:
        """The variance of Σ (xᵀv)² for each column v of the directions."""
        out = np.zeros(directions.shape[1])
        for factor, part in zip(self.factors, self.parts, strict=True):
            s = np.zeros((len(part.counts), directions.shape[1]))
            for i, one in enumerate(self._columns):
                for j, other in enumerate(self._columns[: i + 1]):
                    both = directions[i] * directions[j] * (1 if i == j else 2)
                    s += self._told(part, one, other)[:, None] * both
            out += factor**2 * (part.counts @ s**2 - (part.counts @ s) ** 2 / part.total)
        return out

    def _told(self, part: Seen, one: Column, other: Column) -> Array:
        product = one.times(other)
        return told_of_column(part, product if self._answered is None else product.times(self._answered))

    @cached_property
    def total(self) -> float:
        return sum(part.total for part in self.parts)
