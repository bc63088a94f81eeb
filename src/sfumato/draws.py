"""Uniform and normal numbers, whole numbers and random orders from any source of random bytes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.randomness import Source

Array = NDArray[np.float64]
Index = NDArray[np.int64]

#: Numbers made at a time: the working buffers then stay in the processor's cache.
BLOCK = 1 << 15


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


def normals(src: Source, *shape: int) -> Array:
    """Standard normals of this shape, in pairs from two uniforms each (Box and Muller 1958)."""
    n = int(np.prod(shape))
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
    return out.reshape(-1)[:n].reshape(shape)


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
