"""The Epanechnikov kernel, the paper's bandwidth, and deviations that are exactly 0 where a column is constant."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import SfumatoError
from sfumato.randomness import BLOCK, Source


def scott(n: int, d: int) -> float:
    """The paper's bandwidth in units of a column's standard deviation (eq. 16).

        h / sigma = (4 / (d + 2))^(1 / (d + 4)) n^(-1 / (d + 4))

    >>> round(scott(576, 8), 4), round(scott(263, 34), 4)
    (0.5455, 0.8151)
    """
    if n < 1 or d < 1:
        raise SfumatoError(f"a bandwidth needs at least one row and one column, got n = {n}, d = {d}")
    return float((4 / (d + 2)) ** (1 / (d + 4)) * n ** (-1 / (d + 4)))


def deviation(X: Array, ddof: int = 0) -> Array:
    """The standard deviation of each column, exactly 0 where it is constant (where rounding may leave some)."""
    return np.where(np.ptp(X, axis=0) > 0, X.std(axis=0, ddof=ddof), 0.0)


def epanechnikov(src: Source, n: int) -> Array:
    """n draws from K(u) = 3/4 (1 - u^2) on [-1, 1]: the middle of three uniforms on [-1, 1].

    Exact (Devroye and Gyorfi 1985); variance 1/5, kurtosis 15/7. The three are compared as integers.
    """
    out = np.empty(n)
    words = np.empty((3, min(n, BLOCK)), dtype=np.int64)
    low, high = np.empty(words.shape[1], dtype=np.int64), np.empty(words.shape[1], dtype=np.int64)
    for start in range(0, n, BLOCK):
        size = min(BLOCK, n - start)
        src.fill(words.reshape(-1).view(np.uint8))
        a, b, c = (row[:size] for row in words)
        np.minimum(a, b, out=low[:size])
        np.maximum(a, b, out=high[:size])
        np.minimum(high[:size], c, out=high[:size])
        np.maximum(low[:size], high[:size], out=low[:size])
        out[start : start + size] = low[:size]
    out *= 2.0**-63
    return out
