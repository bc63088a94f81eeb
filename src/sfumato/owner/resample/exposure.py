"""How well members can be told from strangers by a blurred model, in closed form: no shadow release is drawn.

A record moves the mean of its class by e / n_c and the covariance by (e e' - W) / N. The attacker sees these through
the noise of the release, the sampling of its rows, and his ignorance of the other members. With all three normal, a
record's distance d between "in" and "out" is a quadratic form, and the AUC a mean over pairs of records.
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array, Flags
from sfumato.owner.resample.model import Model

#: The attacker's ignorance of the others, in units of their sampling: members are half of the pool that he knows.
IGNORANCE = 0.5
#: Records of which all pairs are taken.
_PAIRS = 400


def distances(model: Model, strength: float, rows: float) -> Array:
    r"""Squared distance between in and out of every record, when ``rows`` rows are drawn for each.

        d_i^2 = e' (c W + t G)^-1 e / n_c  +  sum_jk S_jk^2 / (2 c w_j w_k + k t g_j g_k) / N,    S = e e' - W

    in the eigenvectors of W and G, whose eigenvalues are w and g; c = 1/2 + 1 / rows. Class scales add
    sum_j ((e_j^2 / w_jj - 1) / 2)^2 / (c / 2 + t) / n_c.
    """
    c = IGNORANCE + 1 / rows
    size, axes = np.linalg.eigh(model.covariance)
    size = np.maximum(size, 1e-9)
    noise = np.sqrt(size)
    noise = noise * (size.sum() / max(float(noise.sum()), 1e-12))
    E = model.residuals @ axes
    near = 1 / model.sizes[model.own]
    out = (E**2 / (c * size + strength * noise)).sum(axis=1) * near
    n, wide = int(model.sizes.sum()), model.form.wide
    weight = 1 / (2 * c * np.outer(size, size) + wide * strength * np.outer(noise, noise))
    squares = E**2
    straight = np.diag(weight)
    if model.form.diagonal:
        out = out + ((squares - size) ** 2 @ straight) / n
    else:
        cross = ((squares @ weight) * squares).sum(axis=1) - 2 * squares @ (straight * size)
        out = out + (cross + float(straight @ size**2)) / n
    if model.form.scaled:
        excess = (model.residuals**2 / np.maximum(np.diag(model.covariance), 1e-9) - 1) / 2
        out = out + (excess**2).sum(axis=1) / (c / 2 + strength) * near
    return np.asarray(out)


def expected_auc(squared: Array) -> float:
    """The chance that a member i outranks a stranger j: the mean over pairs of Phi(sqrt(d_i^2 + d_j^2) / 2).

    >>> round(expected_auc(np.full(9, 0.0632)), 3), expected_auc(np.zeros(3))
    (0.571, 0.5)
    """
    from scipy.special import ndtr

    if not len(squared):
        return 0.5
    some = squared if len(squared) <= _PAIRS else np.quantile(squared, (np.arange(_PAIRS) + 0.5) / _PAIRS)
    return float(np.mean(ndtr(np.sqrt(some[:, None] + some) / 2)))


def least_strength(model: Model, rows: float, lonely: Flags, bound: float, outlier_bound: float, most: float) -> float:
    """The least noise at which the expected AUCs of all records and of the lonely ones are within their bounds."""

    def holds(strength: float) -> bool:
        found = distances(model, strength, rows)
        return expected_auc(found) <= bound and expected_auc(found[lonely]) <= outlier_bound

    if holds(0.0):
        return 0.0
    if not holds(most):
        return most
    low, high = 1e-3, most
    while high > 1.02 * low:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
