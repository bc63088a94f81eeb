"""Independence loss: how far randomization spreads the odds ratio of two variables (Ma 2006, section 3.2.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array
from sfumato.assess.effective import covariance
from sfumato.assess.precision import check_n
from sfumato.assess.subject import channel_of
from sfumato.channels import product
from sfumato.errors import EstimationError


@dataclass(frozen=True)
class OddsRatio:
    """n11 n22 / (n12 n21), with the delta-method standard deviations of it and of its logarithm."""

    value: float
    sd: float
    log_sd: float

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Limits from the logarithm, where the normal approximation is better."""
        from scipy.special import ndtri

        reach = float(ndtri((1 + level) / 2)) * self.log_sd
        return self.value * float(np.exp(-reach)), self.value * float(np.exp(reach))


def odds_ratio(counts: Any, cov: ArrayLike | None = None) -> OddsRatio:
    r"""The odds ratio of a 2 x 2 table, plain counts or an Estimate of two two-valued attributes.

        r = n11 n22 / (n12 n21),     Var(log r) = gᵀ Cov g,     g = (1/n11, -1/n12, -1/n21, 1/n22)

    Without a covariance the counts are taken as plain ones, and the variance is the sum of their reciprocals.

    >>> odds_ratio([[30, 10], [20, 40]]).value
    6.0
    """
    if hasattr(counts, "cov") and hasattr(counts, "n"):
        cov = counts.sampled().cov * counts.n**2 if cov is None else cov
        counts = counts.value if not counts.of_population else counts.value * counts.n
    table = np.asarray(counts, dtype=np.float64).reshape(-1)
    if table.shape != (4,):
        raise EstimationError(f"an odds ratio needs a table of 2 x 2 counts, got {table.size} entries instead")
    if not (table > 0).all():
        raise EstimationError(f"an odds ratio needs four positive counts, got {table.round(3).tolist()} instead")
    V = np.diag(table) if cov is None else np.asarray(cov, dtype=np.float64)
    if V.shape != (4, 4):
        raise EstimationError(f"the covariance of a 2 x 2 table has shape (4, 4), got {V.shape} instead")
    value = float(table[0] * table[3] / (table[1] * table[2]))
    log_sd = _log_sd(table, V)
    return OddsRatio(value, value * log_sd, log_sd)


def odds_ratio_spread(first: Any, second: Any, n: int, table: ArrayLike | None = None) -> OddsRatio:
    """What to expect of the estimated odds ratio from n records randomized by two channels, before any data exist.

    ``table`` holds the true shares (default: independent and even). Compare with the identity on both sides: the
    ratio of the two deviations is how much easier it is to mistake independent variables for dependent ones.
    """
    pair = product([channel_of(first), channel_of(second)])
    if pair.sizes != (2, 2):
        raise EstimationError(f"the two channels must treat two-valued attributes, got sizes {pair.sizes} instead")
    shares = np.full(4, 0.25) if table is None else np.asarray(table, dtype=np.float64).reshape(-1)
    return odds_ratio(shares * check_n(n), covariance(pair, shares) * n)


def _log_sd(table: Array, V: Array) -> float:
    g = np.array([1.0, -1.0, -1.0, 1.0]) / table
    return float(np.sqrt(max(float(g @ V @ g), 0.0)))
