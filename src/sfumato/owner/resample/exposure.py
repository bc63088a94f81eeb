"""How well members can be told from strangers by a blurred model, in closed form: no shadow release is drawn.

A record moves the mean of its class by e / n_c and the covariance by (e e' - W) / N. The attacker sees these through
the noise of the release, the sampling of its rows, and his ignorance of the other members. With all three normal, a
record's distance d between "in" and "out" is a quadratic form, and the AUC a mean over pairs of records.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Array, Flags
from sfumato.owner.resample.model import Model

#: The attacker's ignorance of the others, in units of their sampling: members are half of the pool that he knows.
IGNORANCE = 0.5
#: Records of which all pairs are taken.
_PAIRS = 400


@dataclass(frozen=True)
class Sight:
    """How precisely the moments of a release are seen, through noise, sampling of rows, and ignorance of the others.

    In the eigenvectors (``axes``) of W and G, whose eigenvalues are w (``size``) and g, with c = 1/2 + 1 / rows:

        means 1 / (c w_j + t g_j),        moments 1 / (2 c w_j w_k + k t g_j g_k),        scales 1 / (c / 2 + t)

    each in units of one over the number of records behind the moment.
    """

    size: Array
    axes: Array
    means: Array
    moments: Array
    scales: float

    @classmethod
    def of(cls, model: Model, strength: float, rows: float) -> Sight:
        """Of a model that is blurred so strongly, and of which ``rows`` rows are drawn for each record."""
        c = IGNORANCE + 1 / rows
        size, axes = np.linalg.eigh(model.covariance)
        size = np.maximum(size, 1e-9)
        noise = np.sqrt(size)
        noise = noise * (size.sum() / max(float(noise.sum()), 1e-12))
        moments = 1 / (2 * c * np.outer(size, size) + model.form.wide * strength * np.outer(noise, noise))
        return cls(size, axes, 1 / (c * size + strength * noise), moments, 1 / (c / 2 + strength))


def distances(model: Model, strength: float, rows: float) -> Array:
    r"""Squared distance between in and out of every record, when ``rows`` rows are drawn for each.

        d_i^2 = e' (c W + t G)^-1 e / n_c  +  sum_jk S_jk^2 / (2 c w_j w_k + k t g_j g_k) / N,    S = e e' - W

    with the precisions of ``Sight``. Class scales add sum_j ((e_j^2 / w_jj - 1) / 2)^2 / (c / 2 + t) / n_c.
    """
    seen = Sight.of(model, strength, rows)
    squares = (model.residuals @ seen.axes) ** 2
    near = 1 / model.sizes[model.own]
    out = squares @ seen.means * near
    n, straight = int(model.sizes.sum()), np.diag(seen.moments)
    if model.form.diagonal:
        out = out + ((squares - seen.size) ** 2 @ straight) / n
    else:
        cross = ((squares @ seen.moments) * squares).sum(axis=1) - 2 * squares @ (straight * seen.size)
        out = out + (cross + float(straight @ seen.size**2)) / n
    if model.form.scaled:
        out = out + (excess(model) ** 2).sum(axis=1) * seen.scales * near
    return np.asarray(out)


def excess(model: Model) -> Array:
    """By how much each record stretches the logarithm of the deviations of its class, times the number of records."""
    return np.asarray((model.residuals**2 / np.maximum(np.diag(model.covariance), 1e-9) - 1) / 2)


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
