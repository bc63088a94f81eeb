r"""Privacy and information loss of continuous values: the measures of AA01, right where the paper slipped.

    h(X) = -\int f log2 f,   Pi(X) = 2^h(X),   I(X; Z) = h(Z) - h(Y),
    privacy loss = 1 - 2^-I,   Pi(X|Z) = 2^(h(X) - I)

The printed Example 1 mixes nats with bits: h(Z) = 2 + 1 / (4 ln 2), the loss 0.61060 and Pi(X|Z) 0.77880, not 9/4,
0.5796 and 0.8408. A distribution is a noise channel, an estimated Density, a frozen scipy.stats distribution, or
anything with `pdf`, `cdf` and `ppf`. Closed forms where there are some, otherwise quadrature with error below 1e-4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.channels.additive import Gaussian, Laplace, Noise, Tabulated, Uniform
from sfumato.errors import EstimationError

Floats = NDArray[np.float64]
TAIL = 1e-12
QUANTILES = np.array(
    [1e-9, 1e-6, 1e-4, 1e-3, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999, 1 - 1e-4, 1 - 1e-6, 1 - 1e-9]
)
STRIPS = 2000  # cells that stand for a density without flat pieces; the error is quadratic in their width


@dataclass(frozen=True)
class Law:
    """A density seen from here: `breaks` are its jumps and kinks, `flat` its (edges, heights) if piecewise constant."""

    pdf: Callable[[Any], Floats]
    cdf: Callable[[Any], Floats]
    quantile: Callable[[Any], Floats]
    breaks: tuple[float, ...] = ()
    flat: tuple[Floats, Floats] | None = None
    variance: float | None = None  # of a normal, else None

    @property
    def span(self) -> tuple[float, float]:
        if self.flat is not None:
            return float(self.flat[0][0]), float(self.flat[0][-1])
        return float(self.quantile(TAIL)), float(self.quantile(1 - TAIL))


def law(x: Any) -> Law:
    """The common view of whatever holds a density."""
    if isinstance(x, Law):
        return x
    if isinstance(x, Uniform | Tabulated):
        edges = np.array(x.support if isinstance(x, Uniform) else x.edges)
        mass = np.array([1.0] if isinstance(x, Uniform) else x.mass)
        return _flat(edges, mass / mass.sum(), x.pdf, x.cdf, x.quantile)
    if isinstance(x, Noise):
        ends = tuple(e for e in x.support if math.isfinite(e))
        kink = (0.0,) if isinstance(x, Laplace) else ()
        return Law(x.pdf, x.cdf, x.quantile, ends + kink, None, x.std**2 if isinstance(x, Gaussian) else None)
    if hasattr(x, "edges") and hasattr(x, "mass"):
        return _flat(np.asarray(x.edges), np.asarray(x.mass), x.pdf, x.cdf, x.quantile)
    if not (hasattr(x, "pdf") and hasattr(x, "cdf") and hasattr(x, "ppf")):
        raise EstimationError(f"a distribution must have pdf, cdf and ppf, got {type(x).__name__}")
    name = getattr(getattr(x, "dist", None), "name", "")
    ends = tuple(float(e) for e in x.support() if math.isfinite(e)) if hasattr(x, "support") else ()
    if name == "uniform":
        return _flat(np.array(ends), np.array([1.0]), x.pdf, x.cdf, x.ppf)
    kinks = (float(x.median()),) if name == "laplace" else ()
    return Law(x.pdf, x.cdf, x.ppf, ends + kinks, None, float(x.var()) if name == "norm" else None)


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
    return _entropy(f.pdf, _panels(f))


def inherent_privacy(x: Any) -> float:
    """Pi(X) = 2^h(X): the width of the uniform distribution that is as uncertain as X. AA01 section 2."""
    return math.exp2(differential_entropy(x))


def mutual_information(x: Any, noise: Any) -> float:
    r"""I(X; Z) = h(Z) - h(Y) in bits for Z = X + Y. Two normals: log2(1 + v_X / v_Y) / 2."""
    f, g = law(x), law(noise)
    if f.variance is not None and g.variance is not None:
        return 0.5 * math.log2(1 + f.variance / g.variance)
    return max(_entropy(*released(f, g)) - differential_entropy(noise), 0.0)


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
    panels = np.union1d(_panels(f), _panels(e)) if e.flat is None else e.flat[0]
    inner = [b for b in f.breaks + e.breaks if panels[0] < b < panels[-1]]
    panels = np.union1d(panels, inner)
    inside = _absolute(lambda t: np.asarray(f.pdf(t)) - np.asarray(e.pdf(t)), panels, tolerance)
    missed = float(f.cdf(panels[0])) + 1 - float(f.cdf(panels[-1]))
    extra = float(e.cdf(panels[0])) + 1 - float(e.cdf(panels[-1]))
    return 0.5 * (inside + missed + extra)


def floor(x: Any, edges: ArrayLike, tolerance: float = 1e-6) -> float:
    """What the best piecewise-constant density on these cells loses: its heights are the cell means of X's density.

    >>> from sfumato.channels.additive import gaussian
    >>> round(100 * floor(gaussian(math.sqrt(2 / (math.pi * math.e))), np.linspace(-2.5, 2.5, 51)), 3)
    2.065
    """
    f, cells = law(x), np.asarray(edges, dtype=np.float64)
    mass = np.diff(np.asarray(f.cdf(cells)))
    return information_loss(f, _flat(cells, mass / mass.sum()), tolerance)


def released(f: Law, g: Law) -> tuple[Callable[[Floats], Floats], Floats]:
    """The density of Z = X + Y and the panels between its kinks."""
    if g.flat is None and f.flat is not None:
        f, g = g, f
    if g.flat is not None:
        edges, height = g.flat
        cdf = f.cdf
    else:  # neither is piecewise constant: thin strips of X, exact in Y
        low, high = f.span
        share = 1 / (1 + np.exp(-np.linspace(-27.0, 27.0, STRIPS + 1)))
        edges = np.unique(np.concatenate((np.asarray(f.quantile(share)), np.linspace(low, high, STRIPS + 1))))
        height = np.diff(np.asarray(f.cdf(edges))) / np.diff(edges)
        cdf = g.cdf

    def pdf(z: Floats) -> Floats:
        below = np.asarray(cdf(z[:, None] - edges[None, :]))
        return -np.diff(below, axis=1) @ height

    ends = np.add.outer(f.span, g.span).ravel()
    own = f.breaks if f.breaks else f.span
    kinks = np.add.outer(own, g.breaks).ravel() if g.breaks else np.array([])
    grid = np.linspace(ends.min(), ends.max(), 33)
    body = np.asarray(f.quantile(QUANTILES)) + np.asarray(g.quantile(QUANTILES))
    points = np.union1d(np.union1d(grid, body), kinks)
    return pdf, points[np.concatenate(([True], np.diff(points) > 1e-9 * (ends.max() - ends.min())))]


def _flat(
    edges: Floats,
    mass: Floats,
    pdf: Callable[[Any], Floats] | None = None,
    cdf: Callable[[Any], Floats] | None = None,
    quantile: Callable[[Any], Floats] | None = None,
) -> Law:
    height = mass / np.diff(edges)
    total = np.concatenate(([0.0], np.cumsum(mass)))

    def at(t: Any) -> Floats:
        padded = np.concatenate(([0.0], height, [0.0]))
        return padded[np.searchsorted(edges, np.asarray(t), side="right")]

    return Law(
        pdf or at,
        cdf or (lambda t: np.interp(t, edges, total)),
        quantile or (lambda q: np.interp(q, total, edges)),
        tuple(map(float, edges)),
        (edges, height),
    )


def _panels(f: Law) -> Floats:
    """Intervals on which the density is smooth and changes scale slowly, from tail to tail."""
    if f.flat is not None:
        return f.flat[0]
    low, high = f.span
    points = np.concatenate((np.linspace(low, high, 33), np.asarray(f.quantile(QUANTILES)), f.breaks))
    return np.unique(np.clip(points, low, high))


def _entropy(pdf: Callable[[Floats], Floats], panels: Floats) -> float:
    """-int f log2 f by Gauss-Legendre on halved panels until each changes by less than its share of 1e-6."""

    def integrand(t: Floats) -> Floats:
        value = np.maximum(np.asarray(pdf(t)), 0.0)
        return -value * np.log2(np.where(value > 0, value, 1.0))

    return _adaptive(integrand, panels, 1e-6)


def _absolute(difference: Callable[[Floats], Floats], panels: Floats, tolerance: float) -> float:
    return _adaptive(lambda t: np.abs(difference(t)), panels, tolerance)


def _adaptive(integrand: Callable[[Floats], Floats], panels: Floats, tolerance: float) -> float:
    """Gauss-Legendre with 10 points against its two halves; only panels that disagree are split again."""
    nodes, weights = np.polynomial.legendre.leggauss(10)

    def rule(left: Floats, right: Floats) -> Floats:
        half = (right - left) / 2
        points = ((left + right) / 2)[:, None] + half[:, None] * nodes
        out = np.empty(left.size)
        for start in range(0, left.size, 64):
            part = points[start : start + 64]
            out[start : start + 64] = np.asarray(integrand(part.ravel())).reshape(part.shape) @ weights
        return out * half

    left, right = panels[:-1], panels[1:]
    coarse, total = rule(left, right), 0.0
    for _ in range(40):
        middle = (left + right) / 2
        first, second = rule(left, middle), rule(middle, right)
        good = np.abs(first + second - coarse) <= tolerance / max(panels.size, left.size)
        total += float((first + second)[good].sum())
        if good.all():
            return total
        bad = ~good
        coarse = np.concatenate((first[bad], second[bad]))
        left, right = np.concatenate((left[bad], middle[bad])), np.concatenate((middle[bad], right[bad]))
    return total + float(coarse.sum())


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence <= 1:
        raise EstimationError(f"confidence must lie in (0, 1], got {confidence}")
