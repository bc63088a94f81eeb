"""What every additive noise answers: its density, its draws, and its exact kernel between intervals."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array, Codes, Words
from sfumato.channels.base import Channel
from sfumato.channels.codes import check_axes
from sfumato.channels.pram import matrix
from sfumato.domains import Domain, Numeric
from sfumato.errors import ChannelError, quoted
from sfumato.randomness import BITS, Rng, Source, source, words

TIE = 1e-9  # relative distance at which a point counts as lying on an edge of the noise
CHUNK = 1 << 20
STEEP = 8


class Noise(Channel):
    r"""Additive noise, z = x + y: a channel with continuous output, given by the density of y.

    Between intervals it is a matrix, which comes from the cdf and never from midpoints:

        P[x, y] = Pr(Z in y-interval | X uniform in x-interval)
                = (1 / w) \int_{x0}^{x1} F(y1 - x) - F(y0 - x) dx

    AA01 section 4.1. Ties at the edge of a bounded density weigh one half.
    """

    continuous: ClassVar[bool] = True
    symmetric: ClassVar[bool] = True  # about zero

    @abstractmethod
    def cdf(self, x: ArrayLike) -> Array: ...

    @abstractmethod
    def pdf(self, x: ArrayLike) -> Array: ...

    @abstractmethod
    def quantile(self, u: ArrayLike) -> Array: ...

    @property
    def support(self) -> tuple[float, float]:
        return (-math.inf, math.inf)

    def reach(self, tail: float) -> tuple[float, float]:
        """The ends of the support; where there is none, the quantile beyond which only this tail lies.

        >>> from sfumato.channels.additive import gaussian, uniform
        >>> uniform(2).reach(0.1), gaussian(1).reach(0.5)
        ((-2.0, 2.0), (0.0, 0.0))
        """
        low, high = self.support
        return (
            low if math.isfinite(low) else float(self.quantile(tail)),
            high if math.isfinite(high) else float(self.quantile(1 - tail)),
        )

    @property
    @abstractmethod
    def sd(self) -> float: ...

    @abstractmethod
    def moment(self, power: int) -> float:
        """E[y^power]; infinite, or not a number, where there is none."""

    @property
    def exact_gamma(self) -> float:
        """Infinite: some output is impossible from some input, or the ratio grows without bound."""
        return math.inf

    @property
    def arity(self) -> int:
        return 1

    @property
    def matrix_cells(self) -> int:
        return 0

    @property
    def releases_values(self) -> bool:
        return False

    @property
    def sizes(self) -> tuple[int, ...]:
        raise ChannelError(
            f"{type(self).__name__} noise has no finite matrix: cut it into intervals with discretize(x_edges, y_edges)"
        )

    @property
    def weights(self) -> Words:
        return np.empty(self.sizes, dtype=np.uint64)  # there are none, which the sizes say

    def columns(self, names: Sequence[str]) -> list[str]:
        return list(names)

    def marginal(self, axes: Sequence[int]) -> Self:
        check_axes(axes, 1)
        return self

    def bind(self, domains: Sequence[Domain]) -> Self:
        """This noise for one numeric attribute, the only kind that it can be added to."""
        if len(domains) != 1 or not isinstance(domains[0], Numeric) or domains[0].nullable:
            raise ChannelError("additive noise needs a single numeric attribute without nulls")
        return self

    def draw(self, values: Array, draws: Words) -> Array:
        """values + noise under given 63-bit draws, by the inverse cdf of their leading 53 bits."""
        bits = draws >> np.uint64(BITS - 53)
        u = np.minimum((bits.astype(np.float64) + 0.5) * 2.0**-53, 1 - 2.0**-53)  # the last one would round to 1
        return np.asarray(values + self.quantile(u))

    def sample(self, values: Array, src: Source) -> Array:
        out = np.array(values, dtype=np.float64)
        for start in range(0, out.size, CHUNK):
            part = out[start : start + CHUNK]
            part[:] = self.draw(part, words(src, part.size))
        return out

    def draw_columns(self, columns: Sequence[Codes], word: Callable[[int], Words]) -> list[Codes]:
        return [self.draw(columns[0], word(0))]

    def sample_columns(self, columns: Sequence[Codes], src: Source) -> list[Codes]:
        return [self.sample(columns[0], src)]

    def randomize(self, values: ArrayLike, rng: Rng = None) -> Array:
        """values + noise, by the inverse cdf of 53 random bits from the secure source (or `rng` for experiments).

        Continuous noise in doubles is not differentially private: see `sfumato.channels.additive`.
        """
        x = numbers(values, "values")
        if not np.isfinite(x).all():
            count = int((~np.isfinite(x)).sum())
            raise ChannelError(f"values must be finite, got {count} NaN or infinite: drop or impute them first")
        return self.sample(x.reshape(-1), source(rng)).reshape(x.shape)

    def interval_matrix(self, x_edges: ArrayLike, y_edges: ArrayLike) -> Array:
        """P[x, y] of shape (K, M), exact; rows sum to 1 when y_edges cover all outputs (outer edges may be infinite).

        >>> from sfumato.channels.additive import uniform
        >>> uniform(1).interval_matrix([0, 1], [-1, 0, 1, 2])
        array([[0.25, 0.5 , 0.25]])
        """
        x, y = checked_edges(x_edges, "x_edges"), checked_edges(y_edges, "y_edges")
        if not np.isfinite(x).all():
            raise ChannelError(f"x_edges must be finite, got {x[0]} to {x[-1]}")
        below = self._mean_cdf(y, x)
        found = np.diff(below, axis=0)
        if self.symmetric:  # in the upper tail 1 - F loses all digits: take the mirrored problem there
            above = self._mean_cdf(-y[::-1], -x[::-1])[::-1, ::-1]
            found = np.where(below[1:] < 0.5, found, -np.diff(above, axis=0))
        return np.ascontiguousarray(np.maximum(found, 0.0).T)

    def density_matrix(self, x_edges: ArrayLike, z: ArrayLike) -> Array:
        """The density of each z given X uniform in each cell, (F(z - x0) - F(z - x1)) / w, of shape (N, K)."""
        x, points = checked_edges(x_edges, "x_edges"), np.asarray(z, dtype=np.float64)
        gap = points[:, None] - x[None, :]
        below = self.cdf(gap)
        found = -np.diff(below, axis=1)
        if self.symmetric:
            found = np.where(below[:, :-1] < 0.5, found, np.diff(self.cdf(-gap), axis=1))
        return np.maximum(found, 0.0) / np.diff(x)

    def discretize(self, x_edges: ArrayLike, y_edges: ArrayLike) -> Channel:
        """The finite channel between the cells of x and the cells of y."""
        P = self.interval_matrix(x_edges, y_edges)
        lost = 1.0 - P.sum(axis=1)
        if lost.max() > 1e-9:
            raise ChannelError(
                f"y_edges must cover every output, got edges that miss up to {lost.max():.3g} of a row: "
                "let them start at -inf and end at inf"
            )
        return matrix(P / P.sum(axis=1, keepdims=True))

    def __str__(self) -> str:
        return repr(self)

    def _mean_cdf(self, y: Array, x: Array) -> Array:
        """C[e, i]: the mean of F(y_e - x) over cell i, by Gauss-Legendre between the ends of the support."""
        low, high = self.support
        width = np.diff(x)
        steep = steep_ends(self)
        if any(steep):
            return self._steep_mean_cdf(y, x, steep)
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

    def _steep_mean_cdf(self, y: Array, x: Array, steep: tuple[bool, bool]) -> Array:
        """The same where the density diverges at an end e of its support: in r with t = e + r^8, F is smooth."""
        low, high = self.support
        median = float(self.quantile(0.5))
        nodes, weights = np.polynomial.legendre.leggauss(48)
        finite = np.isfinite(y)
        t = np.where(finite, y, 0.0)[:, None] - x[None, :]
        total = np.maximum(t[:, :-1], high) - np.maximum(t[:, 1:], high) if math.isfinite(high) else 0.0
        for begin, end, mapped, origin, sign in (
            (low, median, steep[0], low, 1.0),
            (median, high, steep[1], high, -1.0),
        ):
            lower, upper = np.clip(t[:, 1:], begin, end), np.clip(t[:, :-1], begin, end)
            a, b = sign * (lower - origin) if mapped else lower, sign * (upper - origin) if mapped else upper
            if mapped:
                a, b = np.maximum(a, 0.0) ** (1 / STEEP), np.maximum(b, 0.0) ** (1 / STEEP)
            for node, weight in zip(nodes, weights, strict=True):
                r = (a + b) / 2 + node * (b - a) / 2
                at = origin + sign * r**STEEP if mapped else r
                slope = sign * STEEP * r ** (STEEP - 1) if mapped else 1.0
                total = total + weight * (b - a) / 2 * slope * self.cdf(at)
        return np.where(finite[:, None], total / np.diff(x), (y > 0)[:, None])


class Closed(Noise):
    """Noise whose cdf has a known antiderivative G: the mean of F over a cell is a difference of G."""

    @abstractmethod
    def _cdf_integral(self, t: Array) -> Array: ...

    def _mean_cdf(self, y: Array, x: Array) -> Array:
        finite = np.isfinite(y)
        G = self._cdf_integral(np.where(finite, y, 0.0)[:, None] - x[None, :])
        return np.where(finite[:, None], -np.diff(G, axis=1) / np.diff(x), (y > 0)[:, None])


def checked_edges(values: ArrayLike, name: str) -> Array:
    edges = numbers(values, name)
    if edges.ndim != 1 or edges.size < 2 or not (np.diff(edges) > 0).all():
        raise ChannelError(f"{name} must be at least 2 increasing numbers, got {np.asarray(values).shape}")
    return edges


def steep_ends(noise: Noise) -> tuple[bool, bool]:
    """Whether the density diverges at the lower and at the upper end of its support."""
    low, high = noise.support
    found = []
    for end, share in ((low, 1e-9), (high, 1 - 1e-9)):
        if not math.isfinite(end):
            found.append(False)
            continue
        near, far = float(noise.quantile(share)), float(noise.quantile(0.5))
        # mass over distance: 1e-9 of the mass lies far nearer to a steep end than its share of the distance
        found.append(abs(near - end) < 0.3 * 1e-9 * abs(far - end))
    return found[0], found[1]


def numbers(values: ArrayLike, name: str) -> Array:
    """values as floats, or one line that names them."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        shown = quoted(" ".join(str(values).split())[:60])
        raise ChannelError(f"{name} must be numbers, got something else{shown}") from None
