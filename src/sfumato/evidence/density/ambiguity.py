r"""Is the shape of an estimated density told by the data, or by the preference for smooth ones?

Under wide noise a few hundred values tell the mean, the variance and perhaps the skewness of x, and little else. The
test: two separate blocks with the same three moments, fitted to nothing else. If they make z as likely as the estimate
does, and put mass elsewhere, the data do not speak for the estimate: it was chosen because it is smooth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import UnrecoverableWarning, warn
from sfumato.evidence.density.result import Density
from sfumato.evidence.density.tuning import AS_LIKELY, ELSEWHERE, HALF_WIDTHS

CELLS = 240


@dataclass(frozen=True)
class TwoBlocks:
    """Two blocks with the estimate's mean, variance and skewness: where, how much likelier, how much mass moves."""

    centres: tuple[float, float]
    gain: float
    moved: float

    @property
    def undecided(self) -> bool:
        """Whether these blocks fit as well, though they were not fitted, and differ from the estimate."""
        return self.gain > -AS_LIKELY and self.moved > ELSEWHERE


def two_blocks(d: Density) -> list[TwoBlocks]:
    r"""The two-block alternatives to an estimate.

    Two points with masses (1 ± g / t) / 2 at mean + sd (g ∓ t) / 2, t = sqrt(g² + 4), have skewness g; each is widened
    to a block, and both are drawn together so that the variance stays.
    """
    centre, width = (d.edges[1:] + d.edges[:-1]) / 2, np.diff(d.edges)
    mean = float(d.mass @ centre)
    variance = float(d.mass @ ((centre - mean) ** 2 + width**2 / 12))
    sd = math.sqrt(variance)
    g = float(d.mass @ (centre - mean) ** 3) / sd**3
    t = math.sqrt(g * g + 4)
    low, high, upper = sd * (g - t) / 2, sd * (g + t) / 2, (1 - g / t) / 2
    margin = 0.3 * (high - low)
    grid = np.linspace(min(d.edges[0], mean + low - margin), max(d.edges[-1], mean + high + margin), CELLS + 1)
    own = np.diff(np.interp(grid, d.edges, np.concatenate(([0.0], np.cumsum(d.mass)))))
    kernel = d.noise.interval_matrix(grid, d.z_edges).T

    def log_likelihood(mass: Array) -> float:
        return float(d.z_counts @ np.log(np.maximum(kernel @ mass, 1e-300)))

    out = []
    for part in HALF_WIDTHS:
        half = part * (high - low)
        pull = math.sqrt(max(variance - half**2 / 3, 0.0) / variance)
        ends = (mean + low * pull, mean + high * pull)
        below = [np.clip((grid - end + half) / (2 * half), 0.0, 1.0) for end in ends]
        mass = np.diff((1 - upper) * below[0] + upper * below[1])
        moved = 0.5 * float(np.abs(mass - own).sum())
        out.append(TwoBlocks(ends, log_likelihood(mass) - log_likelihood(own), moved))
    return out


def warn_if_undecided(d: Density) -> None:
    """Warn when the data cannot tell the estimate from two separate blocks."""
    rival = max((b for b in two_blocks(d) if b.undecided), key=lambda b: b.gain, default=None)
    if rival is None:
        return
    warn(
        f"the data cannot tell this shape from two separate blocks around {rival.centres[0]:.3g} and "
        f"{rival.centres[1]:.3g}, which fit as well with {100 * rival.moved:.0f} % of the mass elsewhere: trust the "
        "mean and the spread, not the shape; more values or less noise would decide",
        UnrecoverableWarning,
        stacklevel=3,
    )
