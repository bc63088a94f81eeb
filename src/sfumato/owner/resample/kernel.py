"""Draws from the random source as numbers, the Epanechnikov kernel, and the paper's bandwidth."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import SfumatoError
from sfumato.randomness import Source

Array = NDArray[np.float64]
Index = NDArray[np.int64]

#: Numbers made at a time: the working buffers then stay in the processor's cache.
BLOCK = 1 << 15


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


def uniforms(src: Source, n: int) -> Array:
    """n numbers uniform on (0, 1), on a grid of 2^52 midpoints: neither end is ever drawn."""
    out = np.empty(n)
    word = np.empty(min(n, BLOCK), dtype=np.uint64)
    for start in range(0, n, BLOCK):
        piece = word[: min(BLOCK, n - start)]
        src.fill(piece.view(np.uint8))
        piece >>= np.uint64(12)
        np.add(piece, 0.5, out=out[start : start + len(piece)])
    out *= 2.0**-52
    return out


def normals(src: Source, n: int) -> Array:
    """n standard normals, in pairs from two uniforms each (Box and Muller 1958)."""
    half = (n + 1) // 2
    out = np.empty((2, half))
    for start in range(0, half, BLOCK):
        size = min(BLOCK, half - start)
        radius, angle = uniforms(src, size), uniforms(src, size)
        np.log(radius, out=radius)
        radius *= -2
        np.sqrt(radius, out=radius)
        angle *= 2 * np.pi
        np.cos(angle, out=out[0, start : start + size])
        np.sin(angle, out=out[1, start : start + size])
        out[:, start : start + size] *= radius
    return out.reshape(-1)[:n]


def integers(src: Source, high: int, n: int) -> Index:
    """n integers uniform on 0 .. high - 1; the bias of the multiplication is below high / 2^52."""
    out = uniforms(src, n)
    out *= high
    drawn = out.astype(np.int64)
    return np.minimum(drawn, high - 1, out=drawn)


def permutation(src: Source, n: int) -> Index:
    """A random order of 0 .. n - 1."""
    word = np.empty(n, dtype=np.uint64)
    src.fill(word.view(np.uint8))
    return np.argsort(word, kind="stable")


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


def centres(src: Source, n: int, rows: int, balanced: bool) -> Index:
    """Which record each released row starts from.

    Balanced: every record equally often, as far as ``rows`` allows, in a random order, so that the order of the
    release says nothing. Otherwise independent draws, as in the paper's algorithm 1.
    """
    if not balanced:
        return integers(src, n, rows)
    whole, rest = divmod(rows, n)
    chosen = np.concatenate([np.tile(np.arange(n), whole), permutation(src, n)[:rest]])
    return chosen[permutation(src, rows)]
