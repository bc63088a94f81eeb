"""Means, covariances and class shares of encoded features, corrected for the channels, from pair tables alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence import Evidence
from sfumato.learn.weighted_cells import Encoding
from sfumato.schema import Schema


@dataclass(frozen=True)
class Moments:
    """E[x xᵀ], E[x 1(c)] and Pr(c), and the typical standard deviation of a correlation."""

    second: Array  # features by features
    by_class: Array  # features by classes
    shares: Array
    noise: float

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
        return np.sqrt(np.maximum(own, 1e-6 * np.maximum(np.diag(self.second), 1e-12)))

    @property
    def within(self) -> Array:
        """Pooled within the classes."""
        means = self.by_class / np.maximum(self.shares, 1e-12)
        return np.asarray(self.second - (means * self.shares) @ means.T)

    @property
    def ridge(self) -> float:
        """What the noise adds to the spectrum: sd times the root of the dimension (empirical Bayes)."""
        return self.noise * float(np.sqrt(len(self.second)))


def moments(source: Evidence, encoding: Encoding, target: str, schema: Schema) -> Moments:
    """Corrected moments: linear in the pair counts, so unbiased where those are."""
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
    found = Moments(second, by_class, prior / prior.sum(), 0.0)
    relative = [variance / (found.scale[i] * found.scale[j]) ** 2 for (i, j), variance in spread.items()]
    return replace(found, noise=float(np.sqrt(np.mean(relative))) if relative else 0.0)


def lda(found: Moments, ridge: float) -> Array:
    """Linear discriminants, a row per class: log share - ½ μᵀS⁻¹μ + μᵀS⁻¹x, constant last."""
    S = _positive(found.within, ridge, found.scale)
    means = found.by_class / np.maximum(found.shares, 1e-12)
    slopes = np.linalg.solve(S, means).T
    constant = np.log(np.maximum(found.shares, 1e-12)) - 0.5 * np.einsum("ij,ji->i", slopes, means)
    return np.concatenate([slopes, constant[:, None]], axis=1)


def least_squares(found: Moments, ridge: float) -> Array:
    """The regression of every class indicator on the features, a row per class, constant last."""
    S = _positive(found.covariance, ridge, found.scale)
    slopes = np.linalg.solve(S, found.by_class - np.outer(found.mean, found.shares)).T
    constant = found.shares - slopes @ found.mean
    return np.concatenate([slopes, constant[:, None]], axis=1)


def _positive(S: Array, ridge: float, scale: Array) -> Array:
    """A covariance again, where noise has made eigenvalues negative: they are lifted to the ridge, unit by unit."""
    values, vectors = np.linalg.eigh((S + S.T) / 2 / np.outer(scale, scale))
    floor = max(ridge, 1e-9 * float(values.max(initial=1.0)))
    lifted = np.where(values < floor, floor, values) + ridge
    return np.asarray((vectors * lifted) @ vectors.T) * np.outer(scale, scale)
