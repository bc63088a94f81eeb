"""Counts as the joint model sees them, with a covariance that comes from the model's own parameters."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.linear import Array
from sfumato.errors import EstimationError
from sfumato.evidence.estimate import COVARIANCE_CELLS, Estimate
from sfumato.evidence.limits import check_level


@dataclass(frozen=True, eq=False)
class ModelEstimate(Estimate):
    """The model's counts: never negative, with the noise of its parameters (and of the sample) in the covariance.

    The covariance is that of the distribution behind the table; for the table's own counts it is on the safe side.
    Intervals are formed on the logit scale, so that they stay within [0, N].
    """

    records: float = 0.0
    root: Array = field(default_factory=lambda: np.zeros((0, 0)))  # Cov(shares) = root rootᵀ + diag(misfit)
    misfit: Array = field(
        default_factory=lambda: np.zeros(1)
    )  # of each share: what the model itself may be wrong by, squared

    @property
    def n(self) -> float:
        return self.records

    @property
    def unbiased(self) -> Array:
        """The model has no unbiased estimate of its own; see ``ModelEvidence.disagreement``."""
        return self.value

    @property
    def variance(self) -> Array:
        return np.asarray((self.root**2).sum(axis=1) + self.misfit) * self._unit**2

    @property
    def cov(self) -> Array:
        if len(self.value) > COVARIANCE_CELLS:
            raise EstimationError(
                f"the covariance of {len(self.value)} cells would have {len(self.value)}^2 entries; "
                f"use sd, or ask for fewer attributes"
            )
        return np.asarray(self.root @ self.root.T + np.eye(len(self.root)) * self.misfit) * self._unit**2

    def within(self) -> Array | None:
        k = self.shape[-1]
        roots = self.root.reshape(len(self.root) // k, k, self.root.shape[-1])
        wrong = np.broadcast_to(self.misfit, self.value.shape).reshape(-1, k)
        return np.asarray(roots @ roots.transpose(0, 2, 1) + wrong[:, :, None] * np.eye(k)) * self._unit**2

    def interval(self, level: float = 0.95, cells: NDArray[np.int64] | None = None) -> tuple[Array, Array]:
        from scipy.special import expit, logit, ndtri

        check_level(level)
        places = slice(None) if cells is None else cells
        value = self.value[places]
        share = np.clip(value / self._unit, 1e-12, 1 - 1e-12)
        slope = self.sd[places] / self._unit / (share * (1 - share))
        z = float(ndtri((1 + level) / 2))
        low, high = (np.asarray(expit(logit(share) + sign * z * slope)) * self._unit for sign in (-1, 1))
        return np.minimum(low, value), np.maximum(high, value)

    @property
    def _unit(self) -> float:
        return 1.0 if self.of_population else self.records


@dataclass(frozen=True, eq=False)
class CliqueEstimate(ModelEstimate):
    """Counts of a tree of cliques. Their noise is that of the unbiased estimate, which bounds it from above."""

    noise: Estimate = field(kw_only=True)

    @property
    def unbiased(self) -> Array:
        return self._noise.unbiased * self._unit

    @property
    def variance(self) -> Array:
        return self._noise.variance * self._unit**2

    @property
    def cov(self) -> Array:
        return self._noise.cov * self._unit**2

    def within(self) -> Array | None:
        return None

    @property
    def _noise(self) -> Estimate:
        return self.noise.population()
