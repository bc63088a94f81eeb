"""One streaming pass over z: exact values while they are few, a fine histogram of fixed size afterwards.

Everything downstream sees only N, the range and counts, so 10^8 values cost the memory of one chunk. The histogram has
12 288 equal cells over the bulk of z and 2048 cells on each side whose width grows by 2 % a step, so that heavy tails
neither stretch the bulk nor fall off. A stream whose bulk moves gets a new grid, its counts shared in proportion.
Binning z into M = 400 cells moves the EM estimate after 50 iterations by 5e-4 in total variation under gaussian noise
and by 2e-3 under uniform noise (N = 2000; less for more values): far below its statistical error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import EstimationError
from sfumato.evidence.density.grid import EXACT, Grid, lattice, some_of
from sfumato.evidence.density.reading import chunks
from sfumato.evidence.density.spark_grid import not_finite, spark_grid
from sfumato.reading.spark_session import is_spark


@dataclass(frozen=True)
class Sample:
    """What is known of z: exact sorted values for small N, else counts on a fine grid."""

    n: int
    low: float
    high: float
    values: Array | None
    fine_edges: Array
    fine_counts: Array
    step: float  # the spacing when z lies on a lattice (rounded data), else 0

    def histogram(self, edges: Array) -> Array:
        """Counts between the edges, z beyond them joining the ends; a fine cell that an edge cuts is shared."""
        if self.values is not None:
            places = np.searchsorted(self.values, edges[1:-1], side="left").astype(np.float64)
        else:
            total = np.concatenate(([0.0], np.cumsum(self.fine_counts)))
            places = np.interp(edges[1:-1], self.fine_edges, total)
        return np.diff(np.concatenate(([0.0], places, [float(self.n)])))

    def outside(self, low: float, high: float) -> int:
        """How many values lie below low or above high."""
        if self.values is not None:
            return int(((self.values < low) | (self.values > high)).sum())
        total = np.concatenate(([0.0], np.cumsum(self.fine_counts)))
        inside = np.interp(high, self.fine_edges, total) - np.interp(low, self.fine_edges, total)
        return max(1, round(self.n - float(inside)))

    def quantile(self, q: float) -> float:
        if self.values is not None:
            return float(np.quantile(self.values, q))
        total = np.concatenate(([0.0], np.cumsum(self.fine_counts))) / self.n
        return float(np.interp(q, total, self.fine_edges))

    def moments(self) -> tuple[float, float]:
        """Mean and variance of z."""
        if self.values is not None:
            return float(self.values.mean()), float(self.values.var())
        middle = (self.fine_edges[1:] + self.fine_edges[:-1]) / 2
        # sums of products, not `@`: a dot product of this length would wake BLAS's threads
        mean = float((self.fine_counts * middle).sum()) / self.n
        return mean, float((self.fine_counts * (middle - mean) ** 2).sum()) / self.n


def gather(z: Any, column: str | None = None, progress: Callable[[int], None] | None = None) -> Sample:
    """Read z once, whatever holds it; refuses NaN, infinities and fewer than two values."""
    if column is not None and is_spark(z):
        found = spark_grid(z, column)
        if found is not None:
            edges, counts = found.grid.trimmed()
            return Sample(found.n, found.grid.low, found.grid.high, None, edges, counts, found.step)
    kept: list[Array] = []
    n, grid, first = 0, None, np.empty(0)
    for chunk in chunks(z, column):
        if chunk.size == 0:
            continue
        low, high = float(chunk.min()), float(chunk.max())
        if not (np.isfinite(low) and np.isfinite(high)):
            bad = int((~np.isfinite(chunk)).sum())
            raise not_finite(bad, column)
        if n == 0:
            first = some_of(chunk).copy()
        n += chunk.size
        if grid is None and n <= EXACT:
            kept.append(chunk)
        else:
            if grid is None:
                grid = Grid(np.concatenate((*kept, some_of(chunk))))
                for held in kept:
                    grid.add(held)
                kept = []
            grid.add(chunk)
        if progress is not None:
            progress(n)
    if n < 2:
        raise EstimationError(f"z must hold at least 2 values, got {n}")
    if grid is None:
        values = np.sort(np.concatenate(kept))
        edges, counts = np.array([values[0], values[-1]]), np.array([float(n)])
        return Sample(n, float(values[0]), float(values[-1]), values, edges, counts, lattice(values))
    edges, counts = grid.trimmed()
    return Sample(n, grid.low, grid.high, None, edges, counts, lattice(np.sort(first)))
