"""Projection onto the simplex: the nearest counts that are not negative and keep their total."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array


def project(values: Array, total: float | Array) -> Array:
    """The point of {x >= 0, sum x = total} nearest to the values in Euclidean distance; of a matrix, column by column.

        x_i = max(v_i - t, 0) with the one t that makes the sum right

    >>> project(np.array([5.0, -1.0, 2.0]), 6.0)
    array([4.5, 0. , 1.5])
    """
    ordered = -np.sort(-values, axis=0)
    surplus = np.cumsum(ordered, axis=0) - total
    rank = np.arange(1, len(values) + 1).reshape(-1, *(1,) * (values.ndim - 1))
    kept = np.maximum((ordered * rank > surplus).sum(axis=0, keepdims=True), 1)
    return np.asarray(np.maximum(values - np.take_along_axis(surplus, kept - 1, axis=0) / kept, 0.0))
