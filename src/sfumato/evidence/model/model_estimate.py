"""Counts as a model sees them, with a covariance that comes from the model's own parameters where they tell it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.evidence.critical import critical_value, one_of_many
from sfumato.evidence.estimate import Estimate, check_covariance


@dataclass(frozen=True, eq=False, repr=False)
class ModelEstimate(Estimate):
    """The model's counts: never negative, with the noise of its parameters (and of the sample) in the covariance.

    The covariance is that of the distribution behind the table; for the table's own counts it is on the safe side.
    Without a ``root`` it is that of the unbiased estimate, which bounds the model's from above. Intervals are formed on
    the logit scale, so that they stay within [0, N].
    """

    root: Array | None = None  # Cov(shares) = root rootᵀ + diag(misfit)
    misfit: Array = field(default_factory=lambda: np.zeros(1))  # of each share: what the model may be wrong by, squared

    def population(self) -> Estimate:
        return self.sampled()

    @property
    def judged(self) -> Array:
        return self.table

    @property
    def variance(self) -> Array:
        if self.root is None:
            return self._unbiased.variance * self._unit**2
        return np.asarray((self.root**2).sum(axis=1) + self.misfit) * self._unit**2

    @property
    def cov(self) -> Array:
        check_covariance(len(self.value))
        if self.root is None:
            return self._unbiased.cov * self._unit**2
        return np.asarray(self.root @ self.root.T + np.eye(len(self.root)) * self.misfit) * self._unit**2

    def covariance(self, one: Array, other: Array) -> float:
        if self.root is None:
            return self._unbiased.covariance(one, other) * self._unit**2
        along = float((one @ self.root) @ (other @ self.root)) + float((one * other * self.misfit).sum())
        return along * self._unit**2

    def within(self) -> Array | None:
        if self.root is None:
            return None
        k = self.shape[-1]
        roots = self.root.reshape(len(self.root) // k, k, self.root.shape[-1])
        wrong = np.broadcast_to(self.misfit, self.value.shape).reshape(-1, k)
        return np.asarray(roots @ roots.transpose(0, 2, 1) + wrong[:, :, None] * np.eye(k)) * self._unit**2

    def told_by_parameters(self) -> Array | None:
        """R with R Rᵀ the covariance of the counts as far as the parameters tell it, without what the model may be
        wrong by; None where they do not."""
        return None if self.root is None or not self.root.shape[-1] else self.root * self._unit

    def interval(
        self, level: float = 0.95, cells: NDArray[np.int64] | None = None, *, anytime: bool = False
    ) -> tuple[Array, Array]:
        from scipy.special import expit, logit

        places = slice(None) if cells is None else cells
        value = self.value[places]
        share = np.clip(value / self._unit, 1e-12, 1 - 1e-12)
        slope = self.sd[places] / self._unit / (share * (1 - share))
        z = critical_value(one_of_many(level, self.together), self.n if anytime else None)
        low, high = (np.asarray(expit(logit(share) + sign * z * slope)) * self._unit for sign in (-1, 1))
        # logits of a share beside 0 or 1 know no bounds: at most twice as far as along a straight line
        far = 2 * z * self.sd[places]
        return np.minimum(np.maximum(low, value - far), value), np.maximum(np.minimum(high, value + far), value)

    @property
    def _unbiased(self) -> Estimate:
        """Of the distribution behind the table."""
        return Estimate(self.schema, self.value, self.seen, "moment", True, self.codes)

    @property
    def _unit(self) -> float:
        return 1.0 if self.of_population else self.n
