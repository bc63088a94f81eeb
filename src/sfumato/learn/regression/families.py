"""What a record adds to the estimating equations, by family: the score of its likelihood.

gaussian:  E[y | x] = xᵀβ
logistic:  Pr(y = 1 | x) = F(xᵀβ),                      F(t) = 1 / (1 + exp(-t))
ordinal:   Pr(y ≤ k | x) = F(τ_k - xᵀβ),                proportional odds (McCullagh 1980)
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from sfumato.arrays import Array
from sfumato.domains import Domain
from sfumato.errors import EstimationError


def family_of(domain: Domain, event: bool = False) -> str:
    """What fits the kind of the response: numbers have means, two values odds, ordered ones limits between them.

    ``event`` says that the odds of one value are asked for.
    """
    answers = domain.size - domain.nullable
    if event or (domain.kind != "numeric" and answers == 2):
        return "logistic"
    return "gaussian" if domain.kind == "numeric" else "ordinal" if domain.ordered else "logistic"


def curve(t: Array) -> Array:
    """F, also far from 0 to all digits."""
    return np.asarray(np.exp(-np.logaddexp(0.0, -t)))


class Family(ABC):
    """The score of every cell, and minus its derivative summed over cells with weights."""

    @abstractmethod
    def start(self, X: Array, y: Array, weights: Array) -> Array:
        """Coefficients that explain the classes' shares and nothing else."""

    def possible(self, beta: Array) -> bool:
        """Whether there are such coefficients."""
        return True

    @abstractmethod
    def score(self, beta: Array, X: Array, y: Array) -> Array | None:
        """ψ, a row per cell; None where the coefficients are impossible."""

    @abstractmethod
    def information(self, beta: Array, X: Array, y: Array, weights: Array) -> Array:
        """-Σ w ∂ψ/∂β."""

    @abstractmethod
    def proba(self, beta: Array, X: Array) -> Array:
        """Pr(class), a row per record."""


class Gaussian(Family):
    """Numbers; least squares."""

    def start(self, X: Array, y: Array, weights: Array) -> Array:
        return np.zeros(X.shape[1])

    def score(self, beta: Array, X: Array, y: Array) -> Array:
        return np.asarray(X * (y - X @ beta)[:, None])

    def information(self, beta: Array, X: Array, y: Array, weights: Array) -> Array:
        return np.asarray((X * weights[:, None]).T @ X)

    def proba(self, beta: Array, X: Array) -> Array:
        raise EstimationError("a gaussian regression has no classes: ask predict for its mean")


class Logistic(Family):
    """Two classes, coded 0 and 1; X holds the constant."""

    def start(self, X: Array, y: Array, weights: Array) -> Array:
        return np.zeros(X.shape[1])

    def score(self, beta: Array, X: Array, y: Array) -> Array:
        return np.asarray(X * (y - curve(X @ beta))[:, None])

    def information(self, beta: Array, X: Array, y: Array, weights: Array) -> Array:
        p = curve(X @ beta)
        return np.asarray((X * (weights * p * (1 - p))[:, None]).T @ X)

    def proba(self, beta: Array, X: Array) -> Array:
        p = curve(X @ beta)
        return np.stack([1 - p, p], axis=1)


class Ordinal(Family):
    """Ordered classes 0, ..., K-1; X holds no constant, and the K-1 limits between classes follow the coefficients."""

    def __init__(self, classes: int) -> None:
        self.classes = classes

    def start(self, X: Array, y: Array, weights: Array) -> Array:
        held = np.maximum(
            np.bincount(y.astype(np.int64), weights=weights, minlength=self.classes), 1e-3 * abs(weights.sum())
        )
        below = np.cumsum(held)[:-1] / held.sum()
        return np.concatenate([np.zeros(X.shape[1]), np.log(below / (1 - below))])

    def possible(self, beta: Array) -> bool:
        return bool((np.diff(beta[len(beta) - self.classes + 1 :]) > 0).all())

    def score(self, beta: Array, X: Array, y: Array) -> Array | None:
        p, y = X.shape[1], y.astype(np.int64)
        if not self.possible(beta):
            return None
        upper, lower, share = self._densities(beta, X, y)
        out = np.zeros((len(y), len(beta)))
        out[:, :p] = -X * ((upper - lower) / share)[:, None]
        rows = np.arange(len(y))
        inner = y < self.classes - 1
        out[rows[inner], p + y[inner]] += (upper / share)[inner]
        inner = y > 0
        out[rows[inner], p + y[inner] - 1] -= (lower / share)[inner]
        return out

    def information(self, beta: Array, X: Array, y: Array, weights: Array) -> Array:
        p, count, y = X.shape[1], len(beta), y.astype(np.int64)
        score = self.score(beta, X, y)
        out = np.zeros((count, count)) if score is None else (score * weights[:, None]).T @ score
        limits = np.concatenate([[-np.inf], beta[p:], [np.inf]])
        position = X @ beta[:p]
        _, _, share = self._densities(beta, X, y)
        for side, sign in ((1, 1.0), (0, -1.0)):  # the upper limit of each record's class, and the lower one
            F = curve(limits[y + side] - position)
            bend = sign * weights * F * (1 - F) * (1 - 2 * F) / share
            at = np.zeros((len(y), count))
            at[:, :p] = -X
            inner = (y + side > 0) & (y + side < self.classes)
            at[np.flatnonzero(inner), p + y[inner] + side - 1] = 1.0
            out -= (at * bend[:, None]).T @ at
        return out

    def proba(self, beta: Array, X: Array) -> Array:
        p = X.shape[1]
        below = curve(beta[p:] - (X @ beta[:p])[:, None])
        edge = np.zeros((len(X), 1))
        return np.diff(np.hstack([edge, below, edge + 1]), axis=1)

    def _densities(self, beta: Array, X: Array, y: Array) -> tuple[Array, Array, Array]:
        """F' at the upper and lower limit of each record's class, and Pr(that class)."""
        y = y.astype(np.int64)
        limits = np.concatenate([[-np.inf], beta[X.shape[1] :], [np.inf]])
        position = X @ beta[: X.shape[1]]
        upper, lower = curve(limits[y + 1] - position), curve(limits[y] - position)
        return upper * (1 - upper), lower * (1 - lower), np.maximum(upper - lower, 1e-300)
