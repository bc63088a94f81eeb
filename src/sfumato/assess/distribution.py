"""A density as the continuous measures see it: pdf, cdf, quantiles, and where it is not smooth."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.channels.additive import Gaussian, Laplace, Noise, Tabulated, Uniform
from sfumato.errors import EstimationError

TAIL = 1e-12
LADDER = 1 / (1 + np.exp(-np.linspace(-23.0, 23.0, 47)))  # shares from 1e-10 to 1 - 1e-10
STRIPS, MOST_STRIPS = 2500, 4500  # cells that stand for a density without flat pieces
CURVED = 1e-6  # mass that a strip may misplace


@dataclass(frozen=True)
class Law:
    """A density seen from here: `breaks` are its jumps and kinks, `flat` its (edges, heights) if piecewise constant."""

    pdf: Callable[[Any], Array]
    cdf: Callable[[Any], Array]
    quantile: Callable[[Any], Array]
    breaks: tuple[float, ...] = ()
    flat: tuple[Array, Array] | None = None
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
        return piecewise(edges, mass / mass.sum(), x.pdf, x.cdf, x.quantile)
    if isinstance(x, Noise):
        ends = tuple(e for e in x.support if math.isfinite(e))
        kink = (0.0,) if isinstance(x, Laplace) else ()
        return Law(x.pdf, x.cdf, x.quantile, ends + kink, None, x.std**2 if isinstance(x, Gaussian) else None)
    if hasattr(x, "edges") and hasattr(x, "mass"):
        return piecewise(np.asarray(x.edges), np.asarray(x.mass), x.pdf, x.cdf, x.quantile)
    if not (hasattr(x, "pdf") and hasattr(x, "cdf") and hasattr(x, "ppf")):
        raise EstimationError(f"a distribution must have pdf, cdf and ppf, got {type(x).__name__}")
    name = getattr(getattr(x, "dist", None), "name", "")
    ends = tuple(float(e) for e in x.support() if math.isfinite(e)) if hasattr(x, "support") else ()
    if name == "uniform":
        return piecewise(np.array(ends), np.array([1.0]), x.pdf, x.cdf, x.ppf)
    kinks = (float(x.median()),) if name == "laplace" else ()
    return Law(x.pdf, x.cdf, x.ppf, ends + kinks, None, float(x.var()) if name == "norm" else None)


def panels(f: Law) -> Array:
    """Intervals on which the density is smooth and changes scale slowly, from tail to tail."""
    if f.flat is not None:
        return f.flat[0]
    low, high = f.span
    points = np.concatenate((np.linspace(low, high, 33), np.asarray(f.quantile(LADDER)), f.breaks))
    return np.unique(np.clip(points, low, high))


def released(f: Law, g: Law) -> tuple[Callable[[Array], Array], Array]:
    """The density of Z = X + Y and the panels between its kinks."""
    if g.flat is None and f.flat is not None:
        f, g = g, f
    if g.flat is not None:
        edges, height = g.flat
        cdf = f.cdf
    else:  # neither is piecewise constant: thin strips of X, exact in Y
        edges = strips(f, float(g.quantile(0.75)) - float(g.quantile(0.25)))
        height = np.diff(np.asarray(f.cdf(edges))) / np.diff(edges)
        cdf = g.cdf

    def pdf(z: Array) -> Array:
        below = np.asarray(cdf(z[:, None] - edges[None, :]))
        return -np.diff(below, axis=1) @ height

    ends = np.add.outer(f.span, g.span).ravel()
    own = f.breaks if f.breaks else f.span
    kinks = np.add.outer(own, g.breaks).ravel() if g.breaks else np.array([])
    grid = np.linspace(ends.min(), ends.max(), 33)
    rungs = np.asarray(f.quantile(LADDER))
    body = np.concatenate((rungs + np.asarray(g.quantile(LADDER)), rungs + float(g.quantile(0.5))))
    points = np.unique(np.concatenate((grid, body, kinks)))
    apart = np.diff(points) > 1e-14 * np.abs(points[1:])
    return pdf, points[np.concatenate(([True], apart))]


def strips(f: Law, scale: float) -> Array:
    """Cells thin in the log-odds of the cdf, halved where the density still bends within one.

    Equal log-odds alone would span a gap between two modes in one strip.
    """
    share = 1 / (1 + np.exp(-np.linspace(-27.0, 27.0, STRIPS + 1)))
    edges = np.unique(np.asarray(f.quantile(share)))
    for _ in range(20):
        middle = (edges[1:] + edges[:-1]) / 2
        below = np.asarray(f.cdf(edges))
        bend = np.abs(np.asarray(f.cdf(middle)) - (below[1:] + below[:-1]) / 2) * np.minimum(1, np.diff(edges) / scale)
        room = MOST_STRIPS - edges.size
        split = middle[np.argsort(-bend)[:room]][np.sort(bend)[::-1][:room] > CURVED] if room > 0 else middle[:0]
        if not split.size:
            break
        edges = np.union1d(edges, split)
    return edges


def piecewise(
    edges: Array,
    mass: Array,
    pdf: Callable[[Any], Array] | None = None,
    cdf: Callable[[Any], Array] | None = None,
    quantile: Callable[[Any], Array] | None = None,
) -> Law:
    height = mass / np.diff(edges)
    total = np.concatenate(([0.0], np.cumsum(mass)))

    def at(t: Any) -> Array:
        padded = np.concatenate(([0.0], height, [0.0]))
        return padded[np.searchsorted(edges, np.asarray(t), side="right")]

    return Law(
        pdf or at,
        cdf or (lambda t: np.interp(t, edges, total)),
        quantile or (lambda q: np.interp(q, total, edges)),
        tuple(map(float, edges)),
        (edges, height),
    )
