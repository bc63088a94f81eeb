"""Where the density lives: the support that wastes the fewest cells."""

from __future__ import annotations

import math

import numpy as np

from sfumato.arrays import Array
from sfumato.channels.additive import Noise
from sfumato.evidence.density.binning import Sample
from sfumato.evidence.density.penalised import Problem

GROWTH = 1.7


def z_edges(sample: Sample, count: int, body: tuple[float, float] | None = None) -> Array:
    """`count` z-cells from end to end, on half-steps of the lattice when z was rounded.

    Equal ones, unless the body (where the density puts z) is a small part of the range: then nine in ten lie in the
    body and the others grow geometrically out to the ends.
    """
    low, high = sample.low, sample.high
    if sample.step > 0:
        wide = sample.step * max(1, int(np.ceil((high - low) / (count * sample.step))))
        start = low - sample.step / 2
        cells = int(np.ceil((high + sample.step / 2 - start) / wide - 1e-9))
        return start + wide * np.arange(cells + 1, dtype=np.float64)
    if body is None or min(body[1], high) - max(body[0], low) > 0.7 * (high - low):
        return np.linspace(low, high, count + 1)
    left, right = max(body[0], low), min(body[1], high)
    if not right > left:
        return np.linspace(low, high, count + 1)
    middle = np.linspace(left, right, round(0.9 * count) + 1)
    width = middle[1] - middle[0]
    return np.concatenate((left - _outer(left - low, width)[::-1], middle, right + _outer(high - right, width)))


def problem(sample: Sample, noise: Noise, edges: Array, ends: tuple[float, float]) -> Problem:
    """The given cells of x, and outside them geometrically growing ones out to the ends."""
    width, cells = (edges[-1] - edges[0]) / (edges.size - 1), edges.size - 1
    left, right = _outer(edges[0] - ends[0], width), _outer(ends[1] - edges[-1], width)
    x_edges = np.concatenate((edges[0] - left[::-1], edges, edges[-1] + right))
    near, far = noise_body(noise)
    body = (edges[0] + near, edges[-1] + far)
    found = z_edges(sample, max(min(4 * cells, 400), 2 * cells), body)
    matrix = np.ascontiguousarray(noise.interval_matrix(x_edges, found).T)
    return Problem(matrix, sample.histogram(found), x_edges, found, (left.size, left.size + cells))


def first_edges(sample: Sample, noise: Noise, edges: Array) -> Array:
    """Where the pilot puts its cells: all of the support, unless a few far values stretch it over nothing."""
    if math.isfinite(noise.sd):
        middle = float(noise.quantile(0.5))
        low, high = sample.quantile(0.005) - middle, sample.quantile(0.995) - middle
        reach = high - low
    else:  # the outer quantiles of z are all noise: start from where z is densest
        low, high, reach = _dense_body(sample, noise)
    low, high = max(float(edges[0]), low - reach), min(float(edges[-1]), high + reach)
    return np.linspace(low, high, edges.size) if 0 < high - low < 0.5 * (edges[-1] - edges[0]) else edges


def noise_body(noise: Noise) -> tuple[float, float]:
    """Where the noise lies: 99.8 % of it, or the shortest interval with 80 % when its variance is infinite."""
    if math.isfinite(noise.sd):
        return float(noise.quantile(1e-3)), float(noise.quantile(1 - 1e-3))
    start = np.linspace(0.001, 0.199, 100)
    low, high = noise.quantile(start), noise.quantile(start + 0.8)
    best = int(np.argmin(high - low))
    return float(low[best]), float(high[best])


def _dense_body(sample: Sample, noise: Noise) -> tuple[float, float, float]:
    """(low, high, room on either side) from the matching quantiles of z and noise and the densest quarter of z."""
    share = np.linspace(0.005, 0.745, 150)
    narrow = min(sample.quantile(q + 0.25) - sample.quantile(q) for q in share)
    levels = np.linspace(0.05, 0.95, 19)
    shift = np.array([sample.quantile(q) for q in levels]) - noise.quantile(levels)
    spread = np.diff(noise.quantile(np.concatenate((levels - 0.01, levels + 0.01))).reshape(2, -1), axis=0)[0]
    middle = float(shift[int(np.argmin(spread))])  # the level that fixes the shift best
    return middle - 4 * narrow, middle + 4 * narrow, 4 * narrow


def best_interval(edges: Array, mass: Array, cells: int) -> tuple[float, float]:
    """[a, b] minimising 2 (mass outside) + (b - a) TV(f) / (8 K), widened a cell each side.

    The second term is the floor of K cells on [a, b]. Mass outside is dropped, which costs it once in information loss
    and biases the moments; hence twice.
    """
    height = mass / np.diff(edges)
    total = np.concatenate(([0.0], np.cumsum(mass)))
    jumps = np.abs(np.diff(np.concatenate(([0.0], height, [0.0]))))
    rise = np.concatenate(([0.0], np.cumsum(jumps)))
    i, j = np.triu_indices(edges.size, 1)
    variation = rise[j] - rise[i + 1] + height[i] + height[j - 1]
    cost = 2 * (1 - (total[j] - total[i])) + (edges[j] - edges[i]) * variation / (8 * cells)
    best = int(np.argmin(cost))
    low, high = max(int(i[best]) - 1, 0), min(int(j[best]) + 1, mass.size)
    return float(edges[low]), float(edges[high])


def _outer(reach: float, width: float) -> Array:
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
