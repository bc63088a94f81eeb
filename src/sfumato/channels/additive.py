"""Additive noise: z = x + y with y drawn from a public density, as in Agrawal and Aggarwal (2001), AA01.

Continuous noise added in double precision is **not differentially private**: the spacing of doubles betrays the input
(two thirds of naive Laplace outputs at x = 0 cannot come from x = 1). It is here for the papers' own comparisons.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato import randomness
from sfumato.errors import ChannelError

Floats = NDArray[np.float64]
TIE = 1e-9  # relative distance at which a point counts as lying on an edge of the noise
CHUNK = 1 << 20


@dataclass(frozen=True)
class Noise:
    r"""A public noise density; its kernel between intervals comes from the cdf, never from midpoints.

        P[x, y] = Pr(Z in y-interval | X uniform in x-interval)
                = (1 / w) \int_{x0}^{x1} F(y1 - x) - F(y0 - x) dx

    AA01 section 4.1. Ties at the edge of a bounded density weigh one half.
    """

    kind: ClassVar[str] = ""
    symmetric: ClassVar[bool] = True  # about zero

    def cdf(self, x: ArrayLike) -> Floats:
        raise NotImplementedError

    def pdf(self, x: ArrayLike) -> Floats:
        raise NotImplementedError

    def quantile(self, u: ArrayLike) -> Floats:
        raise NotImplementedError

    @property
    def support(self) -> tuple[float, float]:
        return (-math.inf, math.inf)

    @property
    def sd(self) -> float:
        raise NotImplementedError

    @property
    def gamma(self) -> float:
        """Infinite: some output is impossible from some input, or the ratio grows without bound."""
        return math.inf

    @property
    def epsilon(self) -> float:
        return math.inf

    def randomize(self, values: ArrayLike, rng: np.random.Generator | int | None = None) -> Floats:
        """values + noise, by the inverse cdf of 53 random bits from the secure source (or `rng` for experiments).

        Continuous noise in doubles is not differentially private: see the module's first lines.
        """
        x = np.asarray(values, dtype=np.float64)
        if not np.isfinite(x).all():
            count = int((~np.isfinite(x)).sum())
            raise ChannelError(
                f"values must be finite, got {count} NaN or infinite: drop or impute them first"
            )
        src = randomness.source(rng)
        flat = x.reshape(-1).copy()
        for start in range(0, flat.size, CHUNK):
            part = flat[start : start + CHUNK]
            bits = randomness.words(src, part.size) >> np.uint64(randomness.BITS - 53)
            part += self.quantile((bits.astype(np.float64) + 0.5) * 2.0**-53)
        return flat.reshape(x.shape)

    def interval_matrix(self, x_edges: ArrayLike, y_edges: ArrayLike) -> Floats:
        """P[x, y] of shape (K, M), exact; rows sum to 1 when y_edges cover all outputs (outer edges may be infinite).

        >>> uniform(1).interval_matrix([0, 1], [-1, 0, 1, 2])
        array([[0.25, 0.5 , 0.25]])
        """
        x, y = _edges(x_edges, "x_edges"), _edges(y_edges, "y_edges")
        if not np.isfinite(x).all():
            raise ChannelError(f"x_edges must be finite, got {x[0]} to {x[-1]}")
        below = self._mean_cdf(y, x)
        matrix = np.diff(below, axis=0)
        if self.symmetric:  # in the upper tail 1 - F loses all digits: take the mirrored problem there
            above = self._mean_cdf(-y[::-1], -x[::-1])[::-1, ::-1]
            matrix = np.where(below[1:] < 0.5, matrix, -np.diff(above, axis=0))
        return np.ascontiguousarray(np.maximum(matrix, 0.0).T)

    def density_matrix(self, x_edges: ArrayLike, z: ArrayLike) -> Floats:
        """The density of each z given X uniform in each cell, (F(z - x0) - F(z - x1)) / w, of shape (N, K)."""
        x, points = _edges(x_edges, "x_edges"), np.asarray(z, dtype=np.float64)
        gap = points[:, None] - x[None, :]
        below = self.cdf(gap)
        matrix = -np.diff(below, axis=1)
        if self.symmetric:
            matrix = np.where(below[:, :-1] < 0.5, matrix, np.diff(self.cdf(-gap), axis=1))
        return np.maximum(matrix, 0.0) / np.diff(x)

    def discretize(self, x_edges: ArrayLike, y_edges: ArrayLike) -> Any:
        """The finite channel between the cells of x and the cells of y."""
        from sfumato.channels.pram import matrix

        P = self.interval_matrix(x_edges, y_edges)
        lost = 1.0 - P.sum(axis=1)
        if lost.max() > 1e-9:
            raise ChannelError(
                f"y_edges must cover every output, got edges that miss up to {lost.max():.3g} of a row: "
                "let them start at -inf and end at inf"
            )
        return matrix(P / P.sum(axis=1, keepdims=True))

    def to_dict(self) -> dict[str, Any]:
        raise NotImplementedError

    def _mean_cdf(self, y: Floats, x: Floats) -> Floats:
        """C[e, i]: the mean of F(y_e - x) over cell i, by Gauss-Legendre between the ends of the support."""
        low, high = self.support
        width = np.diff(x)
        spread = float(self.quantile(0.75) - self.quantile(0.25))
        nodes, weights = np.polynomial.legendre.leggauss(12 if width.max() < spread else 48)
        finite = np.isfinite(y)
        edge = np.where(finite, y, 0.0)[:, None]
        # F is 1 left of y - high and 0 right of y - low: only the rest needs quadrature, so its kinks cost nothing
        left = np.clip(edge - high, x[:-1], x[1:])
        right = np.clip(edge - low, x[:-1], x[1:])
        middle, half = (left + right) / 2, (right - left) / 2
        total = left - x[:-1]
        for node, weight in zip(nodes, weights, strict=True):
            total = total + weight * half * self.cdf(edge - (middle + node * half))
        return np.where(finite[:, None], total / width, (y > 0)[:, None])


class _Closed(Noise):
    """Noise whose cdf has a known antiderivative G: the mean of F over a cell is a difference of G."""

    def _cdf_integral(self, t: Floats) -> Floats:
        raise NotImplementedError

    def _mean_cdf(self, y: Floats, x: Floats) -> Floats:
        finite = np.isfinite(y)
        G = self._cdf_integral(np.where(finite, y, 0.0)[:, None] - x[None, :])
        return np.where(finite[:, None], -np.diff(G, axis=1) / np.diff(x), (y > 0)[:, None])


@dataclass(frozen=True)
class Uniform(_Closed):
    r"""Uniform noise on [-a, a]: F(t) = (t + a) / 2a, G(t) = (t + a)^2 / 4a inside. AA01 section 5.

    >>> uniform(1).pdf([0.0, 1.0, 1.5])
    array([0.5 , 0.25, 0.  ])
    """

    half_width: float
    kind: ClassVar[str] = "uniform"

    def __post_init__(self) -> None:
        _positive("half_width", self.half_width)

    def cdf(self, x: ArrayLike) -> Floats:
        return np.clip((np.asarray(x, dtype=np.float64) / self.half_width + 1) / 2, 0.0, 1.0)

    def pdf(self, x: ArrayLike) -> Floats:
        t = np.abs(np.asarray(x, dtype=np.float64)) / self.half_width
        inside = np.where(t < 1, 1.0, 0.0)
        return np.where(np.abs(t - 1) <= TIE, 0.5, inside) / (2 * self.half_width)

    def quantile(self, u: ArrayLike) -> Floats:
        return self.half_width * (2 * np.asarray(u, dtype=np.float64) - 1)

    @property
    def support(self) -> tuple[float, float]:
        return (-self.half_width, self.half_width)

    @property
    def sd(self) -> float:
        return self.half_width / math.sqrt(3)

    def _cdf_integral(self, t: Floats) -> Floats:
        a = self.half_width
        return np.where(t >= a, t, np.square(np.clip(t, -a, a) + a) / (4 * a))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "half_width": self.half_width}


@dataclass(frozen=True)
class Gaussian(_Closed):
    r"""Normal noise with mean 0: G(t) = t Phi(t / s) + s phi(t / s). AA01 section 5."""

    std: float
    kind: ClassVar[str] = "gaussian"

    def __post_init__(self) -> None:
        _positive("sd", self.std)

    def cdf(self, x: ArrayLike) -> Floats:
        from scipy.special import ndtr

        return np.asarray(ndtr(np.asarray(x, dtype=np.float64) / self.std), dtype=np.float64)

    def pdf(self, x: ArrayLike) -> Floats:
        u = np.asarray(x, dtype=np.float64) / self.std
        return np.exp(-u * u / 2) / (self.std * math.sqrt(2 * math.pi))

    def quantile(self, u: ArrayLike) -> Floats:
        from scipy.special import ndtri

        return np.asarray(self.std * ndtri(np.asarray(u, dtype=np.float64)), dtype=np.float64)

    @property
    def sd(self) -> float:
        return self.std

    def _cdf_integral(self, t: Floats) -> Floats:
        return t * self.cdf(t) + self.std**2 * self.pdf(t)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "sd": self.std}


@dataclass(frozen=True)
class Laplace(_Closed):
    r"""Double-exponential noise of scale b: F(t) = e^{t/b} / 2 for t < 0, G(t) = max(t, 0) + b e^{-|t|/b} / 2."""

    scale: float
    kind: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        _positive("scale", self.scale)

    def cdf(self, x: ArrayLike) -> Floats:
        t = np.asarray(x, dtype=np.float64) / self.scale
        tail = np.exp(-np.abs(t)) / 2
        return np.where(t < 0, tail, 1 - tail)

    def pdf(self, x: ArrayLike) -> Floats:
        return np.exp(-np.abs(np.asarray(x, dtype=np.float64)) / self.scale) / (2 * self.scale)

    def quantile(self, u: ArrayLike) -> Floats:
        q = np.asarray(u, dtype=np.float64)
        centred = q - 0.5
        return -self.scale * np.sign(centred) * np.log1p(-2 * np.abs(centred))

    @property
    def sd(self) -> float:
        return self.scale * math.sqrt(2)

    def _cdf_integral(self, t: Floats) -> Floats:
        return np.maximum(t, 0.0) + self.scale / 2 * np.exp(-np.abs(t) / self.scale)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "scale": self.scale}


@dataclass(frozen=True)
class Tabulated(_Closed):
    """Noise with a piecewise-constant density: `mass[i]` spread evenly over [edges[i], edges[i + 1]].

    >>> tabulated([-1, 0, 2], [0.5, 0.5]).cdf([-0.5, 1.0])
    array([0.25, 0.75])
    """

    edges: tuple[float, ...]
    mass: tuple[float, ...]
    kind: ClassVar[str] = "tabulated"
    symmetric: ClassVar[bool] = False

    def __post_init__(self) -> None:
        e, m = _edges(self.edges, "edges"), np.asarray(self.mass, dtype=np.float64)
        if not np.isfinite(e).all():
            raise ChannelError(f"edges must be finite, got {e[0]} to {e[-1]}")
        if m.shape != (e.size - 1,):
            raise ChannelError(f"mass must have one entry a cell, {e.size - 1} in all, got {m.size}")
        if not np.isfinite(m).all() or (m < 0).any() or abs(m.sum() - 1) > 1e-6:
            raise ChannelError(f"mass must be non-negative and sum to 1, got sum {m.sum():.6g}")

    @property
    def _knots(self) -> tuple[Floats, Floats, Floats]:
        e, m = np.asarray(self.edges), np.asarray(self.mass)
        return e, m / m.sum(), np.concatenate(([0.0], np.cumsum(m / m.sum())))

    def cdf(self, x: ArrayLike) -> Floats:
        e, _, total = self._knots
        return np.interp(np.asarray(x, dtype=np.float64), e, total)

    def pdf(self, x: ArrayLike) -> Floats:
        e, m, _ = self._knots
        t, near = np.asarray(x, dtype=np.float64), TIE * (e[-1] - e[0])
        height = np.concatenate(([0.0], m / np.diff(e), [0.0]))
        # the mean of the heights either side: a tie at an edge weighs one half of each
        before = height[np.searchsorted(e, t - near, side="right")]
        return (before + height[np.searchsorted(e, t + near, side="right")]) / 2

    def quantile(self, u: ArrayLike) -> Floats:
        e, _, total = self._knots
        keep = np.concatenate(([True], np.diff(total) > 0))
        keep[max(int(np.argmax(keep[1:])), 0)] = True
        return np.interp(np.asarray(u, dtype=np.float64), total[keep], e[keep])

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

    def _cdf_integral(self, t: Floats) -> Floats:
        e, m, total = self._knots
        width = np.diff(e)
        area = np.concatenate(([0.0], np.cumsum(width * (total[1:] + total[:-1]) / 2)))
        inside = np.clip(t, e[0], e[-1])
        cell = np.clip(np.searchsorted(e, inside, side="right") - 1, 0, m.size - 1)
        step = inside - e[cell]
        return area[cell] + step * total[cell] + step**2 * (m / width)[cell] / 2 + np.maximum(t - e[-1], 0.0)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "edges": list(self.edges), "mass": list(self.mass)}


@dataclass(frozen=True)
class Frozen(Noise):
    """Any continuous scipy.stats distribution with its parameters fixed; kept as name, args and keywords."""

    name: str
    args: tuple[float, ...]
    keywords: tuple[tuple[str, float], ...]
    _dist: Any = field(compare=False, repr=False)
    kind: ClassVar[str] = "scipy"
    symmetric: ClassVar[bool] = False

    def cdf(self, x: ArrayLike) -> Floats:
        return np.asarray(self._dist.cdf(np.asarray(x, dtype=np.float64)), dtype=np.float64)

    def pdf(self, x: ArrayLike) -> Floats:
        t = np.asarray(x, dtype=np.float64)
        low, high = self.support
        reach = high - low if math.isfinite(high - low) else float(self.quantile(0.75) - self.quantile(0.25))
        value = np.asarray(self._dist.pdf(t), dtype=np.float64)
        for end, inward in ((low, 1.0), (high, -1.0)):
            if math.isfinite(end):  # a tie at an edge where the density jumps weighs one half
                tied = np.abs(t - end) <= TIE * reach
                value = np.where(tied, np.asarray(self._dist.pdf(end + inward * 2 * TIE * reach)) / 2, value)
        return value

    def quantile(self, u: ArrayLike) -> Floats:
        return np.asarray(self._dist.ppf(np.asarray(u, dtype=np.float64)), dtype=np.float64)

    @property
    def support(self) -> tuple[float, float]:
        low, high = self._dist.support()
        return (float(low), float(high))

    @property
    def sd(self) -> float:
        return float(self._dist.std())

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, "args": list(self.args), "kwds": dict(self.keywords)}


def uniform(half_width: float) -> Uniform:
    """Noise uniform on [-half_width, half_width]."""
    return Uniform(float(half_width))


def gaussian(sd: float) -> Gaussian:
    """Normal noise with standard deviation sd."""
    return Gaussian(float(sd))


def laplace(scale: float) -> Laplace:
    """Double-exponential noise; its standard deviation is scale times the square root of 2."""
    return Laplace(float(scale))


def tabulated(edges: ArrayLike, mass: ArrayLike) -> Tabulated:
    """Noise given as a histogram density."""
    e, m = np.asarray(edges, dtype=np.float64), np.asarray(mass, dtype=np.float64)
    return Tabulated(tuple(map(float, e.ravel())), tuple(map(float, m.ravel())))


def empirical(samples: ArrayLike, bins: int = 100) -> Tabulated:
    """Noise known only through a sample of it (a calibration run), as a histogram density."""
    y = np.asarray(samples, dtype=np.float64).ravel()
    if y.size < 2 or not np.isfinite(y).all() or y.min() == y.max():
        raise ChannelError(f"samples must be at least 2 finite, differing values, got {y.size} that are not")
    if bins < 1:
        raise ChannelError(f"bins must be at least 1, got {bins}")
    counts, edges = np.histogram(y, bins=bins)
    return tabulated(edges, counts / y.size)


def from_scipy(frozen: Any) -> Noise:
    """Any frozen continuous distribution of scipy.stats; uniform ones become exact tables.

    >>> import scipy.stats
    >>> from_scipy(scipy.stats.gamma(2.0)).to_dict()
    {'kind': 'scipy', 'name': 'gamma', 'args': [2.0], 'kwds': {}}
    """
    dist = getattr(frozen, "dist", None)
    if dist is None or not hasattr(frozen, "ppf"):
        raise ChannelError(f"noise must be a frozen scipy.stats distribution, got {type(frozen).__name__}")
    if not hasattr(dist, "pdf"):
        raise ChannelError(f"noise must be continuous, got the discrete distribution {dist.name!r}")
    spread = float(frozen.ppf(0.75) - frozen.ppf(0.25))
    if not (math.isfinite(spread) and spread > 0):
        raise ChannelError(
            f"noise must have a positive, finite scale, got {dist.name!r} with spread {spread}"
        )
    if dist.name == "uniform":
        return tabulated(frozen.support(), [1.0])
    args = tuple(float(a) for a in frozen.args)
    return Frozen(str(dist.name), args, tuple((str(k), float(v)) for k, v in frozen.kwds.items()), frozen)


def from_dict(document: Mapping[str, Any]) -> Noise:
    """The noise that `to_dict` wrote.

    >>> from_dict(laplace(2).to_dict()) == laplace(2)
    True
    """
    kind = document.get("kind")
    try:
        if kind == "uniform":
            return uniform(document["half_width"])
        if kind == "gaussian":
            return gaussian(document["sd"])
        if kind == "laplace":
            return laplace(document["scale"])
        if kind == "tabulated":
            return tabulated(document["edges"], document["mass"])
        if kind == "scipy":
            return _named(str(document["name"]), document["args"], document["kwds"])
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, ChannelError):
            raise
        raise ChannelError(f"noise document of kind {kind!r} cannot be read: {error}") from None
    raise ChannelError(f"kind must be uniform, gaussian, laplace, tabulated or scipy, got {kind!r}")


def parse_noise(text: str) -> Noise:
    """Noise from its command-line form: uniform:1, gaussian:0.5, laplace:2, or scipy.NAME:arg,arg.

    >>> parse_noise("uniform:1")
    Uniform(half_width=1.0)
    """
    name, _, rest = text.strip().partition(":")
    try:
        numbers = [float(part) for part in rest.split(",")] if rest else []
    except ValueError:
        raise ChannelError(f"noise must look like uniform:1, got {text!r}: {rest!r} is no number") from None
    plain = {"uniform": uniform, "gaussian": gaussian, "normal": gaussian, "laplace": laplace}
    if name in plain:
        if len(numbers) != 1:
            raise ChannelError(f"{name} noise takes one number, as in {name}:1, got {text!r}")
        return plain[name](numbers[0])
    if name.startswith("scipy."):
        return _named(name.removeprefix("scipy."), numbers, {})
    raise ChannelError(
        f"noise must be uniform:, gaussian:, laplace: or scipy.NAME: with numbers, got {text!r}"
    )


def _named(name: str, args: Sequence[float], kwds: Mapping[str, float]) -> Noise:
    import scipy.stats

    dist = getattr(scipy.stats, name, None)
    if not isinstance(dist, scipy.stats.rv_continuous):
        raise ChannelError(f"scipy noise must name a continuous distribution of scipy.stats, got {name!r}")
    try:
        return from_scipy(dist(*args, **kwds))
    except TypeError:
        raise ChannelError(f"scipy.stats.{name} does not take the arguments {list(args)}") from None


def _edges(values: ArrayLike, name: str) -> Floats:
    edges = np.asarray(values, dtype=np.float64)
    if edges.ndim != 1 or edges.size < 2 or not (np.diff(edges) > 0).all():
        raise ChannelError(f"{name} must be at least 2 increasing numbers, got {np.asarray(values).shape}")
    return edges


def _positive(name: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0):
        raise ChannelError(f"{name} must be positive and finite, got {value}")
