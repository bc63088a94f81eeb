r"""The Bayes iteration over intervals of Agrawal and Srikant (2000): EM with the kernel taken at midpoints.

    p_i  <-  1/N  sum_s N_s  f_Y(m_s - m_i) p_i / sum_t f_Y(m_s - m_t) p_t

z is counted in cells of the same width as those of x, and both stand at their middles. It stops when the chi-square
between successive estimates falls below 1 % of its 95 % threshold.
"""

from __future__ import annotations

import math

import numpy as np

from sfumato.arrays import Array
from sfumato.channels.additive import Noise
from sfumato.evidence.density.binning import Sample
from sfumato.evidence.density.em import Iterated, iterate
from sfumato.evidence.density.kernels import midpoint_kernel
from sfumato.evidence.density.stopping import Stop


def aligned_edges(sample: Sample, x_edges: Array) -> Array:
    """The grid of x carried on to both sides until it covers z."""
    width = (x_edges[-1] - x_edges[0]) / (x_edges.size - 1)
    before = max(0, math.ceil((x_edges[0] - sample.low) / width - 1e-9))
    after = max(0, math.ceil((sample.high - x_edges[-1]) / width - 1e-9))
    return np.asarray(x_edges[0] + width * np.arange(-before, x_edges.size + after))


def bayes(sample: Sample, noise: Noise, x_edges: Array, stop: Stop) -> tuple[Iterated, Array, Array]:
    """(the iteration's end, z-edges, counts)."""
    edges = aligned_edges(sample, x_edges)
    counts = sample.histogram(edges)
    kernel = midpoint_kernel(noise, x_edges, edges)
    # with bounded noise a middle may be out of reach although values of its cell are not: such cells say nothing
    possible = kernel.matrix.any(axis=1)
    counts = np.where(possible, counts, 0.0)
    return iterate(kernel, counts, stop), edges, counts
