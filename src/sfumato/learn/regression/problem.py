"""What a regression is to fit, and what it found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.errors import ConvergenceWarning, warn
from sfumato.learn.regression.design_columns import Column
from sfumato.learn.regression.families import Family, Ordinal
from sfumato.learn.regression.response import Response

#: What is said where the joint model answers although unbiased scores were asked.
SHRUNK = "cells of the joint model, which draws steep slopes towards 0"
#: The sum of the unbiased scores at coefficients of columns of size 1, and the covariance of that sum.
Unbiased = Callable[[Array], tuple[Array, Array]]
#: Of which coefficients the lower limits are open, and of which the upper ones.
Open = tuple[NDArray[np.bool_], NDArray[np.bool_]]
#: Called before each refit for the errors, with how many are done, and how many there are.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Fit:
    """Coefficients with their covariance, and how they were found."""

    beta: Array
    cov: Array
    converged: bool
    method: str
    covariance: str
    freedom: float = np.inf  # of the t distribution of a coefficient over its standard error
    scale: float | None = None  # the variance of the response around its mean (gaussian)
    unbiased: Unbiased | None = None  # of corrected scores that may have no solution
    open: Open | None = None  # which lower and which upper limits the scores do not tell


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be fitted."""

    family: Family
    columns: Sequence[Column]
    response: Response
    names: tuple[str, ...]  # the attributes that the columns look at, and the response, last
    robust: bool

    @property
    def ends(self) -> int:
        """How many ends of levels follow the coefficients."""
        return self.family.classes - 1 if isinstance(self.family, Ordinal) else 0

    @property
    def terms(self) -> list[str]:
        return [column.term for column in self.columns]

    def scaled(self) -> tuple[list[Column], Column, Column | None, Array]:
        """Columns that are brought to size 1; the response, and whether there is one; and the sizes."""
        name = (self.names[-1],)
        size = np.array([float(np.abs(column.table).max()) or 1.0 for column in self.columns])
        pairs = zip(self.columns, size, strict=True)
        scaled = [Column(column.term, column.names, column.table / own) for column, own in pairs]
        y = Column("y", name, np.where(self.response.kept, self.response.values, 0.0))
        answered = Column("answered", name, self.response.kept.astype(np.float64))
        return scaled, y, None if self.response.kept.all() else answered, size


def warn_of(text: str) -> None:
    """Warn about coefficients, where they were asked for."""
    warn(text, ConvergenceWarning, stacklevel=6)
