r"""Maximum likelihood on the few values that have a share at all: EM needs thousands of steps to empty the others.

The most likely distribution of many ordered values, or of the cells of a large table, sits on a few of them. The slope
of the log-likelihood in a share,

    g_x = sum_y P[x, y] c_y / (N q_y),        at most 1 everywhere at the maximum,

tells which values are missing: those where it peaks above 1. They join, the shares are fitted again, and values whose
share became 0 leave (Wang 2007, the constrained Newton method).
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array, Index
from sfumato.channels.linear import Operator

_START = 24  # values to begin with, evenly spread
_MOST_NEW = 100  # values that join at a time
_MOST = 100
_NOTHING = 1e-12
_FEW = 400  # cells of a table that may have a share: beyond, EM is quicker
_ENTRIES = 1 << 23  # of the matrix of these cells by the released values that occur
_TIGHT = 1e-6  # a slope this near to 1 belongs to a cell that might as well have a share


def most_likely(
    transition: Operator, observed: Array, tolerance: float, start: Index | None = None, most_held: int | None = None
) -> tuple[Array, float, int]:
    """(shares, max over x of g_x - 1, rounds), beginning with some values and holding at most so many."""
    from sfumato.evidence.density.kernels import DenseKernel
    from sfumato.evidence.density.mle import maximise

    seen, n, k = np.flatnonzero(observed), float(observed.sum()), transition.rows
    counts = observed[seen]
    held = np.unique(np.linspace(0, k - 1, min(k, _START)).round().astype(np.int64)) if start is None else start
    best, gap, rounds = np.full(k, 1 / k), np.inf, 0
    while gap >= tolerance and rounds < _MOST and (most_held is None or len(held) <= most_held):
        rounds += 1
        matrix = transition.entries(held, seen).T
        mass = maximise(DenseKernel(matrix), counts, gap=tolerance / 4).mass
        weights = np.zeros(transition.cols)
        weights[seen] = counts / (matrix @ mass) / n
        slope = transition.apply(weights)
        if float(slope.max()) - 1 < gap:
            gap, best = float(slope.max()) - 1, np.zeros(k)
            best[held] = mass / mass.sum()
        held = np.union1d(held[mass > _NOTHING], _peaks(slope))
    return best, max(gap, 0.0), rounds


def most_likely_cells(
    transition: Operator, observed: Array, tolerance: float, begun: Array
) -> tuple[Array, float, int] | None:
    """The same for a table, from shares that EM has begun to find; None where many cells have a share, or where other
    shares are as likely: EM then stays in the middle of them."""
    seen = np.flatnonzero(observed)
    most_held = min(2 * _FEW, _ENTRIES // max(len(seen), 1))
    start = np.sort(np.argsort(-begun, kind="stable")[: min(_FEW, most_held)])
    shares, gap, rounds = most_likely(transition, observed, tolerance, start, most_held)
    if gap >= tolerance:
        return None
    released = transition.T.apply(shares)[seen]
    weights = np.zeros(transition.cols)
    weights[seen] = observed[seen] / released / float(observed.sum())
    tight = np.flatnonzero(transition.apply(weights) > 1 - _TIGHT)
    if len(tight) > most_held:
        return None
    root = transition.entries(tight, seen) * np.sqrt(observed[seen]) / released
    return (shares, gap, rounds) if np.linalg.matrix_rank(root @ root.T) == len(tight) else None


def _peaks(slope: Array) -> Index:
    """Where the slope is above 1 and higher than just before, and no lower than just after; the highest of these."""
    before, after = np.append(-np.inf, slope[:-1]), np.append(slope[1:], -np.inf)
    found = np.flatnonzero((slope > before) & (slope >= after) & (slope > 1))
    highest: Index = found[np.argsort(-slope[found], kind="stable")[:_MOST_NEW]]
    return highest
