"""Means, covariances and class shares of encoded features, corrected for the channels, from pair tables alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.evidence import Evidence
from sfumato.learn.weighted_cells import Encoding
from sfumato.schema import Schema

_CLEARLY = 2.0  # standard errors
_LEAST_LEFT = 0.1  # of the weights along an axis: what a ridge leaves less of is not told apart


@dataclass(frozen=True)
class FeatureMoments:
    """E[x xᵀ], E[x 1(c)] and Pr(c), and the typical standard deviation of a correlation.

    x is the distance of a feature from its ``centre``, about its mean: tables of different pairs agree on a mean only
    roughly, and of numbers far from 0, as years are, that would be all that a product of features tells.

    ``told`` marks the features whose variance is clearly above its own noise. Nothing is known of the others, such as
    the indicator of a value that hardly anybody holds: they get no weight.
    """

    second: Array  # features by features
    by_class: Array  # features by classes
    shares: Array
    centre: Array
    noise: float
    told: NDArray[np.bool_]

    @property
    def mean(self) -> Array:
        return np.asarray(self.by_class.sum(axis=1))

    @property
    def covariance(self) -> Array:
        """Of all records together."""
        return np.asarray(self.second - np.outer(self.mean, self.mean))

    @property
    def scale(self) -> Array:
        """The standard deviation of each feature, so that the ridge does not depend on units."""
        own = np.diag(self.covariance)
        return np.sqrt(np.maximum(own, 1e-6 * np.maximum(np.diag(self.second) + self.centre**2, 1e-12)))

    @property
    def within(self) -> Array:
        """Pooled within the classes."""
        means = self.by_class / np.maximum(self.shares, 1e-12)
        return np.asarray(self.second - (means * self.shares) @ means.T)

    @property
    def ridge(self) -> float:
        """What the noise adds to the spectrum: sd times the root of the dimension (empirical Bayes)."""
        return self.noise * float(np.sqrt(len(self.second)))


def told_features(source: Evidence, encoding: Encoding) -> NDArray[np.bool_]:
    """Which features vary clearly beyond the noise of their variance; without randomization all of them."""
    if source.exact:
        return np.ones(len(encoding.columns), dtype=np.bool_)
    return np.concatenate([_varies(source, name, encoding.table(i)) for i, name in enumerate(encoding.names)])


def _varies(source: Evidence, name: str, table: Array) -> NDArray[np.bool_]:
    """Whether the variance of each feature that an attribute makes is clear of its own standard error."""
    own = source.counts([name], quiet=True)
    squares = (table - table.T @ own.value / own.n) ** 2
    noise = np.sqrt(np.maximum(np.einsum("xf,xy,yf->f", squares, own.cov, squares), 0.0))
    return np.asarray(squares.T @ own.value > _CLEARLY * noise)


def moments(
    source: Evidence, encoding: Encoding, target: str, schema: Schema, told: NDArray[np.bool_]
) -> FeatureMoments:
    """Corrected moments: linear in the pair counts, so unbiased where those are; ``told`` is of ``told_features``."""
    names = list(encoding.names)
    tables = [encoding.table(i) for i in range(len(names))]
    ends = np.cumsum([0, *(table.shape[1] for table in tables)])
    second = np.zeros((ends[-1], ends[-1]))
    by_class = np.zeros((ends[-1], schema[target].size))
    spread: dict[tuple[int, int], float] = {}
    pairs = list(combinations(range(len(names)), 2))
    singles = source.counts_many([[name, target] for name in names], quiet=True)
    crossed = source.counts_many([[names[i], names[j]] for i, j in pairs], quiet=True)
    shares = source.counts([target], quiet=True)
    centres = [
        table.T @ own.table.sum(axis=1) / max(float(own.table.sum()), 1e-12)
        for own, table in zip(singles, tables, strict=True)
    ]
    tables = [table - centre for table, centre in zip(tables, centres, strict=True)]
    for i, (own, table) in enumerate(zip(singles, tables, strict=True)):
        counts = own.table / own.n
        by_class[ends[i] : ends[i + 1]] = table.T @ counts
        second[ends[i] : ends[i + 1], ends[i] : ends[i + 1]] = (table.T * counts.sum(axis=1)) @ table
    for (i, j), pair in zip(pairs, crossed, strict=True):
        block = tables[i].T @ (pair.table / pair.n) @ tables[j]
        second[ends[i] : ends[i + 1], ends[j] : ends[j + 1]] = block
        second[ends[j] : ends[j + 1], ends[i] : ends[i + 1]] = block.T
        if not source.exact:
            weights = np.kron(tables[i][:, 0] - tables[i][:, 0].mean(), tables[j][:, 0] - tables[j][:, 0].mean())
            spread[ends[i], ends[j]] = float(weights @ pair.cov @ weights) / pair.n**2
    prior = np.maximum(shares.value, 0.0)
    centre = np.concatenate(centres)
    found = FeatureMoments(second, by_class, prior / prior.sum(), centre, 0.0, told)
    relative = [
        variance / (found.scale[i] * found.scale[j]) ** 2
        for (i, j), variance in spread.items()
        if found.told[i] and found.told[j]
    ]
    return replace(found, noise=float(np.sqrt(np.mean(relative))) if relative else 0.0)


def lda(found: FeatureMoments, ridge: float) -> Array:
    """Linear discriminants, a row per class: log share - ½ μᵀS⁻¹μ + μᵀS⁻¹x, constant last."""
    means = found.by_class / np.maximum(found.shares, 1e-12)
    slopes = _solved(found.within, means, ridge, found).T
    constant = np.log(np.maximum(found.shares, 1e-12)) - 0.5 * np.einsum("ij,ji->i", slopes, means)
    constant -= slopes @ found.centre
    return np.concatenate([slopes, constant[:, None]], axis=1)


def least_squares(found: FeatureMoments, ridge: float) -> Array:
    """The regression of every class indicator on the features, a row per class, constant last."""
    slopes = _solved(found.covariance, found.by_class - np.outer(found.mean, found.shares), ridge, found).T
    constant = found.shares - slopes @ (found.mean + found.centre)
    return np.concatenate([slopes, constant[:, None]], axis=1)


def undone(S: Array, ridge: float, found: FeatureMoments) -> Array:
    """What undoes the ridge, in standard deviations of the features: a division by what it leaves along each axis of S.

    Where features are alike, S hardly varies along their difference, and the ridge draws their weights together.
    """
    out = np.eye(len(S))
    kept = np.flatnonzero(found.told)
    if len(kept):
        values, vectors, lifted = _lifted(S[np.ix_(kept, kept)], ridge, found.scale[kept])
        out[np.ix_(kept, kept)] = (vectors / np.clip(values / lifted, _LEAST_LEFT, 1.0)) @ vectors.T
    return out


def _solved(S: Array, sides: Array, ridge: float, found: FeatureMoments) -> Array:
    """S⁻¹ sides over the features that are told, 0 for the others."""
    out = np.zeros_like(sides)
    kept = np.flatnonzero(found.told)
    if len(kept):
        out[kept] = np.linalg.solve(_positive(S[np.ix_(kept, kept)], ridge, found.scale[kept]), sides[kept])
    return out


def _positive(S: Array, ridge: float, scale: Array) -> Array:
    """A covariance again, where noise has made eigenvalues negative."""
    _, vectors, lifted = _lifted(S, ridge, scale)
    return np.asarray((vectors * lifted) @ vectors.T) * np.outer(scale, scale)


def _lifted(S: Array, ridge: float, scale: Array) -> tuple[Array, Array, Array]:
    """Eigenvalues and -vectors, unit by unit, and the values lifted: to the ridge at least, and by it."""
    values, vectors = np.linalg.eigh((S + S.T) / 2 / np.outer(scale, scale))
    floor = max(ridge, 1e-9 * float(values.max(initial=1.0)))
    return values, vectors, np.where(values < floor, floor, values) + ridge
