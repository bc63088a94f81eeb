"""Density: the estimated distribution of X, piecewise constant on its cells."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato import randomness
from sfumato.arrays import Array
from sfumato.channels.additive import Noise
from sfumato.errors import EstimationError
from sfumato.evidence.density import band, kernels
from sfumato.evidence.density.plot import draw
from sfumato.evidence.density.resolution import resolution
from sfumato.pages.display import html_table
from sfumato.printable import percentage


@dataclass(frozen=True, eq=False)
class Density:
    """An estimate of the density of X from z = x + noise.

    `edges`, `mass`          the cells and their probabilities (they sum to 1)
    `log_likelihood`         sum log f_Z(z) under the estimate, z binned on `z_edges` (exact in EM up to 2000 values)
    `iterations`             EM or AS iterations, SQP steps, or scoring steps over all averaged models
    `trace`                  log-likelihood before each iteration and at the end ("as": under its midpoint kernel)
    `gap`                    method "mle": how much log-likelihood per value is left to gain at most
    `dropped`                method "auto": estimated mass outside the cropped support
    """

    edges: Array
    mass: Array
    method: str
    noise: Noise
    n: int
    iterations: int
    log_likelihood: float
    z_edges: Array = field(repr=False)
    z_counts: Array = field(repr=False)
    stop: str = ""
    gap: float | None = None
    dropped: float = 0.0
    trace: Array = field(default_factory=lambda: np.empty(0), repr=False)
    spread: band.Spread | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        return (
            f"Density({self.method}, n={self.n:,}, {self.mass.size} cells on "
            f"[{self.edges[0]:.6g}, {self.edges[-1]:.6g}], "
            f"mean {self.mean:.6g}, sd {self.sd:.6g}, resolution {self.resolution:.3g}, "
            f"floor {percentage(self.floor, 2)})"
        )

    def _repr_html_(self) -> str:
        levels = (0.05, 0.25, 0.5, 0.75, 0.95)
        rows = [[percentage(level), float(x)] for level, x in zip(levels, self.quantile(levels), strict=True)]
        return html_table(repr(self), ["share of values below", "value"], rows)

    @cached_property
    def height(self) -> Array:
        """The density in each cell."""
        return self.mass / np.diff(self.edges)

    @cached_property
    def cumulative(self) -> Array:
        total = np.concatenate(([0.0], np.cumsum(self.mass)))
        return np.asarray(total / total[-1])

    def pdf(self, x: ArrayLike) -> Array:
        """The density at x, 0 outside the cells."""
        t = _numbers("x", x)
        cell = np.clip(np.searchsorted(self.edges, t, side="right") - 1, 0, self.mass.size - 1)
        return np.where((t >= self.edges[0]) & (t <= self.edges[-1]), self.height[cell], 0.0)

    def cdf(self, x: ArrayLike) -> Array:
        return np.interp(_numbers("x", x), self.edges, self.cumulative)

    def quantile(self, q: ArrayLike) -> Array:
        """The smallest x with cdf(x) >= q."""
        u = _numbers("q", q)
        if not ((u >= 0) & (u <= 1)).all():
            raise EstimationError(f"q must lie in [0, 1], got {q!r}")
        cell = np.clip(np.searchsorted(self.cumulative, u, side="left") - 1, 0, self.mass.size - 1)
        share = (u - self.cumulative[cell]) / np.maximum(self.cumulative[cell + 1] - self.cumulative[cell], 1e-300)
        return self.edges[cell] + np.clip(share, 0.0, 1.0) * np.diff(self.edges)[cell]

    @property
    def mean(self) -> float:
        return float(self.mass @ (self.edges[1:] + self.edges[:-1])) / 2

    @property
    def variance(self) -> float:
        middle, width = (self.edges[1:] + self.edges[:-1]) / 2, np.diff(self.edges)
        return float(self.mass @ ((middle - self.mean) ** 2 + width**2 / 12))

    @property
    def sd(self) -> float:
        return math.sqrt(self.variance)

    def sample(self, size: int, rng: np.random.Generator | int | None = None) -> Array:
        """Draws from the estimate (synthetic values; secure source by default)."""
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 0:
            raise EstimationError(f"size must be a whole number of at least 0, got {size!r}")
        bits = randomness.words(randomness.source(rng), int(size)) >> np.uint64(randomness.BITS - 53)
        return self.quantile((bits.astype(np.float64) + 0.5) * 2.0**-53)

    @property
    def floor(self) -> float:
        r"""What cells of this width lose even with the best masses: 1/2 \int |f - its cell means|, f by its slope.

        A straight piece of slope s loses s w^2 / 8 in a cell of width w. The true floor needs the true density:
        `sfumato.assess.continuous.floor`.
        """
        middle = (self.edges[1:] + self.edges[:-1]) / 2
        if middle.size < 2:
            return 0.0
        slope = np.gradient(self.height, middle)
        return float(np.sum(np.abs(slope) * np.diff(self.edges) ** 2)) / 8

    @cached_property
    def resolution(self) -> float:
        """Hills nearer to each other than this may show as one: through this noise, and in cells of this width."""
        return max(resolution(self.noise, self.n), 2 * float(np.median(np.diff(self.edges))))

    @cached_property
    def rank(self) -> int:
        """The rank of the kernel from the cells of x to those of z; below K, z cannot tell some masses apart."""
        return kernels.rank(kernels.interval_kernel(self.noise, self.edges, self.z_edges))

    def null_space(self) -> Array:
        """Orthonormal changes of mass, one a row, that leave the distribution of z as it is."""
        _, _, rows = np.linalg.svd(self.noise.interval_matrix(self.edges, self.z_edges).T, full_matrices=True)
        return np.asarray(rows[self.rank :])

    def band(self, level: float = 0.9) -> tuple[Array, Array]:
        """(low, high) for the density in each cell: pointwise credible limits of the models that "auto" averaged.

        They suppose a smooth density. Heaps and edges are rounded off, and where there are some, the limits hold the
        true density less often than the level says.
        """
        if self.spread is None:
            raise EstimationError(f'only method "auto" carries a band, got {self.method!r}')
        if not isinstance(level, int | float) or not 0 < level < 1:
            raise EstimationError(f"level must lie in (0, 1), got {level!r}")
        low, high = band.limits(self.spread, level)
        whole = 1 / np.diff(self.edges)  # everybody in the cell: a mass is a share
        return np.minimum(low, whole), np.minimum(high, whole)

    def plot(self, path: str | Path | None = None, ax: Any = None, level: float = 0.9) -> Any:
        """The estimate with its band beside the histogram of z; saved when a path is given."""
        return draw(self, path, ax, level)

    def to_dict(self) -> dict[str, Any]:
        """Everything a reader needs, json-able."""
        document: dict[str, Any] = {
            "method": self.method,
            "stop": self.stop,
            "n": self.n,
            "noise": self.noise.to_dict(),
            "iterations": self.iterations,
            "log_likelihood": self.log_likelihood,
            "floor": self.floor,
            "resolution": self.resolution if math.isfinite(self.resolution) else None,
            "mean": self.mean,
            "sd": self.sd,
            "edges": self.edges.tolist(),
            "mass": self.mass.tolist(),
            "dropped": self.dropped,
        }
        document |= {"rank": self.rank, "unidentified": self.mass.size - self.rank}
        if self.gap is not None:
            document["gap"] = self.gap
        if self.spread is not None:
            low, high = self.band()
            document["band"] = {"level": 0.9, "low": low.tolist(), "high": high.tolist()}
        return document


def _numbers(name: str, values: ArrayLike) -> Array:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise EstimationError(f"{name} must be numbers, got {' '.join(str(values).split())[:60]}") from None
