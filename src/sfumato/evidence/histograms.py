"""How often each code occurs, and each pair of codes: the two loops that all counting comes down to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array


def histogram(flat: NDArray[Any], cells: int) -> NDArray[np.int64]:
    """How often each code occurs; codes of one byte are counted two at a time, which takes half as long."""
    if flat.itemsize > 1 or len(flat) < 1 << 16:
        return np.bincount(flat, minlength=cells)
    even = len(flat) // 2 * 2
    twos = np.bincount(flat[:even].view(np.uint16), minlength=1 << 16).reshape(256, 256)
    ones = np.bincount(flat[even:], minlength=256)
    return np.asarray((twos.sum(0) + twos.sum(1) + ones)[:cells])


def indicator_products(codes: Mapping[str, NDArray[Any]], sizes: Mapping[str, int]) -> Array:
    """Σ_rows 1[x] 1[y] for any two released values x and y, of the same column or of two; exact up to 2^24 rows.

    >>> indicator_products({"a": np.array([0, 1, 1]), "b": np.array([0, 0, 1])}, {"a": 2, "b": 2})[:2, 2:]
    array([[1., 0.],
           [1., 1.]])
    """
    at = np.arange(len(next(iter(codes.values()))))
    ones = np.zeros((len(at), sum(sizes[column] for column in codes)), dtype=np.float32)
    start = np.int64(0)  # wider than any code
    for column, array in codes.items():
        ones[at, start + array] = 1.0
        start += sizes[column]
    return np.asarray(ones.T @ ones, dtype=np.float64)
