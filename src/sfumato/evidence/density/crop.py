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
    edges, counts = sample.histogram(edges)
    matrix = noise.interval_matrix(x_edges, edges).T
    return Problem(np.ascontiguousarray(matrix), counts, x_edges, inner)


def plain_problem(sample: Sample, noise: Noise, support: tuple[float, float], bins: int) -> Problem:
    x_edges = np.linspace(support[0], support[1], bins + 1)
    return build(sample, noise, x_edges, z_edges(sample, sample.low, sample.high, 4 * bins), (0, bins))


def best_interval(edges: Floats, mass: Floats, bins: int) -> tuple[float, float]:
    """[a, b] minimising outside mass + (b - a) TV(f) / (8 K), the floor of K cells there; widened a cell each side."""
    width = np.diff(edges)
    height = mass / width
    total = np.concatenate(([0.0], np.cumsum(mass)))
    jumps = np.abs(np.diff(np.concatenate(([0.0], height, [0.0]))))
    rise = np.concatenate(([0.0], np.cumsum(jumps)))
    i, j = np.triu_indices(edges.size, 1)
    variation = rise[j] - rise[i + 1] + height[i] + height[j - 1]
    cost = 1 - (total[j] - total[i]) + (edges[j] - edges[i]) * variation / (8 * bins)
    best = int(np.argmin(cost))
    low, high = max(int(i[best]) - 1, 0), min(int(j[best]) + 1, edges.size - 1)
    return float(edges[low]), float(edges[high])


def cropped_problem(
    sample: Sample, noise: Noise, support: tuple[float, float], inner: tuple[float, float], bins: int
) -> Problem:
    low, high = inner
    width = (high - low) / bins
    left, right = _outer(low - support[0], width), _outer(support[1] - high, width)
    middle = np.linspace(low, high, bins + 1)
    x_edges = np.concatenate((low - left[::-1], middle, high + right))
    return build(sample, noise, x_edges, z_edges(sample, sample.low, sample.high, 4 * bins), (left.size, left.size + bins))


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
