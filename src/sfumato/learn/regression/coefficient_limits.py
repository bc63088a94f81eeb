"""Limits and p-values of coefficients, from their errors and from what counts tell of the ends of levels."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array
from sfumato.learn.regression.level_ends import LevelEnds
from sfumato.learn.regression.problem import Open


def limits(
    coef: Array, sd: Array, freedom: float, ends: LevelEnds | None, steep: Open | None, level: float
) -> tuple[Array, Array]:
    """Limits that hold each coefficient with the given probability; the ends of levels, if any, stand last."""
    from scipy.stats import norm, t

    at = (1 + level) / 2
    z = float(norm.ppf(at) if np.isinf(freedom) else t.ppf(at, freedom))
    low, high = coef - z * sd, coef + z * sd
    if ends is not None:
        last = slice(len(coef) - len(ends.below), None)
        low[last], high[last] = ends.limits(coef[last], sd[last], z)
    if steep is not None:
        low[steep[0]], high[steep[1]] = -np.inf, np.inf
    return low, high


def distances(coef: Array, sd: Array, ends: LevelEnds | None) -> Array:
    """How many standard errors each coefficient is from 0; of an end of a level, at how many its limits reach 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.asarray(coef / sd)
    if ends is not None:
        last = slice(len(coef) - len(ends.below), None)
        z[last] = np.sign(z[last]) * ends.distance(coef[last], sd[last])
    return z


def p_values(z: Array, freedom: float) -> Array:
    """How probable so large a distance from 0 would be by chance."""
    from scipy.stats import norm, t

    away = np.abs(z)
    return np.asarray(2 * (norm.sf(away) if np.isinf(freedom) else t.sf(away, freedom)))
