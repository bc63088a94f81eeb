"""Shares without the peaks that noise makes: the largest of forty noisy shares is mostly noise, and no commonest value.

What a guess gains is a sum of maxima over the shares. Maxima of noisy shares are too large on average, and the more so
the more values there are. So each share is drawn to what the others, or a model, make likely.
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.simplex import project

#: Attributes of fewer values are left as they were estimated: their shares stand far above the noise.
SHRINK_FROM = 10
_GRID, _ROUNDS = 300, 100


def by_each_other(shares: Array, variance: Array) -> Array:
    r"""The mean of every share given its estimate, where what shares there are is learned from all estimates.

        w maximises  Σ_i log Σ_g w_g φ((p_i - g) / s_i),    E[p_i] = Σ_g g w_g φ((p_i - g) / s_i) / Σ_g w_g φ(...)

    with p the unbiased shares, s their standard deviations, g a grid from 0 (Kiefer and Wolfowitz 1956; Jiang and
    Zhang 2009). Nothing is said of how shares are distributed: one large share stays where it is.

    >>> noisy = 1 / 40 + np.array([0.02, -0.02] * 20)
    >>> noisy.max(), bool(by_each_other(noisy, np.full(40, 0.02**2)).max() < 0.03)
    (np.float64(0.045), True)
    """
    top = max(float(shares.max()), 1 / len(shares))
    grid = np.linspace(0.0, top, _GRID)
    # what is known more exactly than the grid is fine would have no point of it near; the nearest one has exponent 0
    sd = np.maximum(np.sqrt(np.maximum(variance, 0.0)), top / (2 * _GRID))
    distance = ((shares[:, None] - grid) / sd[:, None]) ** 2 / 2
    likely = np.exp(distance.min(axis=1, keepdims=True) - distance)
    weights = np.full(_GRID, 1 / _GRID)
    for _ in range(_ROUNDS):
        weights = (likely * (weights / (likely @ weights)[:, None])).mean(axis=0)
    posterior = likely * weights
    posterior /= posterior.sum(axis=1, keepdims=True)
    mean = posterior @ grid
    spread = posterior @ grid**2 - mean**2
    # the shares sum to 1: those that are known least give way
    out = np.maximum(mean + (1 - mean.sum()) * spread / max(float(spread.sum()), 1e-300), 0.0)
    out = np.where(variance > 0, out, np.maximum(shares, 0.0))  # combinations that the channel rules out
    return np.asarray(out / out.sum())


def toward(shares: Array, covariance: Array, target: Array) -> Array:
    r"""Shares drawn to those of a model, the more the less their distance from it exceeds what noise explains.

        t + c (p - t),    c = 1 - (tr V - 2 λ) / |p - t|²,  no less than 0 and no more than 1

    with p the unbiased shares, V their covariance, λ its largest eigenvalue (Bock 1975).
    """
    distance = shares - target
    squared = float(distance @ distance)
    excess = float(np.trace(covariance)) - 2 * float(np.linalg.eigvalsh(covariance)[-1])
    kept = min(max(1 - excess / squared, 0.0), 1.0) if squared > 0 else 1.0
    return np.asarray(project(target + kept * distance, 1.0))
