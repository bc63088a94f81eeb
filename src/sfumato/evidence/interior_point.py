r"""Maximum likelihood through windows by Newton steps inside the simplex: EM takes tens of thousands of steps there.

    minimise  N sum theta - sum_y c_y log (Pᵀ theta)_y  over theta > 0,     theta_x s_x = mu -> 0

with s >= 0 the slope in each share (Wright 1997, chapter 1). Each step solves

    (H + diag(s / theta)) d = mu / theta - slope,     H = P diag(c / q²) Pᵀ,

which windows give without their matrix.
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array
from sfumato.channels.window_sums import WindowSums

MOST_VALUES = 2048  # each step costs the cube of this
_INSIDE = 0.995  # of the way to the boundary
_CENTRED = 0.1  # how much smaller mu is made in a step
_MOST = 100


def maximise(transition: WindowSums, observed: Array, tolerance: float) -> tuple[Array, float, int]:
    """(shares, max over x of (P (c / q))_x / N - 1, steps)."""
    from scipy.linalg import cho_factor, cho_solve

    counts = observed / observed.sum()
    forward, k = transition.T, transition.rows
    theta, s = np.full(k, 1 / k), np.ones(k)
    best, gap, steps = theta, np.inf, 0
    while gap >= tolerance and steps < _MOST:
        steps += 1
        q = forward.apply(theta)
        gain = transition.apply(counts / q)
        now = float(gain.max()) * float(theta.sum()) - 1
        if now < gap:
            best, gap = theta / theta.sum(), now
        mu = _CENTRED * float(theta @ s) / k
        H = transition.gram(counts / q**2)
        H[np.diag_indices(k)] += s / theta
        step = cho_solve(cho_factor(H, lower=True, overwrite_a=True, check_finite=False), mu / theta - (1 - gain))
        other = mu / theta - s - s / theta * step
        size = min(_reach(theta, step), _reach(s, other))
        theta, s = theta + size * step, s + size * other
    return best, max(gap, 0.0), steps


def _reach(values: Array, step: Array) -> float:
    """The longest step of at most 1 that keeps all values positive."""
    falling = step < 0
    return min(1.0, _INSIDE * float((-values[falling] / step[falling]).min())) if falling.any() else 1.0
