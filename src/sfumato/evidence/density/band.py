"""A pointwise credible band from the averaged models: a mixture of normals for the log-density of each cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Array, Index
from sfumato.evidence.density.penalised import PenalisedFit
from sfumato.evidence.density.tuning import INFLATE, SLOPE, UPWARD


@dataclass(frozen=True)
class Spread:
    """Per model (rows) and cell (columns): centre and sd of the log-density; one weight a model."""

    centre: Array
    sd: Array
    weights: Array


def spread(fits: tuple[PenalisedFit, ...], weights: Array, inner: tuple[int, int], shift: float) -> Spread:
    """From the models that matter; `shift` is the log of the mass kept, so that heights are those of the result.

    Laplace's covariance takes the row scale as known and the models as all there are: measured coverage falls short.
    So the models count by the root of their weights, their sd by 1.25, and a log-density that changes by d from cell
    to cell is not trusted beyond d / 10.
    """
    from scipy.linalg import lapack

    held, weights = models_that_matter(weights)
    first, last = inner
    centre, sd = [], []
    for index in held:
        fit = fits[int(index)]
        inverse, _ = lapack.dtrtri(fit.factor, lower=1)
        eta = fit.eta[first:last]
        change = np.abs(np.diff(eta, prepend=eta[0], append=eta[-1]))
        local = np.maximum(change[1:], change[:-1])
        own = np.sqrt(np.einsum("ij,ij->j", inverse, inverse))[first:last]
        centre.append(eta - shift)
        sd.append(np.hypot(INFLATE * own, SLOPE * local))
    return Spread(np.array(centre), np.array(sd), weights)


def models_that_matter(weights: Array) -> tuple[Index, Array]:
    """The places of the models that have a say, and how much: models count by the root of their weights."""
    roots = np.sqrt(weights)
    held = np.flatnonzero(roots > 0.03 * roots.max())
    return held, np.asarray(roots[held] / roots[held].sum())


def limits(models: Spread, level: float) -> tuple[Array, Array]:
    """The (1 - level) / 2 and (1 + level) / 2 quantiles of each cell's mixture, by bisection."""
    tail = (1 - level) / 2
    return _quantile(models, tail), _quantile(models, 1 - tail)


def _quantile(models: Spread, q: float) -> Array:
    from scipy.special import ndtr

    low = (models.centre - 9 * models.sd).min(axis=0)
    high = (models.centre + 9 * models.sd).max(axis=0)
    for _ in range(60):
        middle = (low + high) / 2
        below = models.weights @ ndtr(_standard(middle - models.centre) / models.sd) < q
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray(np.exp(np.minimum((low + high) / 2, 700.0)))


def _standard(above: Array) -> Array:
    """Where the density is near 0 the log-likelihood is flat below and steep above: upwards the scale is linear.

    A normal log-density with a large sd would put the upper limit anywhere.
    """
    return np.where(above > 0, np.maximum(above, np.expm1(np.clip(above, 0.0, 600.0)) / UPWARD), above)
