"""Covariates that the data cannot tell apart, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import EstimationError
from sfumato.learn.regression.design_columns import INTERCEPT

_ROUNDING = 1e-10  # of the smallest eigenvalue of the correlations
_CLEAR = 2.0  # standard errors by which a covariate must vary beyond what the others explain


class HardlyVariesError(EstimationError):
    """Of a covariate the noise leaves too little: its coefficient would be noise divided by noise."""

    def __init__(self, what: str, *terms: str, left_out: str = "leave it out") -> None:
        super().__init__(f"{what}: collect more records, take a weaker channel, or {left_out}")
        self.terms = terms


def _little_known(term: str, what: str) -> HardlyVariesError:
    return HardlyVariesError(f"too little is known of {term!r} under this noise: {what}", term)


def refuse_collinear(
    terms: Sequence[str], gram: Array, quadratic_spread: Callable[[Array], Array] | None = None
) -> None:
    """Refuse columns of which some are combinations of others; ``gram`` is Σ x xᵀ.

    ``quadratic_spread`` gives the variance of Σ (xᵀv)² for columns v: of randomized records a covariate must vary
    *clearly* beyond what the others explain, or its coefficient would be noise divided by noise.
    """
    scale = np.sqrt(np.abs(np.diag(gram)))
    for term, own in zip(terms, np.diag(gram), strict=True):
        if not own > 0 and quadratic_spread:
            raise _little_known(term, "the records do not tell that it varies")
        if not own > 0:
            raise EstimationError(f"no record is estimated to hold {term!r}: leave it out, or merge rare values")
    correlations = gram / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(correlations)
    if values[0] < _ROUNDING:
        weights = np.abs(vectors[:, 0])
        involved = [term for term, weight in zip(terms, weights, strict=True) if weight > 0.05 * weights.max()]
        if len(involved) == 1 or not quadratic_spread:
            named = ", ".join(involved)
            raise EstimationError(f"the covariates are collinear: {named} add up to nothing; leave one of them out")
        ranked = _refuse_what_hardly_varies(terms, gram, quadratic_spread)
        least = next(term for term in ranked if term in involved)
        raise HardlyVariesError(
            f"under this noise the records do not tell {', '.join(involved)} apart",
            *involved,
            left_out=f"leave one of them out, {least} to begin with",
        )
    if quadratic_spread is None:
        return
    inverse = np.linalg.inv(correlations)
    directions = inverse / np.diag(inverse) / scale[:, None]
    left, noise = 1 / np.diag(inverse), np.sqrt(np.maximum(quadratic_spread(directions), 0.0))
    worst = int(np.argmin(left - _CLEAR * noise))
    if left[worst] >= _CLEAR * noise[worst]:
        return
    ranked = _refuse_what_hardly_varies(terms, gram, quadratic_spread)
    term = terms[worst] if terms[worst] != INTERCEPT.term else ranked[0]
    raise _little_known(term, "the records do not tell that it varies beyond what the other covariates explain")


def _refuse_what_hardly_varies(
    terms: Sequence[str], gram: Array, quadratic_spread: Callable[[Array], Array]
) -> list[str]:
    """Refuse a covariate that varies no more than its noise, whatever others do; else rank all, least clear first."""
    covariates = [j for j, term in enumerate(terms) if term != INTERCEPT.term]
    directions = np.eye(len(terms))[:, covariates]
    if len(covariates) < len(terms):
        constant = terms.index(INTERCEPT.term)
        directions[constant] = -gram[constant, covariates] / gram[constant, constant]
    left = np.einsum("ij,ik,kj->j", directions, gram, directions)
    noise = np.sqrt(np.maximum(quadratic_spread(directions), 0.0))
    told = np.divide(left, noise, out=np.full(len(left), np.inf), where=noise > 0)
    ranked = [terms[covariates[i]] for i in np.argsort(told, kind="stable")]
    if told.min() < _CLEAR:
        raise _little_known(ranked[0], "the records do not tell how much it varies")
    return ranked
