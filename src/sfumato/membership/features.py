"""What an attacker compares: how a release differs from the pool of candidates, in the direction of each candidate.

A record that was released pulled the means and covariances of the release towards itself, and may have rows near it.
Every feature is a number for each candidate that grows with such a pull. Columns are in units of the pool's deviation.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array, Index, Labels

#: Added to covariances before they are inverted, in squared deviations.
_RIDGE = 0.02
_METRICS = ("plain", "half-whitened", "whitened")
_MOMENTS = (
    *(f"class mean, {metric}" for metric in _METRICS),
    "mean over the classes",
    *(f"common covariance, {metric}" for metric in _METRICS),
    *(f"covariance of the class, {metric}" for metric in _METRICS),
    "common variances",
    "variances of the class",
    "skewness of the class",
    "depth in the common model",
    "depth in the model of the class",
    "certainty of the class, common model",
    "certainty of the class, model of each class",
)
_EXTREMES = ("highest values of the columns", "lowest values of the columns", "extremes that repeat")
_ROWS = ("nearest row", "nearest row, whitened", "five nearest rows", "density, narrow against wide")
#: Winsorised at these quantiles, a record pulls on the middle and the unit of a column: limits are often set from them.
_WINSOR = (0.05, 0.95)
#: A limit is taken to lie so many units from the middle; a unit is the deviation that a normal column would have.
_LIMIT, _NORMAL = 6.0, 1.187
#: The features by name, in the order in which they are computed.
FEATURES = _MOMENTS + _EXTREMES + _ROWS


class Filter(Protocol):
    """Features that a way to release has of its own: what shows best through its noise, seen in its own units."""

    @property
    def names(self) -> tuple[str, ...]:
        """What they are called."""

    def __call__(self, R: Array, r: Labels) -> Array:
        """One line for each name, one column for each candidate, from released rows R and labels r."""


class Pool:
    """The candidates as the attacker knows them: records, classes, and the moments that half of them would have."""

    def __init__(self, X: Array, y: Labels, own_filter: Filter | None = None) -> None:
        self._filter = own_filter
        self.names = FEATURES + (own_filter.names if own_filter else ())
        spread = np.where(np.ptp(X, axis=0) > 0, X.std(axis=0), 0.0)
        self.unit = np.where(spread > 0, spread, 1.0)
        self.Z = X / self.unit
        self.labels, self.own = np.unique(y, return_inverse=True)
        self._rows = [np.flatnonzero(self.own == c) for c in range(len(self.labels))]
        self.means = np.array([self.Z[rows].mean(axis=0) for rows in self._rows])
        self.E = self.Z - self.means[self.own]
        self._common = self.E.T @ self.E / len(X)
        self._each = np.array([_covariance(self.E[rows]) for rows in self._rows])
        self._cubes = np.clip(self.E, -4, 4) ** 3
        self._skew = np.array([self._cubes[rows].mean(axis=0) for rows in self._rows])
        self._middle, unit, inner = _winsorised(self.Z)
        wider = _LIMIT * _NORMAL / 2 * (inner**2 - 1)
        self._limit = _LIMIT * _NORMAL * unit
        self._edges = ((inner + wider) / unit, (inner - wider) / unit)
        size, axes = np.linalg.eigh(self._common + _RIDGE * np.eye(X.shape[1]))
        self._whiten = (axes / np.sqrt(size)) @ axes.T
        half = (axes / size**0.25) @ axes.T
        self._pulls = (self.E, self.E @ half @ half, self.E @ self._whiten @ self._whiten)

    def features(self, R: Array, r: Labels) -> Array:
        """One line for each of ``names``, one column for each candidate, from released rows R and labels r."""
        special = [self._filter(R, r)] if self._filter else []
        R = R / self.unit
        own = np.minimum(np.searchsorted(self.labels, r), len(self.labels) - 1)
        found = [R[(own == c) & (r == label)] for c, label in enumerate(self.labels)]
        return np.vstack([*self._moments(found), *self._extremes(np.vstack(found)), *self._near(found), *special])

    def _moments(self, found: list[Array]) -> list[Array]:
        n = np.array([len(part) for part in found])
        means = np.array(
            [part.mean(axis=0) if len(part) else known for part, known in zip(found, self.means, strict=True)]
        )
        gaps = [part - mean for part, mean in zip(found, means, strict=True)]
        each = np.array([_covariance(g) if len(g) > 1 else known for g, known in zip(gaps, self._each, strict=True)])
        common = sum(k * part for k, part in zip(n, each, strict=True)) / max(int(n.sum()), 1)
        shift = means - self.means
        wider, widths = common - self._common, each - self._each
        out = [(pull * shift[self.own]).sum(axis=1) for pull in self._pulls]
        out.append(self.E @ (shift * n[:, None]).sum(axis=0) / max(int(n.sum()), 1))
        out += [((pull @ wider) * pull).sum(axis=1) for pull in self._pulls]
        out += [self._by_class(lambda c, pull: ((pull @ widths[c]) * pull).sum(axis=1), pull) for pull in self._pulls]
        squares = self.E**2
        out.append(squares @ np.diag(wider))
        out.append((squares * np.diagonal(widths, axis1=1, axis2=2)[self.own]).sum(axis=1))
        skew = np.array(
            [(np.clip(g, -4, 4) ** 3).mean(axis=0) if len(g) else k for g, k in zip(gaps, self._skew, strict=True)]
        )
        out.append((self._cubes * (skew - self._skew)[self.own]).sum(axis=1))
        depths = [
            np.array([_depth(self.Z - mean, spread) for mean, spread in zip(means, spreads, strict=True)])
            for spreads in ([common] * len(n), each)
        ]
        everyone = np.arange(len(self.Z))
        out += [depth[self.own, everyone] for depth in depths]
        out += [self._certainty(depth / 2 + np.log(np.maximum(n, 1))[:, None]) for depth in depths]
        return out

    def _extremes(self, R: Array) -> list[Array]:
        """A limit at which rows were cut off is the highest or lowest value, and moves with the records behind it."""
        if len(R) < 2:
            return [np.zeros(len(self.Z))] * len(_EXTREMES)
        out, repeated = [], np.zeros(len(self.Z))
        for pull, sign in zip(self._edges, (1, -1), strict=True):
            end, next_to_it = -sign * np.partition(-sign * R, (0, 1), axis=0)[:2]
            away = sign * (end - self._middle)
            out.append(sign * (pull @ np.arcsinh(away)))
            repeated += sign * (pull @ np.where(end == next_to_it, away - self._limit, 0.0))
        return [*out, repeated]

    def _certainty(self, logs: Array) -> Array:
        """By how much the class of each candidate is likelier than the others together, as a logarithm."""
        everyone = np.arange(len(self.Z))
        known = logs[self.own, everyone]
        if len(logs) == 1:
            return np.zeros(len(known))
        logs = logs.copy()
        logs[self.own, everyone] = -np.inf
        return np.asarray(known - np.logaddexp.reduce(logs, axis=0))

    def _near(self, found: list[Array]) -> list[Array]:
        from scipy.spatial.distance import cdist

        out = np.full((len(_ROWS), len(self.Z)), -1e3)
        d = self.Z.shape[1]
        for rows, part in zip(self._rows, found, strict=True):
            if len(part) < 5:
                continue
            gaps = cdist(self.Z[rows], part)
            h = (4 / (d + 2)) ** (1 / (d + 4)) * len(part) ** (-1 / (d + 4))  # Scott's rule
            nearest = gaps.min(axis=1)
            out[0, rows] = -nearest
            out[1, rows] = -cdist(self.Z[rows] @ self._whiten, part @ self._whiten).min(axis=1)
            out[2, rows] = -np.partition(gaps, 4, axis=1)[:, :5].mean(axis=1)
            excess = nearest[:, None] ** 2 - gaps**2  # measured from the nearest row, lest everything underflow
            narrow, wide = (np.log(np.exp(excess / (2 * width**2)).sum(axis=1)) for width in (h / 2, 2 * h))
            out[3, rows] = narrow - wide - nearest**2 * (2 / h**2 - 1 / (8 * h**2))
        return list(out)

    def _by_class(self, of: Any, values: Array) -> Array:
        out = np.empty(len(values))
        for c, rows in enumerate(self._rows):
            out[rows] = of(c, values[rows])
        return out


def loneliest(X: Array, y: Labels, share: float = 0.1) -> NDArray[np.bool_]:
    """The records that lie farthest from their five nearest in their class, relative to what is usual there.

    A record that has no five others in its class is as lonely as can be.
    """
    from scipy.spatial import cKDTree

    spread = np.where(np.ptp(X, axis=0) > 0, X.std(axis=0), 1.0)
    scaled = X / spread
    alone = np.full(len(X), np.inf)
    for label in np.unique(y):
        rows: Index = np.flatnonzero(y == label)
        if len(rows) > 5:
            gaps = np.asarray(cKDTree(scaled[rows]).query(scaled[rows], k=6)[0])[:, 1:].mean(axis=1)
            alone[rows] = gaps / max(float(np.median(gaps)), 1e-12)
    return np.asarray(alone >= np.quantile(alone, 1 - share, method="higher"))


def _winsorised(Z: Array) -> tuple[Array, Array, Array]:
    """Middle and unit of the columns within the quantiles, and the records in them."""
    inner = np.clip(Z, *np.quantile(Z, _WINSOR, axis=0))
    middle, spread = inner.mean(axis=0), inner.std(axis=0)
    unit = np.where(spread > 1e-9, spread, 1.0)
    return middle, unit, (inner - middle) / unit


def _covariance(E: Array) -> Array:
    return np.asarray(E.T @ E / max(len(E), 1))


def _depth(away: Array, spread: Array) -> Array:
    inverse = np.linalg.inv(spread + _RIDGE * np.eye(len(spread)))
    return np.asarray(-((away @ inverse) * away).sum(axis=1) + np.linalg.slogdet(inverse)[1])
