"""Maximum likelihood counts through a channel: closed form for symmetric channels, otherwise accelerated EM.

Where EM is slow, because it empties thousands of cells, Newton's method finishes on the few that have a share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Array
from sfumato.channels.geometry import Incidence
from sfumato.channels.linear import Embedded, Kronecker, Operator, UniformPlus
from sfumato.channels.window_sums import WindowSums
from sfumato.errors import ConvergenceWarning, EstimationError, warn
from sfumato.evidence.constrained_newton import most_likely, most_likely_cells
from sfumato.evidence.seen import Seen
from sfumato.threads import one_thread

#: The most cells of a table with an attribute under hyperplanes: beyond it the iteration takes minutes to hours.
MOST_CELLS = 1 << 14
_BEGIN = 100  # steps of EM before Newton's method is tried
_SHRINK = 100.0  # an extrapolated cell may lose at most this factor in one step, so that none is frozen at zero


@dataclass(frozen=True)
class Fit:
    """A distribution and how near to the maximum it is: max over x of (P (Ñ / q))_x / N - 1, zero at the maximum."""

    theta: Array
    gap: float
    iterations: int


@one_thread()
def fit(transition: Operator, observed: Array, tolerance: float = 1e-7, most: int = 10_000, quiet: bool = False) -> Fit:
    """The distribution θ of true values that makes the observed released counts most likely.

    maximise Σ_y Ñ_y log (Pᵀθ)_y over the simplex

    It warns where it stops short of the maximum, unless ``quiet`` says that nobody needs to know.
    """
    single = transition.factors[0] if isinstance(transition, Kronecker) and len(transition.factors) == 1 else transition
    if isinstance(single, UniformPlus):
        return Fit(_water_fill(single, observed), 0.0, 0)
    if isinstance(single, Embedded) and isinstance(single.inner, UniformPlus):
        theta = np.zeros(single.size)
        theta[single.cells] = _water_fill(single.inner, observed[single.cells])
        return Fit(theta, 0.0, 0)
    if isinstance(single, WindowSums):
        found = Fit(*most_likely(single, observed, tolerance))
        if found.gap < tolerance:
            return found
    if not feasible(transition):
        raise EstimationError(
            f'the most likely counts of {transition.rows:,} cells would take too long: use method="moment", or '
            f'"project" for counts that are never negative'
        )
    found = _squarem(transition, observed, tolerance, min(most, _BEGIN))
    if found.gap >= tolerance and found.iterations < most:
        newton = most_likely_cells(transition, observed, tolerance, found.theta)
        found = Fit(*newton) if newton else _squarem(transition, observed, tolerance, most, found.theta)
    short = found.gap * float(observed.sum())  # the log-likelihood may be this far below its maximum
    if short > 1 and not quiet:
        warn(
            f"maximum likelihood stopped after {most} steps, at most {short:.2g} below the maximum of the "
            f"log-likelihood; the channel tells too little to get closer",
            ConvergenceWarning,
            stacklevel=2,
        )
    return found


def feasible(transition: Operator) -> bool:
    """Whether the most likely counts can be found in reasonable time."""
    factors = transition.factors if isinstance(transition, Kronecker) else (transition,)
    return transition.rows <= MOST_CELLS or not any(isinstance(factor, Incidence) for factor in factors)


def log_likelihood(transition: Operator, observed: Array, theta: Array) -> float:
    """Σ_y Ñ_y log (Pᵀθ)_y, without the multinomial constant; -inf if something observed is impossible under θ."""
    seen = observed > 0
    q = transition.T.apply(theta)[seen]
    if (q <= 0).any():
        return -np.inf
    return float(observed[seen] @ np.log(q))


def _water_fill(channel: UniformPlus, observed: Array) -> Array:
    """The exact maximum for P = aI + bJ: released shares q_x = max(b, s Ñ_x), s such that they sum to 1."""
    total = observed.sum()
    if channel.b == 0:
        return np.asarray(observed / total)
    ordered = np.sort(observed)[::-1]
    above = np.arange(1, channel.k + 1)
    scale = (1 - channel.b * (channel.k - above)) / np.maximum(np.cumsum(ordered), 1e-300)
    kept = int(np.flatnonzero(ordered * scale >= channel.b)[-1])
    theta = np.maximum(observed * scale[kept] - channel.b, 0.0) / channel.a
    return np.asarray(theta / theta.sum())


def _squarem(transition: Operator, observed: Array, tolerance: float, most: int, start: Array | None = None) -> Fit:
    """EM from a uniform start, sped up by squared extrapolation (Varadhan and Roland 2008)."""
    total = observed.sum()
    possible = transition.apply(np.ones(transition.cols)) > 0
    theta = possible / possible.sum() if start is None else start
    backward = transition.T
    seen = np.flatnonzero(observed > 0)  # of very many released cells records are in few
    own = observed[seen]

    def reached(point: Array) -> Array:
        """The shares of the released cells that are held."""
        return np.asarray(backward.apply(point)[seen])

    def ratio(q: Array) -> Array:
        weights = np.zeros(len(observed))
        weights[seen] = np.divide(own, q, out=np.zeros(len(own)), where=q > 0)
        return np.asarray(transition.apply(weights) / total)

    def value(q: Array) -> float:
        return float(own @ np.log(q)) if (q > 0).all() else -np.inf

    q = reached(theta)
    step, best = ratio(q), value(q)
    for iteration in range(1, most + 1):
        gap = float(step.max() - 1)
        if gap < tolerance:
            return Fit(theta, gap, iteration)
        first = theta * step
        second = first * ratio(reached(first))
        second /= second.sum()
        r, v = first - theta, second - 2 * first + theta
        length = -max(1.0, float(np.linalg.norm(r)) / max(float(np.linalg.norm(v)), 1e-300))
        trial = theta - 2 * length * r + length * length * v
        trial = np.maximum(trial, second / _SHRINK)
        trial /= trial.sum()
        q = reached(trial)
        # Only a step that does not lose likelihood is taken; plain EM never does.
        if not value(q) >= best:
            trial, q = second, reached(second)
        theta, best = trial, value(q)
        step = ratio(q)
    gap = float(step.max() - 1)
    return Fit(theta, gap, most)


def whole_groups(found: Sequence[Seen], advice: str) -> Sequence[Seen]:
    """What was seen, if it tells of whole groups only: a likelihood knows no others."""
    for one in found:
        if one.partial:
            raise EstimationError(f"{', '.join(one.names)} are randomized together with others: {advice}")
    return found
