"""How well the model's parameters are known, and from that the covariance of any margin.

    J = Σ_y u_y u_yᵀ / q_y - u u ᵀ,   u_y = Σ_x P[x, y] θ_x f_x,       H = N J + penalty,       Cov(margin) = G H⁻¹ Gᵀ

with G = Cov_θ(indicator of the margin's cell, f). The penalty is read as a prior, so that H⁻¹ also covers what
shrinkage costs. All in a basis without redundant columns: the last value of every attribute is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.model.likelihood import Likelihood
from sfumato.evidence.model.loglinear import DesignMatrix, Term

#: The most numbers in the table of features; beyond it the covariance is not formed.
FEATURE_LIMIT = 40_000_000


@dataclass(frozen=True, eq=False)
class Information:
    """The features in every cell and the covariance of their coefficients."""

    theta: Array
    sizes: tuple[int, ...]
    features: Array  # cells by coefficients
    covariance: Array

    def root(self, axes: tuple[int, ...]) -> Array:
        """R with Cov(margin over these axes) = R Rᵀ, a row per cell of the margin."""
        weighted = (self.theta[:, None] * self.features).reshape(*self.sizes, -1)
        dropped = tuple(i for i in range(len(self.sizes)) if i not in axes)
        summed = weighted.sum(axis=dropped)
        kept = sorted(axes)
        summed = summed.transpose([*(kept.index(axis) for axis in axes), len(kept)])
        width = summed.shape[-1]
        table = self.theta.reshape(self.sizes).sum(axis=dropped).transpose([kept.index(axis) for axis in axes])
        G = summed.reshape(-1, width) - table.reshape(-1, 1) * (self.theta @ self.features)
        return np.asarray(G @ np.linalg.cholesky(self.covariance))

    def region(self, fixed: dict[int, int], axis: int) -> Array:
        """The covariance of the shares of every value of one attribute among the cells with the fixed codes."""
        index: list[slice] = [
            slice(fixed[i], fixed[i] + 1) if i in fixed else slice(None) for i in range(len(self.sizes))
        ]
        weights = self.theta.reshape(self.sizes)[tuple(index)]
        features = self.features.reshape(*self.sizes, -1)[tuple(index)]
        weights = np.moveaxis(weights, axis, 0).reshape(self.sizes[axis], -1)
        features = np.moveaxis(features, axis, 0).reshape(self.sizes[axis], weights.shape[1], -1)
        mean = self.theta @ self.features
        G = np.einsum("ab,abc->ac", weights, features) - weights.sum(axis=1)[:, None] * mean
        return np.asarray(G @ self.covariance @ G.T)


def information(observed: Likelihood, design: DesignMatrix, theta: Array, tau: float) -> Information | None:
    """The information of a fitted model, or None where the table is too large for it."""
    terms = design.terms
    columns = sum(prod(design.sizes[axis] - 1 for axis in term) for term in terms)
    cells = prod(design.sizes)
    released = max(part.counts.size for part in observed.parts)
    if columns == 0 or max(cells, released) * columns > FEATURE_LIMIT:
        return None
    features = _features(design.sizes, terms)
    J = np.zeros((columns, columns))
    for part in observed.parts:
        share = float(part.counts.sum())
        q = np.maximum(part.forward(theta), 1e-300)
        moved = np.stack([part.forward(theta * features[:, i]) for i in range(columns)], axis=1)
        mean = moved.sum(axis=0)
        J += share * ((moved / q[:, None]).T @ moved - np.outer(mean, mean))
    H = J + np.diag(_prior(design, terms, tau))
    return Information(theta, design.sizes, features, np.asarray(np.linalg.inv((H + H.T) / 2)))


def _features(sizes: tuple[int, ...], terms: tuple[Term, ...]) -> Array:
    codes = np.indices(sizes).reshape(len(sizes), -1)
    single = [(codes[axis][:, None] == np.arange(sizes[axis] - 1)).astype(np.float64) for axis in range(len(sizes))]
    blocks = []
    for term in terms:
        block = np.ones((codes.shape[1], 1))
        for axis in term:
            block = (block[:, :, None] * single[axis][:, None, :]).reshape(len(block), -1)
        blocks.append(block)
    return np.concatenate(blocks, axis=1)


def _prior(design: DesignMatrix, terms: tuple[Term, ...], tau: float) -> Array:
    """Precisions of the coefficients: a contrast against the last value of each attribute has 2^|s| τ² of variance."""
    out = []
    for term in terms:
        width = prod(design.sizes[axis] - 1 for axis in term)
        precision = 1e-2 if len(term) == 1 else 1.0 / (tau * tau * 2 ** len(term))
        out.append(np.full(width, precision))
    return np.concatenate(out)
