r"""Slopes so steep that the noise does not tell how steep they are.

Where a covariate nearly tells the response, a steeper slope changes the probabilities of hardly any record. The scores
then bend: at a limit z standard errors away they refuse by less than z, and much steeper slopes fit as well. Such a
limit is open. Asked are the scores along the line from the coefficients to the limit, of the coefficient itself,

    T = a U / sqrt(a V aᵀ),        a a row of H⁻¹, U the sum of the scores, V its covariance

where the covariates explain most of what moves a record, Var(xᵀβ) / (Var(xᵀβ) + π²/3), McKelvey and Zavoina (1975).
A value that few hold explains little of all records, and may still tell the response of these: it is asked as if half
of the records held it. And its limit is open where the scores do not refuse, at z, that all its holders answer alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sfumato.arrays import Array
from sfumato.learn.regression.design_columns import INTERCEPT, Column
from sfumato.learn.regression.newton import Root
from sfumato.learn.regression.problem import Open, Unbiased

_Z = 1.96
#: Set on aircraft of which the mass nearly tells the number of engines (tests/unit/learn/test_regression.py).
_EXPLAINED = 0.5
_REFUSED = 0.7  # of z
_HALF = 0.25  # the variance of a value that half of the records hold
_SURE = 30.0  # the standard deviation of log odds beyond which every response would be certain


def open_limits(
    beta: Array,
    cov: Array,
    inverse: Array,
    position: Array,
    columns: Sequence[Column],
    unbiased: Unbiased,
    possible: Callable[[Array], bool],
) -> Open:
    """Of which coefficients the lower and the upper limits are open; ``position`` is the covariance of x."""
    alone = np.zeros(len(beta))
    alone[: len(columns)] = [_HALF if one.names and np.isin(one.table, (0, 1)).all() else 0.0 for one in columns]
    sd = np.sqrt(np.maximum(np.diag(cov), 1e-300))
    sides = np.zeros((2, len(beta)), dtype=np.bool_)
    for j in range(len(beta)):
        for side, sign in enumerate((-1.0, 1.0)):
            limit = beta + sign * _Z * cov[:, j] / sd[j]
            certain = np.where(np.arange(len(beta)) == j, sign * _SURE, beta)
            if alone[j] and _refused(certain, inverse[j], -sign, unbiased, possible) < _Z:
                sides[side, j] = True
                continue
            moved = max(float(limit @ position @ limit), limit[j] ** 2 * alone[j])
            if moved > _EXPLAINED * (moved + np.pi**2 / 3):
                sides[side, j] = _refused(limit, inverse[j], -sign, unbiased, possible) < _REFUSED * _Z
    return sides[0], sides[1]


def _refused(beta: Array, row: Array, sign: float, unbiased: Unbiased, possible: Callable[[Array], bool]) -> float:
    """By how many standard errors the scores of a coefficient pull back from there; 0 where nobody can be."""
    if not possible(beta):
        return 0.0
    total, noise = unbiased(beta)
    return float(sign * (row @ total) / np.sqrt(max(float(row @ noise @ row), 1e-300)))


def finite(root: Root, position: Array) -> Root:
    """A root, or none: scores of certain responses are 0 at coefficients without end, whatever the records say."""
    return root._replace(converged=root.converged and float(root.beta @ position @ root.beta) < _SURE**2)


def positions(terms: Sequence[str], gram: Array, total: float, ends: int) -> Array:
    """The covariance of x over the records, from Σ x xᵀ; ``ends`` of levels stand in place of the constant, last."""
    second = gram / total
    if INTERCEPT.term in terms:
        at = list(terms).index(INTERCEPT.term)
        second = second - np.outer(second[at], second[at])
        second = np.delete(np.delete(second, at, 0), at, 1) if ends else second
    return np.pad(second, (0, ends))
