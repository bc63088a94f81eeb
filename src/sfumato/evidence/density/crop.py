"""Where the density lives: the support that wastes the fewest cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.additive import Noise
from sfumato.evidence.density.binning import Sample
from sfumato.evidence.density.penalised import Problem

Floats = NDArray[np.float64]
GROWTH = 1.7


def z_edges(sample: Sample, low: float, high: float, count: int) -> Floats:
    """Equal z-cells between low and high; on the half-steps of the lattice when z was rounded."""
    if sample.step > 0:
        wide = sample.step * max(1, int(np.ceil((high - low) / (count * sample.step))))
        start = sample.low - sample.step / 2
        cells = int(np.ceil((sample.high + sample.step / 2 - start) / wide - 1e-9))
        return start + wide * np.arange(cells + 1)
    return np.linspace(low, high, count + 1)


def build(sample: Sample, noise: Noise, x_edges: Floats, edges: Floats, inner: tuple[int, int]) -> Problem:
    matrix = np.ascontiguousarray(noise.interval_matrix(x_edges, edges).T)
    return Problem(matrix, sample.histogram(edges), x_edges, edges, inner)


def plain_problem(sample: Sample, noise: Noise, x_edges: Floats) -> Problem:
    cells = x_edges.size - 1
    return build(sample, noise, x_edges, z_edges(sample, sample.low, sample.high, 4 * cells), (0, cells))


def best_interval(edges: Floats, mass: Floats) -> tuple[float, float]:
    """[a, b] minimising outside mass + (b - a) TV(f) / (8 K), the floor of K cells there; widened a cell each side."""
    cells = mass.size
    height = mass / np.diff(edges)
    total = np.concatenate(([0.0], np.cumsum(mass)))
    jumps = np.abs(np.diff(np.concatenate(([0.0], height, [0.0]))))
    rise = np.concatenate(([0.0], np.cumsum(jumps)))
    i, j = np.triu_indices(edges.size, 1)
    variation = rise[j] - rise[i + 1] + height[i] + height[j - 1]
    cost = 1 - (total[j] - total[i]) + (edges[j] - edges[i]) * variation / (8 * cells)
    best = int(np.argmin(cost))
    low, high = max(int(i[best]) - 1, 0), min(int(j[best]) + 1, cells)
    return float(edges[low]), float(edges[high])


def cropped_problem(sample: Sample, noise: Noise, edges: Floats, inner: tuple[float, float]) -> Problem:
    """K equal cells inside, and outside geometrically growing ones out to the ends of the support."""
    (low, high), cells = inner, edges.size - 1
    width = (high - low) / cells
    left, right = _outer(low - edges[0], width), _outer(edges[-1] - high, width)
    x_edges = np.concatenate((low - left[::-1], np.linspace(low, high, cells + 1), high + right))
    found = z_edges(sample, sample.low, sample.high, 4 * cells)
    return build(sample, noise, x_edges, found, (left.size, left.size + cells))


def _outer(reach: float, width: float) -> Floats:
    """Distances of geometric outer edges that end exactly at reach; none when there is no room."""
    if reach <= 1e-9 * width:
        return np.empty(0)
    steps: list[float] = []
    total, step = 0.0, width
    while total < reach:
        step *= GROWTH
        total += step
        steps.append(total)
    return np.array(steps) * (reach / steps[-1])
