"""Noise that is given rather than named: a table, a sample of it, or any scipy.stats distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array
from sfumato.channels.noise import TIE, Closed, Noise, checked_edges, numbers
from sfumato.errors import ChannelError


@dataclass(frozen=True, eq=False)
class Tabulated(Closed):
    """Noise with a piecewise-constant density: `mass[i]` spread evenly over [edges[i], edges[i + 1]].

    >>> tabulated([-1, 0, 2], [0.5, 0.5]).cdf([-0.5, 1.0])
    array([0.25, 0.75])
    """

    edges: tuple[float, ...]
    mass: tuple[float, ...]
    kind: ClassVar[str] = "tabulated"
    symmetric: ClassVar[bool] = False

    def __post_init__(self) -> None:
        e, m = checked_edges(self.edges, "edges"), np.asarray(self.mass, dtype=np.float64)
        if not np.isfinite(e).all():
            raise ChannelError(f"edges must be finite, got {e[0]} to {e[-1]}")
        if m.shape != (e.size - 1,):
            raise ChannelError(f"mass must have one entry a cell, {e.size - 1} in all, got {m.size}")
        wrong = m[~(m >= 0) | ~np.isfinite(m)]
        if wrong.size:
            raise ChannelError(f"mass must be non-negative and finite, got {wrong[0]:g}")
        if abs(m.sum() - 1) > 1e-6:
            raise ChannelError(f"mass must be non-negative and sum to 1, got sum {m.sum():.6g}")

    @property
    def _knots(self) -> tuple[Array, Array, Array]:
        e, m = np.asarray(self.edges), np.asarray(self.mass)
        return e, m / m.sum(), np.concatenate(([0.0], np.cumsum(m / m.sum())))

    def cdf(self, x: ArrayLike) -> Array:
        e, _, total = self._knots
        return np.interp(np.asarray(x, dtype=np.float64), e, total)

    def pdf(self, x: ArrayLike) -> Array:
        e, m, _ = self._knots
        t, near = np.asarray(x, dtype=np.float64), TIE * (e[-1] - e[0])
        height = np.concatenate(([0.0], m / np.diff(e), [0.0]))
        # the mean of the heights either side: a tie at an edge weighs one half of each
        before = height[np.searchsorted(e, t - near, side="right")]
        return np.asarray(before + height[np.searchsorted(e, t + near, side="right")]) / 2

    @property
    def quantile_points(self) -> tuple[Array, Array]:
        """Shares of the mass and the values up to which they lie; the quantile is straight between them.

        Both ends of every cell with mass: where the next one begins further on the quantile jumps, so that the cells
        between them are left empty.
        """
        e, m, total = self._knots
        held = np.flatnonzero(m)
        ends = np.unique(np.concatenate([held, held + 1]))
        return total[ends], e[ends]

    def quantile(self, u: ArrayLike) -> Array:
        return np.interp(np.asarray(u, dtype=np.float64), *self.quantile_points)

    @property
    def support(self) -> tuple[float, float]:
        held = np.flatnonzero(self.mass)
        return (self.edges[int(held[0])], self.edges[int(held[-1]) + 1])

    @property
    def sd(self) -> float:
        e, m, _ = self._knots
        middle, width = (e[1:] + e[:-1]) / 2, np.diff(e)
        mean = float(m @ middle)
        return math.sqrt(float(m @ ((middle - mean) ** 2 + width**2 / 12)))

    def moment(self, power: int) -> float:
        e, m, _ = self._knots
        return float(m @ (np.diff(e ** (power + 1)) / np.diff(e))) / (power + 1)

    def _cdf_integral(self, t: Array) -> Array:
        e, m, total = self._knots
        width = np.diff(e)
        area = np.concatenate(([0.0], np.cumsum(width * (total[1:] + total[:-1]) / 2)))
        inside = np.clip(t, e[0], e[-1])
        cell = np.clip(np.searchsorted(e, inside, side="right") - 1, 0, m.size - 1)
        step = inside - e[cell]
        inside_area = area[cell] + step * total[cell] + step**2 * (m / width)[cell] / 2
        return np.asarray(inside_area + np.maximum(t - e[-1], 0.0))

    def parameters(self) -> dict[str, Any]:
        return {"edges": list(self.edges), "mass": list(self.mass)}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Tabulated:
        return tabulated(parameters["edges"], parameters["mass"])


@dataclass(frozen=True, eq=False)
class Frozen(Noise):
    """Any continuous scipy.stats distribution with its parameters fixed; kept as name, args and keywords."""

    name: str
    args: tuple[float, ...]
    keywords: tuple[tuple[str, float], ...]
    _dist: Any = field(compare=False, repr=False)
    kind: ClassVar[str] = "scipy"
    symmetric: ClassVar[bool] = False

    def cdf(self, x: ArrayLike) -> Array:
        return np.asarray(self._dist.cdf(np.asarray(x, dtype=np.float64)), dtype=np.float64)

    def pdf(self, x: ArrayLike) -> Array:
        t = np.asarray(x, dtype=np.float64)
        low, high = self.support
        reach = high - low if math.isfinite(high - low) else float(self.quantile(0.75) - self.quantile(0.25))
        value = np.asarray(self._dist.pdf(t), dtype=np.float64)
        for end, inward in ((low, 1.0), (high, -1.0)):
            if math.isfinite(end):  # a tie at an edge where the density jumps weighs one half
                tied = np.abs(t - end) <= TIE * reach
                value = np.where(tied, np.asarray(self._dist.pdf(end + inward * 2 * TIE * reach)) / 2, value)
        return value

    def quantile(self, u: ArrayLike) -> Array:
        return np.asarray(self._dist.ppf(np.asarray(u, dtype=np.float64)), dtype=np.float64)

    @property
    def support(self) -> tuple[float, float]:
        low, high = self._dist.support()
        return (float(low), float(high))

    @property
    def sd(self) -> float:
        return float(self._dist.std())

    def moment(self, power: int) -> float:
        return float(self._dist.moment(power))

    def parameters(self) -> dict[str, Any]:
        return {"name": self.name, "args": list(self.args), "kwds": dict(self.keywords)}

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any]) -> Noise:
        return named(str(parameters["name"]), parameters["args"], parameters["kwds"])


def tabulated(edges: ArrayLike, mass: ArrayLike) -> Tabulated:
    """Noise given as a histogram density."""
    e, m = numbers(edges, "edges"), numbers(mass, "mass")
    return Tabulated(tuple(map(float, e.ravel())), tuple(map(float, m.ravel())))


def empirical(samples: ArrayLike, bins: int = 100) -> Tabulated:
    """Noise known only through a sample of it (a calibration run), as a histogram density."""
    y = numbers(samples, "samples").ravel()
    if y.size < 2 or not np.isfinite(y).all() or y.min() == y.max():
        raise ChannelError(f"samples must be at least 2 finite, differing values, got {y.size} that are not")
    if not isinstance(bins, int | np.integer) or bins < 1:
        raise ChannelError(f"bins must be a whole number of at least 1, got {bins!r}")
    counts, edges = np.histogram(y, bins=bins)
    return tabulated(edges, counts / y.size)


def from_scipy(frozen: Any) -> Noise:
    """Any frozen continuous distribution of scipy.stats; uniform ones become exact tables.

    >>> import scipy.stats
    >>> from_scipy(scipy.stats.gamma(2.0)).to_dict()
    {'kind': 'scipy', 'name': 'gamma', 'args': [2.0], 'kwds': {}}
    """
    dist = getattr(frozen, "dist", None)
    if hasattr(frozen, "_hpdf") and hasattr(frozen, "_hbins"):  # scipy.stats.rv_histogram is a table already
        edges = np.asarray(frozen._hbins, dtype=np.float64)
        mass = np.diff(frozen.cdf(edges))
        return tabulated(edges, mass / mass.sum())
    if dist is None or not hasattr(frozen, "ppf"):
        raise ChannelError(
            f"noise must be a frozen scipy.stats distribution such as scipy.stats.norm(0, 1), got "
            f"{type(frozen).__name__}: give anything else by tabulated(edges, mass) or empirical(samples)"
        )
    if not hasattr(dist, "pdf"):
        raise ChannelError(f"noise must be continuous, got the discrete distribution {dist.name!r}")
    shapes, loc, scale = dist._parse_args(*frozen.args, **frozen.kwds)
    if any(np.ndim(number) != 0 for number in (*shapes, loc, scale)):
        raise ChannelError(f"noise must be one distribution, got {dist.name!r} with arrays for parameters")
    spread = _spread(frozen, shapes, loc, scale)
    if not (math.isfinite(spread) and spread > 0):
        raise ChannelError(f"noise must have a positive, finite scale, got {dist.name!r} with spread {spread}")
    if dist.name == "uniform":
        return tabulated(frozen.support(), [1.0])
    args = tuple(float(a) for a in frozen.args)
    return Frozen(str(dist.name), args, tuple((str(k), float(v)) for k, v in frozen.kwds.items()), frozen)


def _spread(frozen: Any, shapes: Sequence[float], loc: float, scale: float) -> float:
    """The distance of the quartiles; where quantiles take an integral each, the scale of allowed parameters instead."""
    from scipy.stats import rv_continuous

    if type(frozen.dist)._ppf is not rv_continuous._ppf:
        return float(frozen.ppf(0.75) - frozen.ppf(0.25))
    return float(scale) if np.all(frozen.dist._argcheck(*shapes)) and math.isfinite(loc) else math.nan


def named(name: str, args: Sequence[float], kwds: Mapping[str, float]) -> Noise:
    import scipy.stats

    dist = getattr(scipy.stats, name, None)
    if not isinstance(dist, scipy.stats.rv_continuous):
        raise ChannelError(f"scipy noise must name a continuous distribution of scipy.stats, got {name!r}")
    try:
        return from_scipy(dist(*args, **kwds))
    except TypeError:
        raise ChannelError(f"scipy.stats.{name} does not take the arguments {list(args)}") from None
