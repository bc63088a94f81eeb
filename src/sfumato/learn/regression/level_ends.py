r"""Limits of the ends of levels of an ordinal response, where the noise leaves open whether anybody lies beyond.

An end τ stands where a share q of the records lies below it, so that the noise of q counts, not that of log q:

    τ = c + log(q / (1 - q)),        limits of τ:  at q ± z s,  and z² (Var(τ) - s² / (q (1 - q))²) for all else

added as squares (Zou and Donner 2008). Where q ± z s leaves nobody on a side, the end may lie anywhere on that side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.estimate import Estimate
from sfumato.learn.regression.response import Response

_NOBODY = 1e-9  # a share that stands for none
_MOST = 1e3  # standard errors


@dataclass(frozen=True, eq=False)
class LevelEnds:
    """The share of the records below each end, and its standard error by the noise of the channels alone."""

    below: Array
    error: Array

    def limits(self, coef: Array, sd: Array, z: float | Array) -> tuple[Array, Array]:
        """The limits of the ends at z standard errors."""
        logit = _logit(self.below)
        down = logit - _logit(self.below - z * self.error)
        up = _logit(self.below + z * self.error) - logit
        own = self.error / (self.below * (1 - self.below))
        rest = z**2 * np.maximum(sd**2 - own**2, 0.0)
        return coef - np.sqrt(down**2 + rest), coef + np.sqrt(up**2 + rest)

    def distance(self, coef: Array, sd: Array) -> Array:
        """How many standard errors each end is away from 0: at so many its limits reach it."""
        least, most = np.zeros(len(coef)), np.full(len(coef), _MOST)
        for _ in range(60):
            middle = (least + most) / 2
            low, high = self.limits(coef, sd, middle)
            reached = (low <= 0) & (high >= 0)
            least, most = np.where(reached, least, middle), np.where(reached, middle, most)
        return np.asarray((least + most) / 2)


def level_ends(response: Response, held: Estimate) -> LevelEnds:
    """The ends between the classes of the response, of which these are the counts."""
    total = float(response.kept @ held.value)
    below, error = [], []
    for place in range(len(response.labels) - 1):
        own = (response.kept & (response.values <= place)).astype(np.float64)
        share = float(own @ held.value) / total
        weights = own - share * response.kept
        below.append(min(max(share, _NOBODY), 1 - _NOBODY))
        error.append(np.sqrt(max(held.covariance(weights, weights), 0.0)) / total)
    return LevelEnds(np.array(below), np.array(error))


def _logit(share: Array) -> Array:
    """log(q / (1 - q)), infinite where there is nobody on a side."""
    with np.errstate(divide="ignore"):
        inside = np.clip(share, 0.0, 1.0)
        return np.asarray(np.log(inside) - np.log1p(-inside))
