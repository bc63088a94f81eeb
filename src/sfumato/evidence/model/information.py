"""How well the model's parameters are known, and from that the covariance of any margin.

    J = Σ_y u_y u_yᵀ / q_y - u u ᵀ,   u_y = Σ_x P[x, y] θ_x f_x,       H = N J + penalty,       Cov(margin) = G H⁻¹ Gᵀ

with G = Cov_θ(indicator of the margin's cell, f). The penalty is read as a prior, so that H⁻¹ also covers what
shrinkage costs. The features f are products of orthonormal contrasts of the values of each attribute: none is
redundant, and the penalty of a term is the same for each of its features.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.model.design_matrix import DesignMatrix, Term
from sfumato.evidence.model.likelihood import Likelihood
from sfumato.evidence.model.loglinear import MAIN

#: The most numbers in the table of features; beyond it the covariance is not formed.
FEATURE_LIMIT = 40_000_000


class Features:
    """The features of a log-linear model, as sums of them over cells: the table of all of them is never formed."""

    def __init__(self, sizes: tuple[int, ...], terms: Sequence[Term]) -> None:
        self.sizes, self.terms = sizes, tuple(terms)
        self._contrasts = [_contrasts(size) for size in sizes]
        widths = [prod(sizes[axis] - 1 for axis in term) for term in self.terms]
        self.owner = np.repeat(np.arange(len(self.terms)), widths)  # the term of every feature

    def coefficients(self, term: int, parameters: Array) -> Array:
        """The coefficients of one term's features, from a parameter for each combination of its values."""
        axes = self.terms[term]
        out = parameters.reshape([self.sizes[axis] for axis in axes])
        for axis in axes:  # the first axis is contracted, and becomes the last
            out = np.tensordot(out, self._contrasts[axis], axes=(0, 0))
        return np.asarray(out.reshape(-1))

    def within(self, theta: Array, kept: Sequence[int], fixed: Mapping[int, int] | None = None) -> Array:
        """Σ θ f over the cells with each combination of the kept attributes, a row each; and with the fixed codes."""
        held = fixed or {}
        cut = [slice(held[i], held[i] + 1) if i in held else slice(None) for i in range(len(self.sizes))]
        table, d = theta.reshape(self.sizes)[tuple(cut)], len(self.sizes)
        rows = prod(table.shape[i] for i in kept)
        out = np.empty((rows, len(self.owner)))
        for number, term in enumerate(self.terms):
            axes = sorted({*kept, *term})
            left = table.sum(axis=tuple(i for i in range(d) if i not in axes))
            operands: list[Any] = [left, axes]
            for place, axis in enumerate(term):
                operands += [self._contrasts[axis][cut[axis]], [axis, d + place]]
            found = np.einsum(*operands, [*kept, *range(d, d + len(term))])
            out[:, self.owner == number] = found.reshape(rows, -1)
        return out


@dataclass(frozen=True, eq=False)
class Information:
    """The features, and the covariance of their coefficients."""

    theta: Array
    features: Features
    covariance: Array

    def root(self, axes: tuple[int, ...]) -> Array:
        """R with Cov(margin over these axes) = R Rᵀ, a row per cell of the margin."""
        kept = sorted(axes)
        dropped = tuple(i for i in range(len(self.features.sizes)) if i not in axes)
        table = self.theta.reshape(self.features.sizes).sum(axis=dropped).transpose([kept.index(a) for a in axes])
        G = self._moved(self.features.within(self.theta, axes), table.reshape(-1))
        return np.asarray(G @ np.linalg.cholesky(self.covariance))

    def region(self, fixed: Mapping[int, int], axis: int) -> Array:
        """The covariance of the shares of every value of one attribute among the cells with the fixed codes."""
        cut = tuple(
            slice(fixed[i], fixed[i] + 1) if i in fixed else slice(None) for i in range(len(self.features.sizes))
        )
        part = self.theta.reshape(self.features.sizes)[cut]
        shares = part.sum(axis=tuple(i for i in range(part.ndim) if i != axis))
        G = self._moved(self.features.within(self.theta, (axis,), fixed), shares)
        return np.asarray(G @ self.covariance @ G.T)

    def _moved(self, sums: Array, shares: Array) -> Array:
        """G: how far every coefficient moves the shares of some cells."""
        return np.asarray(sums - shares[:, None] * self.features.within(self.theta, ()))


def information(observed: Likelihood, design: DesignMatrix, theta: Array, tau: float | Array) -> Information | None:
    """The information of a fitted model, or None where the table is too large for it."""
    columns = sum(prod(design.sizes[axis] - 1 for axis in term) for term in design.terms)
    released = max(part.counts.size for part in observed.parts)
    if columns == 0 or max(prod(design.sizes), released) * columns > FEATURE_LIMIT:
        return None
    features = Features(design.sizes, design.terms)
    J = np.zeros((columns, columns))
    for part in observed.parts:
        one = part.without_silent if part.silent else part
        q = np.maximum(part.forward(theta), 1e-300)
        sums = features.within(theta, [i for i in range(len(design.sizes)) if i not in part.silent])
        moved = np.stack([one.forward(column) for column in np.ascontiguousarray(sums.T)], axis=1)
        mean = moved.sum(axis=0)
        J += part.total * ((moved / q[:, None]).T @ moved - np.outer(mean, mean))
    H = J + np.diag(prior_precisions(features, tau))
    return Information(theta, features, np.asarray(np.linalg.inv((H + H.T) / 2)))


def prior_precisions(features: Features, tau: float | Array) -> Array:
    """The penalty of every feature's coefficient; see ``loglinear.precisions``."""
    single = np.array([len(term) == 1 for term in features.terms])
    own = np.broadcast_to(np.asarray(tau, dtype=np.float64), len(features.terms))
    return np.where(single, MAIN, 1.0 / own**2)[features.owner]


def _contrasts(size: int) -> Array:
    """Orthonormal columns that sum to 0.

    >>> abs(_contrasts(2)).round(3).tolist()
    [[0.707], [0.707]]
    """
    columns, _ = np.linalg.qr(np.column_stack([np.ones(size), np.eye(size)[:, : size - 1]]))
    return np.asarray(columns[:, 1:])
