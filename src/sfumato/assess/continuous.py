r"""Privacy and information loss of continuous values: the measures of AA01, right where the paper slipped.

    h(X) = -\int f log2 f,   Pi(X) = 2^h(X),   I(X; Z) = h(Z) - h(Y),
    privacy loss = 1 - 2^-I,   Pi(X|Z) = 2^(h(X) - I)

The printed Example 1 mixes nats with bits: h(Z) = 2 + 1 / (4 ln 2), the loss 0.61060 and Pi(X|Z) 0.77880, not 9/4,
0.5796 and 0.8408. A distribution is a noise channel, an estimated Density, a frozen scipy.stats distribution, or
anything with `pdf`, `cdf` and `ppf`. Closed forms where there are some, otherwise quadrature with error below 1e-4.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.assess.distribution import Law, law, panels, piecewise, released
from sfumato.assess.quadrature import absolute, entropy
from sfumato.channels.additive import Laplace
from sfumato.errors import EstimationError

MOST_RELEASED = 1500  # panels for the density of Z, whose every point costs a sum over X


def differential_entropy(x: Any) -> float:
    r"""h(X) in bits, AA01 eq. 2.

    >>> from sfumato.channels.additive import uniform
    >>> differential_entropy(uniform(2))
    2.0
    """
    f = law(x)
    if f.variance is not None:
        return 0.5 * math.log2(2 * math.pi * math.e * f.variance)
    if f.flat is not None:
        edges, height = f.flat
        held = height > 0
        return float(-(height * np.diff(edges))[held] @ np.log2(height[held]))
    if isinstance(x, Laplace):
        return math.log2(2 * math.e * x.scale)
    return entropy(f.pdf, panels(f))


def inherent_privacy(x: Any) -> float:
    """Pi(X) = 2^h(X): the width of the uniform distribution that is as uncertain as X. AA01 section 2."""
    return math.exp2(differential_entropy(x))


def mutual_information(x: Any, noise: Any) -> float:
    r"""I(X; Z) = h(Z) - h(Y) in bits for Z = X + Y. Two normals: log2(1 + v_X / v_Y) / 2."""
    f, g = law(x), law(noise)
    if f.variance is not None and g.variance is not None:
        return 0.5 * math.log2(1 + f.variance / g.variance)
    return max(entropy(*released(f, g), MOST_RELEASED) - differential_entropy(noise), 0.0)


def privacy_loss(x: Any, noise: Any) -> float:
    """1 - 2^-I(X; Z): the share of X's privacy that publishing Z costs. AA01 eq. 4.

    >>> from sfumato.channels.additive import tabulated, uniform
    >>> round(privacy_loss(tabulated([0, 1, 4, 5], [0.5, 0, 0.5]), uniform(1)), 5)
    0.6106
    """
    return 1 - math.exp2(-mutual_information(x, noise))


def conditional_privacy(x: Any, noise: Any) -> float:
    """Pi(X|Z) = 2^h(X|Z), what is left of Pi(X) once Z is published. AA01 section 2."""
    return math.exp2(differential_entropy(x) - mutual_information(x, noise))


def interval_privacy(noise: Any, confidence: float = 0.95) -> float:
    """The width of the shortest interval that holds the noise with this confidence: Agrawal and Srikant (2000).

    It ignores what the density of X tells: see `informed_interval`, and Example 1 of AA01 where it says 2 and an
    informed reader needs less than 1.

    >>> from sfumato.channels.additive import uniform
    >>> round(interval_privacy(uniform(1), 0.5), 9)
    1.0
    """
    _check_confidence(confidence)
    g = law(noise)
    if confidence == 1.0:
        return float(g.quantile(1.0) - g.quantile(0.0))
    left = np.linspace(0.0, 1 - confidence, 2001)
    left = left[1:-1] if not math.isfinite(float(g.quantile(0.0))) else left
    width = np.asarray(g.quantile(np.minimum(left + confidence, 1.0))) - np.asarray(g.quantile(left))
    best = int(np.nanargmin(width))
    fine = np.linspace(left[max(best - 1, 0)], left[min(best + 1, left.size - 1)], 2001)
    found = np.asarray(g.quantile(np.minimum(fine + confidence, 1.0))) - np.asarray(g.quantile(fine))
    return float(np.nanmin(found))


def informed_interval(x: Any, noise: Any, confidence: float = 0.95, cells: int = 1200) -> float:
    """The mean width of the smallest set that holds X with this confidence for a reader who knows Z and X's density."""
    _check_confidence(confidence)
    f, g = law(x), law(noise)
    low, high = f.span
    edges = np.linspace(low, high, cells + 1)
    prior = np.diff(np.asarray(f.cdf(edges)))
    middle, width = (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]
    down, up = g.span
    z = np.linspace(low + down, high + up, cells + 1)
    joint = prior * np.asarray(g.pdf(((z[1:] + z[:-1]) / 2)[:, None] - middle[None, :]))
    weight = joint.sum(axis=1)
    held = weight > 0
    posterior = -np.sort(-joint[held] / weight[held, None], axis=1)
    total = np.minimum(np.cumsum(posterior, axis=1), 1.0)
    goal = confidence - 1e-9
    whole = (total < goal).sum(axis=1)
    return float((weight[held] @ (whole + 1)) / weight.sum() * width)


def information_loss(x: Any, estimate: Any, tolerance: float = 1e-5) -> float:
    r"""1/2 \int |f - estimate| over the whole line, AA01 eq. 6 for one estimate (0 perfect, 1 disjoint)."""
    f, e = law(x), law(estimate)
    cuts = np.union1d(panels(f), panels(e)) if e.flat is None else e.flat[0]
    cuts = np.union1d(cuts, [b for b in f.breaks + e.breaks if cuts[0] < b < cuts[-1]])
    inside = absolute(lambda t: np.asarray(f.pdf(t)) - np.asarray(e.pdf(t)), cuts, tolerance)
    missed = float(f.cdf(cuts[0])) + 1 - float(f.cdf(cuts[-1]))
    extra = float(e.cdf(cuts[0])) + 1 - float(e.cdf(cuts[-1]))
    return 0.5 * (inside + missed + extra)


def floor(x: Any, edges: ArrayLike, tolerance: float = 1e-6) -> float:
    """What the best piecewise-constant density on these cells loses: its heights are the cell means of X's density.

    >>> from sfumato.channels.additive import gaussian
    >>> round(100 * floor(gaussian(math.sqrt(2 / (math.pi * math.e))), np.linspace(-2.5, 2.5, 51)), 3)
    2.065
    """
    f, cells = law(x), np.asarray(edges, dtype=np.float64)
    mass = np.diff(np.asarray(f.cdf(cells)))
    return information_loss(f, piecewise(cells, mass / mass.sum()), tolerance)


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence <= 1:
        raise EstimationError(f"confidence must lie in (0, 1], got {confidence}")


__all__ = [
    "Law",
    "conditional_privacy",
    "differential_entropy",
    "floor",
    "information_loss",
    "informed_interval",
    "inherent_privacy",
    "interval_privacy",
    "mutual_information",
    "privacy_loss",
    "released",
]
