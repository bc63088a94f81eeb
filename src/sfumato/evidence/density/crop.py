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


def problem(sample: Sample, noise: Noise, edges: Floats, ends: tuple[float, float]) -> Problem:
    """The given cells of x, and outside them geometrically growing ones out to the ends."""
    width, cells = (edges[-1] - edges[0]) / (edges.size - 1), edges.size - 1
    left, right = _outer(edges[0] - ends[0], width), _outer(ends[1] - edges[-1], width)
    x_edges = np.concatenate((edges[0] - left[::-1], edges, edges[-1] + right))
    found = z_edges(sample, sample.low, sample.high, 4 * cells)
    matrix = np.ascontiguousarray(noise.interval_matrix(x_edges, found).T)
    return Problem(matrix, sample.histogram(found), x_edges, found, (left.size, left.size + cells))


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
