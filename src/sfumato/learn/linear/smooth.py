"""Smooth costs on weighted cells: logistic (softmax) and hinge, with scikit-learn's penalty ½|w|² / C."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.learn.regression.families import curve

_ROUND = 0.05  # the corner of the hinge is rounded over this width, so that it has a gradient


def logistic(X: Array, classes: NDArray[np.int64], weights: Array, count: int, C: float) -> Array:
    """Coefficients, a row per class (of two classes the first has none), by Newton's method or, of more, L-BFGS.

    minimise C Σ_l N̂_l (-log Pr(c_l | x_l)) + ½|w|², the constant column unpenalised
    """
    if count == 2:
        w = _newton(X, classes.astype(np.float64), weights, C)
        return np.stack([np.zeros_like(w), w])
    return _softmax(X, classes, weights, count, C)


def _newton(X: Array, y: Array, weights: Array, C: float) -> Array:
    penalty = np.ones(X.shape[1])
    penalty[-1] = 0.0
    w = np.zeros(X.shape[1])
    value = np.inf
    for _ in range(100):
        p = curve(X @ w)
        gradient = C * X.T @ (weights * (p - y)) + penalty * w
        H = C * (X * (weights * p * (1 - p))[:, None]).T @ X + np.diag(penalty + 1e-12)
        step = np.linalg.solve(H, gradient)
        length = 1.0
        while length > 1e-6:
            trial = w - length * step
            reached = C * float(weights @ (np.logaddexp(0, X @ trial) - y * (X @ trial))) + 0.5 * float(
                penalty @ trial**2
            )
            if reached <= value + 1e-12 * abs(value):
                break
            length /= 2
        w, value = trial, reached
        if float(np.abs(length * step).max()) < 1e-10:
            break
    return w


def _softmax(X: Array, classes: NDArray[np.int64], weights: Array, count: int, C: float) -> Array:
    from scipy.optimize import minimize

    d = X.shape[1]
    size = np.sqrt(np.average(X**2, axis=0, weights=weights))
    size = np.where(size > 0, size, 1.0)  # features of one size take few steps; the minimum is the same
    X, penalty = X / size, 1 / size**2
    penalty[-1] = 0.0
    truth = np.eye(count)[classes]

    def objective(flat: Array) -> tuple[float, Array]:
        W = flat.reshape(count, d)
        score = X @ W.T
        score -= score.max(axis=1, keepdims=True)
        total = np.log(np.exp(score).sum(axis=1))
        cost = C * float(weights @ (total - (score * truth).sum(axis=1))) + 0.5 * float((penalty * W**2).sum())
        p = np.exp(score - total[:, None])
        gradient = C * ((p - truth) * weights[:, None]).T @ X + penalty * W
        scale = C * weights.sum()
        return cost / scale, gradient.reshape(-1) / scale

    found = minimize(
        objective, np.zeros(count * d), jac=True, method="L-BFGS-B",
        options={"maxiter": 5000, "gtol": 1e-11, "ftol": 1e-16, "maxcor": 30, "maxfun": 20000},
    )  # fmt: skip
    return np.asarray(found.x).reshape(count, d) / size


def hinge(X: Array, sign: Array, weights: Array, C: float) -> Array:
    """The soft-margin hyperplane of two classes: C Σ N̂ max(0, 1 - s wᵀx) + ½|w|², its corner rounded."""
    from scipy.optimize import minimize

    penalty = np.ones(X.shape[1])
    penalty[-1] = 0.0
    scale = C * weights.sum()

    def objective(w: Array) -> tuple[float, Array]:
        short = 1.0 - sign * (X @ w)
        inside = np.clip(short / _ROUND, 0.0, 1.0)
        cost = np.where(short > _ROUND, short - _ROUND / 2, 0.5 * short * inside)
        value = C * float(weights @ cost) + 0.5 * float(penalty @ w**2)
        gradient = -C * X.T @ (weights * sign * inside) + penalty * w
        return value / scale, gradient / scale

    found = minimize(
        objective, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 2000, "gtol": 1e-8}
    )
    return np.asarray(found.x)


def from_centred(coefficients: Array, mean: Array) -> Array:
    """The same hyperplanes for the features themselves."""
    out = coefficients.copy()
    out[..., -1] -= out[..., :-1] @ mean
    return np.asarray(out)
