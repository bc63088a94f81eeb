"""A normal model of a labelled table, made to be blurred: clipped records, class means, one pooled covariance.

What a release discloses of its members it discloses through the moments of its rows, above all through the covariance,
where the influence of a record grows with its squared distance. So the records are clipped, the classes share one
covariance, and noise is added to both before rows are drawn. No row starts from a record.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Array, Index, Labels
from sfumato.owner.resample.columns import Columns
from sfumato.randomness import Source, normals

#: A record is shortened to this many times the root-mean-square length of all.
RADIUS = 1.5
#: Rounds of clipping and refitting; the moments have settled by then.
_ROUNDS = 4
#: Class scales are drawn to 1 as if so many records more had said so.
SCALE_RECORDS = 10.0


@dataclass(frozen=True)
class Form:
    """Which model is blurred, and how the noise is split: a public choice, part of the method's description.

    ``wide`` is the variance of the noise on the covariance in units of that on the means. ``diagonal`` leaves the
    covariances out. ``scaled`` gives each class its own column scales, and columns a power that makes them more nearly
    normal. ``one_unit`` measures all columns in one unit.
    """

    name: str
    wide: float = 4.0
    diagonal: bool = False
    scaled: bool = False
    one_unit: bool = False


#: The forms that are tried; on data of the papers and of scikit-learn each is the best somewhere.
FORMS = (
    Form("one covariance"),
    Form("one covariance, blurred more than the means", wide=32.0),
    Form("one covariance, columns in one unit", wide=32.0, one_unit=True),
    Form("variances only", diagonal=True),
    Form("one covariance, scales of each class, powers", scaled=True),
)


@dataclass(frozen=True)
class Model:
    """Class means and one pooled covariance of clipped records, in the units of the columns.

        x = m_c + s_c W^(1/2) e

    ``residuals`` are the clipped records around their means, in units of the class scales; a blurred model has none.
    """

    form: Form
    columns: Columns
    labels: Labels
    sizes: Index
    means: Array
    scales: Array
    covariance: Array
    residuals: Array
    own: Index

    @classmethod
    def fit(cls, X: Array, y: Labels, form: Form, src: Source) -> Model:
        """Clip, pool: four rounds of shortening the records and refitting means and covariance.

        The metric in which records are long is (W + W^(1/2)) / 2, between that of the model and that of the noise.
        """
        labels, own = np.unique(y, return_inverse=True)
        sizes = np.bincount(own)
        columns = Columns.fit(X, own, src, powers=form.scaled, one_unit=form.one_unit)
        Z = columns.forward(X)
        n, d = Z.shape
        means = _means(Z, own, sizes)
        scales = np.ones_like(means)
        residuals = Z - means[own]
        covariance = (residuals.T @ residuals / n + np.eye(d)) / 2
        for _ in range(_ROUNDS):
            if form.scaled:
                scales = _scales(Z - means[own], own, sizes)
            residuals = clip((Z - means[own]) / scales[own], covariance)
            shift = _means(residuals, own, sizes)
            means = means + shift * scales
            residuals = residuals - shift[own]
            covariance = _shrunk(residuals.T @ residuals / n, n)
            if form.diagonal:
                covariance = np.diag(np.diag(covariance))
            covariance = covariance + 1e-6 * np.eye(d)
        return cls(form, columns, labels, sizes, means, scales, covariance, residuals, own)

    def draw(self, label: object, rows: int, src: Source) -> Array:
        """Rows of one class, as the table has them."""
        c = int(np.flatnonzero(self.labels == label)[0])
        e = normals(src, rows, self.means.shape[1]) @ power(self.covariance, 0.5)
        return self.columns.back(self.means[c] + self.scales[c] * e)


def clip(residuals: Array, covariance: Array) -> Array:
    """Records shortened to ``RADIUS`` times the usual length in the metric (W + W^(1/2)) / 2 + .02 I."""
    metric = (covariance + power(covariance, 0.5)) / 2 + 0.02 * np.eye(len(covariance))
    inverse = np.linalg.inv(metric)
    usual = np.sqrt(np.trace(covariance @ inverse))
    length = np.sqrt(np.maximum(((residuals @ inverse) * residuals).sum(axis=1), 1e-300))
    return np.asarray(residuals * np.minimum(1, RADIUS * usual / length)[:, None])


def noise_shape(covariance: Array) -> Array:
    """G: the square root of W, scaled to its trace. Small axes get more noise than their share, large ones less."""
    shape = power(covariance, 0.5)
    return np.asarray(shape * (np.trace(covariance) / max(np.trace(shape), 1e-12)))


def power(matrix: Array, exponent: float) -> Array:
    """A power of a symmetric matrix; eigenvalues that rounding made negative count as 0."""
    size, axes = np.linalg.eigh(matrix)
    return np.asarray((axes * np.maximum(size, 1e-12) ** exponent) @ axes.T)


def floored(matrix: Array, least: float) -> Array:
    """The symmetric matrix, or each of several, with no eigenvalue below ``least``."""
    size, axes = np.linalg.eigh(matrix)
    return np.asarray((axes * np.maximum(size, least)[..., None, :]) @ np.swapaxes(axes, -1, -2))


def _shrunk(covariance: Array, n: float) -> Array:
    """Drawn to its diagonal, with the weight that d + 1 records would have beside n."""
    d = len(covariance)
    share = (d + 1) / (n + d + 1)
    return np.asarray((1 - share) * covariance + share * np.diag(np.diag(covariance)))


def _means(Z: Array, own: Index, sizes: Index) -> Array:
    out = np.zeros((len(sizes), Z.shape[1]))
    np.add.at(out, own, Z)
    return np.asarray(out / sizes[:, None])


def _scales(residuals: Array, own: Index, sizes: Index) -> Array:
    """Deviations of each class in units of the pooled ones, squares limited to 9 lest a record decide."""
    squares = _means(np.minimum(residuals**2, 9), own, sizes)
    pooled = sizes @ squares / sizes.sum()
    ratio = np.clip(squares / np.maximum(pooled, 1e-9), 0.05, 20)
    return np.asarray(np.exp((sizes / (sizes + SCALE_RECORDS))[:, None] * np.log(ratio) / 2))
