"""Adaptive quadrature with bounded work, which says when it did not get there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import ConvergenceWarning, warn

ENOUGH = 1e-4  # the error that the measures promise
MOST_PANELS = 6000  # evaluated in all; ordinary densities need a few hundred
BATCH = 64


def entropy(pdf: Callable[[Array], Array], panels: Array, most: int = MOST_PANELS) -> float:
    """-int f log2 f; warns when the panels hold a mass other than 1, or when they ran out."""

    def integrand(t: Array) -> Array:
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            value = np.asarray(pdf(t), dtype=np.float64)
        value = np.where(np.isfinite(value), np.maximum(value, 0.0), 0.0)
        return np.stack((-value * np.log2(np.where(value > 0, value, 1.0)), value))

    (found, mass), error = adaptive(integrand, panels, 1e-5, most)
    if error > ENOUGH or abs(mass - 1) > ENOUGH:
        _warn(f"it found {mass:.6g} of the mass and may be off by {max(error, abs(mass - 1)):.1g}")
    return float(found)


def absolute(difference: Callable[[Array], Array], panels: Array, tolerance: float) -> float:
    """int |f - g|."""

    def integrand(t: Array) -> Array:
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            value = np.abs(np.asarray(difference(t), dtype=np.float64))
        return np.where(np.isfinite(value), value, 0.0)[None, :]

    (found,), error = adaptive(integrand, panels, tolerance, MOST_PANELS)
    if error > max(ENOUGH, tolerance):
        _warn(f"it may be off by {error:.1g}")
    return float(found)


def adaptive(integrand: Callable[[Array], Array], panels: Array, tolerance: float, most: int) -> tuple[Array, float]:
    """Gauss-Legendre with 10 points against its two halves; only panels that disagree are split again.

    The integrand has a row for each of several integrals. Returns these and the disagreement that was left.
    """
    nodes, weights = np.polynomial.legendre.leggauss(10)

    def rule(left: Array, right: Array) -> Array:
        half = (right - left) / 2
        points = (left / 2 + right / 2)[:, None] + half[:, None] * nodes
        parts = []
        for start in range(0, left.size, BATCH):
            part = points[start : start + BATCH]
            parts.append(integrand(part.ravel()).reshape(-1, *part.shape) @ weights)
        return np.concatenate(parts, axis=1) * half

    left, right = panels[:-1], panels[1:]
    coarse, spent = rule(left, right), left.size
    total = np.zeros(coarse.shape[0])
    while True:
        middle = left / 2 + right / 2
        first, second = rule(left, middle), rule(middle, right)
        spent += 2 * left.size
        off = np.abs(first + second - coarse).max(axis=0)
        thin = right - left <= 1e-15 * np.abs(middle)  # no doubles are left between its ends
        bad = (off > tolerance / max(panels.size, left.size)) & ~thin
        if not bad.any() or spent + 4 * int(bad.sum()) > most:
            return total + (first + second).sum(axis=1), float(off[bad].sum())
        total += (first + second)[:, ~bad].sum(axis=1)
        coarse = np.concatenate((first[:, bad], second[:, bad]), axis=1)
        left, right = np.concatenate((left[bad], middle[bad])), np.concatenate((middle[bad], right[bad]))


def _warn(what: str) -> None:
    warn(
        f"the quadrature did not converge: {what}; the density is too steep or too ragged for it",
        ConvergenceWarning,
        stacklevel=4,
    )
