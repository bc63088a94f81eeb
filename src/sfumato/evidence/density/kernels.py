"""The map from masses of X in K cells to probabilities of Z in M cells (or densities at N samples).

Dense for ordinary sizes; a Toeplitz product by FFT when there are many equal cells (it pays from K of about 400).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sfumato.arrays import Array
from sfumato.channels.additive import Noise

FFT_FROM = 400


class NoiseKernel(Protocol):
    """forward(p)_j = sum_i A_ji p_i and its transpose."""

    @property
    def cells(self) -> int: ...
    @property
    def matrix(self) -> Array: ...
    def forward(self, mass: Array) -> Array: ...
    def adjoint(self, weight: Array) -> Array: ...


@dataclass(frozen=True)
class DenseKernel:
    """A stored matrix A of shape (M, K)."""

    matrix: Array

    @property
    def cells(self) -> int:
        return int(self.matrix.shape[1])

    def forward(self, mass: Array) -> Array:
        return np.asarray(self.matrix @ mass)

    def adjoint(self, weight: Array) -> Array:
        return np.asarray(weight @ self.matrix)


@dataclass(frozen=True)
class Toeplitz:
    """A_ji = band[j - i + K - 1]: equal cells of one width on both sides, multiplied by FFT."""

    band: Array
    cells: int

    @property
    def _size(self) -> int:
        from scipy.fft import next_fast_len

        return int(next_fast_len(self.band.size + self.cells - 1, real=True))

    def forward(self, mass: Array) -> Array:
        from scipy.fft import irfft, rfft

        size = self._size
        full = irfft(rfft(self.band, size) * rfft(mass, size), size)
        return np.maximum(np.asarray(full[self.cells - 1 : self.band.size]), 0.0)

    def adjoint(self, weight: Array) -> Array:
        from scipy.fft import irfft, rfft

        size = self._size
        full = irfft(rfft(self.band[::-1], size) * rfft(weight, size), size)
        m = weight.size
        return np.asarray(full[m - 1 : m - 1 + self.cells])

    @property
    def matrix(self) -> Array:
        rows = self.band.size - self.cells + 1
        return np.asarray(self.band[np.arange(rows)[:, None] - np.arange(self.cells)[None, :] + self.cells - 1])


def interval_kernel(noise: Noise, x_edges: Array, z_edges: Array) -> NoiseKernel:
    """A_ji = Pr(Z in cell j | X uniform in cell i), from the cdf."""
    width = x_edges[1] - x_edges[0]
    equal = np.allclose(np.diff(x_edges), width, rtol=1e-9) and np.allclose(np.diff(z_edges), width, rtol=1e-9)
    k, m = x_edges.size - 1, z_edges.size - 1
    if equal and k >= FFT_FROM:
        # one x-cell against all offsets that occur
        offset = z_edges[0] - x_edges[-2]
        line = offset + width * np.arange(k + m)
        band = noise.interval_matrix(np.array([0.0, width]), line)[0]
        return Toeplitz(band, k)
    return DenseKernel(np.ascontiguousarray(noise.interval_matrix(x_edges, z_edges).T))


def sample_kernel(noise: Noise, x_edges: Array, z: Array) -> DenseKernel:
    """A_ji = density of z_j given X uniform in cell i: AA01 section 4.1, exact for every sample."""
    return DenseKernel(noise.density_matrix(x_edges, z))


def midpoint_kernel(noise: Noise, x_edges: Array, z_edges: Array) -> DenseKernel:
    """A_ji = f_Y(middle of z-cell j - middle of x-cell i) w_j: Agrawal and Srikant (2000), with ties weighing one half.

    When the cell width divides the half-width of uniform noise, middles sit exactly on its edge; a floating-point
    comparison there is a coin toss and costs 15 points of information loss at K = 30.
    """
    x, z = (x_edges[1:] + x_edges[:-1]) / 2, (z_edges[1:] + z_edges[:-1]) / 2
    return DenseKernel(noise.pdf(z[:, None] - x[None, :]) * np.diff(z_edges)[:, None])


def rank(kernel: NoiseKernel) -> int:
    """The numerical rank: below K, some directions of the mass (its null space) leave no trace in z."""
    matrix = kernel.matrix
    return int(np.linalg.matrix_rank(matrix / max(float(matrix.max()), 1e-300), tol=1e-10 * math.sqrt(kernel.cells)))
