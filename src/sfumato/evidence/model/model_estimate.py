"""Counts as a model sees them, with what the records themselves leave open.

A model draws its counts together by more than its parameters' covariance tells: strong dependence is shrunk, and what
it does not know is taken for nothing. So where released records tell a table without bias, that estimate u says how far
the model's m may be wrong,

    Cov = Cov(u) + (m - u)(m - u)ᵀ,        interval: that of u, stretched to m

and only a table that no records tell by themselves has an error from the model's side: that of its parameters, and how
far it is from the unbiased counts of the tables within it that are told. What only the whole table would show no error
tells (docs/measured/learn.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.errors import EstimationError
from sfumato.evidence.counting import all_together
from sfumato.evidence.covariance import check_covariance
from sfumato.evidence.critical import critical_value, one_of_many
from sfumato.evidence.estimate import Estimate
from sfumato.evidence.model.goodness_of_fit import said_of
from sfumato.input_checks import check_flags, check_places


@dataclass(frozen=True, eq=False, repr=False)
class ModelEstimate(Estimate):
    """The model's counts: never negative, and with intervals of the unbiased ones where there are such."""

    root: Array | None = None  # root rootᵀ: what the parameters tell of the covariance of the shares
    untold: Array | None = None  # of a table that no records tell: how far the model is from the tables within it
    said: tuple[str, ...] = ()  # what to know of the model behind it

    def population(self) -> Estimate:
        return self.sampled()

    @property
    def told(self) -> bool:
        """Whether released records tell this table by themselves."""
        return bool(self.seen)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know besides the numbers."""
        if self.told:
            return (
                "the estimate is the joint model's, the interval that of unbiased counts: it holds what shrinks too",
                *self.differing,
                *self.said,
            )
        return (
            f"no records were asked {all_together(self.names)}: the joint model puts together what pairs, or other "
            f"parts of them, tell, and what only all of them together would show is not known",
            *self.said,
        )

    @property
    def differing(self) -> tuple[str, ...]:
        """A sentence where the model is further from the unbiased counts of the whole table than noise explains."""
        if not self.told or self.codes is not None:
            return ()
        return said_of(self._unbiased.population(), self.value / self._unit)

    @property
    def roots(self) -> dict[str, Array | None]:
        """What has a row for each cell, besides the value."""
        return {"root": self.root, "untold": self.untold}

    @property
    def judged(self) -> Array:
        return self.table

    @property
    def variance(self) -> Array:
        if self.told:
            return self._unbiased.variance + self.apart**2
        return np.asarray((self._open**2).sum(axis=1)) * self._unit**2

    @property
    def cov(self) -> Array:
        check_covariance(len(self.value))
        if self.told:
            return self._unbiased.cov + np.outer(self.apart, self.apart)
        return np.asarray(self._open @ self._open.T) * self._unit**2

    def covariance(self, one: Array, other: Array) -> float:
        if self.told:
            return self._unbiased.covariance(one, other) + float(one @ self.apart) * float(other @ self.apart)
        return float((one @ self._open) @ (other @ self._open)) * self._unit**2

    def within(self) -> Array | None:
        if self.told:
            return None
        k = self.shape[-1]
        roots = self._open.reshape(len(self.value) // k, k, -1)
        return np.asarray(roots @ roots.transpose(0, 2, 1)) * self._unit**2

    def told_by_parameters(self) -> Array | None:
        """R with R Rᵀ the covariance of the counts as far as the parameters tell it; None where they do not."""
        return None if self.root is None else self.root * self._unit

    def interval(
        self, level: float = 0.95, cells: NDArray[np.int64] | None = None, *, anytime: bool = False
    ) -> tuple[Array, Array]:
        if self.told:
            return super().interval(level, cells, anytime=anytime)
        check_flags(EstimationError, anytime=anytime)
        cells = None if cells is None else check_places(EstimationError, "cells", cells, len(self.value))
        from scipy.special import expit, logit

        places = slice(None) if cells is None else cells
        value, sd = self.value[places], self.sd[places]
        share = np.clip(value / self._unit, 1e-12, 1 - 1e-12)
        slope = sd / self._unit / (share * (1 - share))
        z = critical_value(one_of_many(level, self.together), self.n if anytime else None)
        low, high = (np.asarray(expit(logit(share) + sign * z * slope)) * self._unit for sign in (-1, 1))
        # a logit never reaches 0, and has no bounds on the other side: a straight line is held, and not twice as far
        low = np.maximum(np.minimum(low, value - z * sd), np.maximum(value - 2 * z * sd, 0.0))
        high = np.minimum(np.maximum(high, value + z * sd), np.minimum(value + 2 * z * sd, self._unit))
        return np.minimum(low, value), np.maximum(high, value)

    @property
    def _open(self) -> Array:
        return np.hstack([part for part in (self.root, self.untold) if part is not None])

    @property
    def _unbiased(self) -> Estimate:
        return Estimate(
            self.schema, self.value, self.seen, "moment", self.of_population, self.codes, records=self.records
        )

    @property
    def apart(self) -> Array:
        """How far the model's counts are from the unbiased ones."""
        return np.asarray(self.value - self.unbiased)

    @property
    def _unit(self) -> float:
        return 1.0 if self.of_population else self.n
