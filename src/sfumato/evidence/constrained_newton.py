r"""Maximum likelihood through windows on the few values that have a share at all: EM needs tens of thousands of steps.

The most likely distribution of many ordered values sits on a few of them. The slope of the log-likelihood in a share,

    g_x = sum_y P[x, y] c_y / (N q_y),        at most 1 everywhere at the maximum,

tells which values are missing: those where it peaks above 1. They join, the shares are fitted again, and values whose
share became 0 leave (Wang 2007, the constrained Newton method).
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array, Index
from sfumato.channels.window_sums import WindowSums

_START = 24  # values to begin with, evenly spread
_MOST_NEW = 100  # values that join at a time
_MOST = 100
_NOTHING = 1e-12


def most_likely(transition: WindowSums, observed: Array, tolerance: float) -> tuple[Array, float, int]:
    """(shares, max over x of g_x - 1, rounds)."""
    from sfumato.evidence.density.kernels import DenseKernel
    from sfumato.evidence.density.mle import maximise

    seen, n, k = np.flatnonzero(observed), float(observed.sum()), transition.rows
    counts = observed[seen]
    held = np.unique(np.linspace(0, k - 1, min(k, _START)).round().astype(np.int64))
    best, gap, rounds = np.full(k, 1 / k), np.inf, 0
    while gap >= tolerance and rounds < _MOST:
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


def _peaks(slope: Array) -> Index:
    """Where the slope is above 1 and higher than just before, and no lower than just after; the highest of these."""
    before, after = np.append(-np.inf, slope[:-1]), np.append(slope[1:], -np.inf)
    found = np.flatnonzero((slope > before) & (slope >= after) & (slope > 1))
    highest: Index = found[np.argsort(-slope[found], kind="stable")[:_MOST_NEW]]
    return highest
