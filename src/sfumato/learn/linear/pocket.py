r"""The pocket algorithm on weighted samples.

The expected cost over the posteriors of all records, Σ_i Σ_l δ_l(w) wᵀv_l Pr(v_l | ṽ_i), needs only the sums
Σ_i Pr(v_l | ṽ_i) = N̂_l: the N·L samples of the paper collapse to L cells with weights N̂_l, at the same cost.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array


def pocket(
    X: Array,
    sign: Array,
    weights: Array,
    rng: np.random.Generator,
    steps: int = 20_000,
    start: Array | None = None,
    block: int = 512,
) -> Array:
    """The weights of a hyperplane that classifies most of the weight right (Gallant 1990, with ratchet).

    ``X`` holds a row per cell with a constant column; ``sign`` is +1 or -1. Cells are drawn in proportion to their
    weights, so that a correct draw lengthens the run by one; a longer run than the pocket's is checked against all
    cells and takes its place only if it classifies more weight right.
    """
    # Perceptron steps depend on the scale of the columns, the hyperplane does not.
    scale = np.maximum(np.sqrt(weights @ X**2 / weights.sum()), 1e-12)
    scaled = X / scale * sign[:, None]
    current = np.zeros(X.shape[1]) if start is None else start * scale
    best, best_right, best_run = current.copy(), _right(scaled, current, weights), 0
    share = np.cumsum(weights) / weights.sum()
    run = 0
    step = 0
    while step < steps:
        drawn = scaled[np.searchsorted(share, rng.random(block), side="right").clip(0, len(X) - 1)]
        at = 0
        while at < block:
            length = _run(drawn[at:], current)
            run += length
            if run > best_run:
                right = _right(scaled, current, weights)
                best_run = run
                if right > best_right:
                    best, best_right = current.copy(), right
            at += length
            if at < block:
                current = current + drawn[at]
                run = 0
                at += 1
        step += block
        if best_right >= weights.sum() * (1 - 1e-12):
            break
    return np.asarray(best / scale)


def expand(codes: NDArray[np.int64], posterior: Array, cells: Array) -> tuple[Array, NDArray[np.int64], Array]:
    """The paper's N·L samples: every record with every cell, weighted by its posterior. For comparison only."""
    n, L = len(codes), len(cells)
    return np.tile(cells, (n, 1)), np.tile(np.arange(L), n), posterior[:, codes].T.reshape(-1)


def _run(signed: Array, w: Array, few: int = 16) -> int:
    """How many come before the first that is classified wrong: of ever more at a time, as most runs are short."""
    at = 0
    while at < len(signed):
        wrong = signed[at : at + few] @ w <= 0
        first = int(wrong.argmax())
        if wrong[first]:
            return at + first
        at += few
        few *= 2
    return len(signed)


def _right(signed: Array, w: Array, weights: Array) -> float:
    return float(weights[signed @ w > 0].sum())


def nearest(X: Array, sign: Array, weights: Array) -> Array:
    """A least-squares hyperplane: a good place for the pocket to start from."""
    H = (X * weights[:, None]).T @ X
    return np.asarray(np.linalg.solve(H + np.eye(len(H)) * 1e-9 * np.trace(H), X.T @ (weights * sign)))
