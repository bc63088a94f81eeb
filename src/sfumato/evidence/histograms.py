"""How often each code occurs, and each pair of codes: the two loops that all counting comes down to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
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


def pair_width(sizes: Mapping[str, int]) -> int:
    """The rows of ``indicator_products``: all values but the last of every column, and one for all rows."""
    return sum(size - 1 for size in sizes.values()) + 1


def indicator_products(codes: Mapping[str, NDArray[Any]], sizes: Mapping[str, int]) -> Array:
    """Σ_rows 1[x] 1[y] for any two values x and y, where the last value of each column is left out; exact to 2^24 rows.

    What is left out follows from the sums, which stand in the last row: with two values in each column this is a
    quarter of the work.

    >>> indicator_products({"a": np.array([0, 1, 1]), "b": np.array([0, 0, 1])}, {"a": 2, "b": 2})
    array([[1., 1., 1.],
           [1., 2., 2.],
           [1., 2., 3.]])
    """
    rows = len(next(iter(codes.values())))
    ones = np.zeros((rows, pair_width(sizes)), dtype=np.float32)
    ones[:, -1] = 1.0
    start = 0
    for column, array in codes.items():
        if sizes[column] == 2:
            np.equal(array, 0, out=ones[:, start], casting="unsafe")
        else:
            at = np.flatnonzero(array < sizes[column] - 1)
            ones[at, np.int64(start) + array[at]] = 1.0  # wider than any code
        start += sizes[column] - 1
    return np.asarray(ones.T @ ones, dtype=np.float64)


def pair_tables(products: Array, sizes: Mapping[str, int]) -> Iterator[tuple[str, str, Array]]:
    """The table of every two columns, out of the products of their indicators."""
    ends = np.cumsum([size - 1 for size in sizes.values()]).tolist()
    cut = {column: slice(end - size + 1, end) for (column, size), end in zip(sizes.items(), ends, strict=True)}
    for one, other in combinations(sizes, 2):
        table = np.empty((sizes[one], sizes[other]))
        table[:-1, :-1] = products[cut[one], cut[other]]
        table[:-1, -1] = products[cut[one], -1] - table[:-1, :-1].sum(axis=1)
        table[-1, :-1] = products[-1, cut[other]] - table[:-1, :-1].sum(axis=0)
        table[-1, -1] = products[-1, -1] - products[cut[one], -1].sum() - table[-1, :-1].sum()
        yield one, other, np.rint(table)
