"""Noise on a model: several draws of it, of which the one that tells the classes apart best is released.

What noise costs a classifier varies much from draw to draw. Which of a few draws was the best says next to nothing of a
record where draws are good or bad for many records at once; where they are not, fewer draws compete.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.arrays import Array
from sfumato.owner.resample.model import SCALE_RECORDS, Model, floored, noise_shape, power
from sfumato.randomness import Source, normals

#: Draws of the noise that compete, at most.
CANDIDATES = 32
#: Cells of their covariances: of wide tables fewer draws compete, lest time and memory grow.
_CELLS = 1 << 17
#: The least eigenvalue of a blurred covariance, in squared units of the columns.
_FLOOR = 0.02
#: What the choice may add to a squared distance between in and out; an AUC of .55 is .032.
_CHOICE = 0.01


def blurred(model: Model, strength: float, src: Source, candidates: int | None = None) -> Model:
    r"""The model with noise of strength t in the shape G = W^(1/2), scaled to the trace of W: the best of several.

        m_c += G^(1/2) e sqrt(t / n_c),        W += G^(1/2) S G^(1/2) sqrt(k t / N)

    with e standard normal, S symmetric normal (variance 1 on the diagonal, 1/2 beside it), and k the form's ``wide``.
    The best draw is the one by which the records are most probably of their own classes.
    """
    C, d = model.means.shape
    draws = candidates or min(CANDIDATES, max(_CELLS // max(d * d, 1), 1)) if strength > 0 and C > 1 else 1
    width = np.sqrt(strength / model.sizes)[:, None]
    half = power(noise_shape(model.covariance), 0.5)
    means = model.means + model.scales * (normals(src, draws, C, d) @ half) * width
    covariances = _covariances(model, strength, draws, src)
    scales = np.tile(model.scales, (draws, 1, 1))
    if model.form.scaled:
        # The logarithm of a deviation is known to 1 / (2 n): noise of twice t in that unit, then drawn to 1.
        said = np.log(model.scales) + width * normals(src, draws, C, d)
        scales = np.exp(said / (1 + 2 * SCALE_RECORDS * width**2))
    best = 0
    if draws > 1:
        told = certainties(model, means, covariances, scales)
        best = int(np.argmax(told.mean(axis=1)[: contestants(told)]))
    return replace(
        model, means=means[best], covariance=covariances[best], scales=scales[best], residuals=np.empty((0, d))
    )


def certainties(model: Model, means: Array, covariances: Array, scales: Array) -> Array:
    """The probability of each record's own class by several blurred moments, with covariances and without, averaged.

    Classes of one covariance are told apart by a linear function, x' W^-1 m_c - m_c' W^-1 m_c / 2, which is quick. Own
    scales of the classes need the quadratic one.
    """
    Z = model.means[model.own] + model.scales[model.own] * model.residuals
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    shares = np.log(model.sizes)
    told = np.zeros((len(means), len(Z)))
    for each in (np.linalg.inv(covariances), np.eye(len(model.covariance)) / variances[:, None, :]):
        for k, inverse in enumerate(each):
            if model.form.scaled:
                gaps = (Z - means[k][:, None]) / scales[k][:, None]
                depth = -((gaps @ inverse) * gaps).sum(axis=2) / 2 - np.log(scales[k]).sum(axis=1)[:, None]
            else:
                towards = inverse @ means[k].T
                depth = (Z @ towards - (means[k].T * towards).sum(axis=0) / 2).T
            logs = np.exp(depth - depth.max(axis=0) + shares[:, None])
            told[k] += logs[model.own, np.arange(len(Z))] / logs.sum(axis=0)
    return told / 2


def contestants(told: Array) -> int:
    r"""How many draws may compete, from what each (line) tells of each of n records (column).

    The best of K draws is about sqrt(2 log K) deviations above the mean. Of that a record's own voice is the part
    var(p_i) / (n var(p)), where p_i is its certainty and p the mean of all. In deviations of p_i this is the distance

        d_i^2 = 2 log K var(p_i) / (n^2 var(p)),

    small where draws are good or bad for many records at once, and 2 log K / n where labels are mere chance. K is the
    greatest number for which the mean of d_i^2 is within ``_CHOICE``.
    """
    alone, all_together = told.var(axis=0).mean(), told.mean(axis=1).var()
    own = alone / max(told.shape[1] ** 2 * all_together, 1e-300)
    return int(np.clip(np.exp(min(_CHOICE / (2 * max(own, 1e-300)), 50.0)), 1, len(told)))


def _covariances(model: Model, strength: float, draws: int, src: Source) -> Array:
    """Several draws of the noisy covariance: floored, drawn to its diagonal as far as noise says more, trace restored.

    The diagonal is that of the noise before eigenvalues are floored. Afterwards it would be a mean of many eigenvalues,
    in which most of the noise is gone, and show the units of the columns at any strength.
    """
    W, d = model.covariance, len(model.covariance)
    noise = noise_shape(W)
    variance = model.form.wide * strength / int(model.sizes.sum())
    if model.form.diagonal:
        spread = np.diag(W) + np.sqrt(variance) * np.diag(noise) * normals(src, draws, d)
        found, share = np.zeros((draws, d, d)), 1.0
    else:
        half, e = power(noise, 0.5), normals(src, draws, d, d)
        noisy = W + np.sqrt(variance) * half @ ((e + np.swapaxes(e, 1, 2)) / 2) @ half
        spread = np.diagonal(noisy, axis1=1, axis2=2)
        found, share = floored(noisy, _FLOOR), (d + 1) * variance / (1 + (d + 1) * variance)
    found = (1 - share) * found + share * np.eye(d) * np.maximum(spread, _FLOOR)[:, None, :]
    total = np.trace(found, axis1=1, axis2=2)
    return np.asarray(found * (np.trace(W) / np.maximum(total, 1e-12))[:, None, None])
