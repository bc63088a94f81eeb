"""Projection onto the simplex: the nearest counts that are not negative and keep their total."""

from __future__ import annotations

import numpy as np

from sfumato.channels.linear import Array


def project(values: Array, total: float) -> Array:
    """The point of {x >= 0, sum x = total} nearest to the values in Euclidean distance.

        x_i = max(v_i - t, 0) with the one t that makes the sum right

    >>> project(np.array([5.0, -1.0, 2.0]), 6.0)
    array([4.5, 0. , 1.5])
    """
    ordered = np.sort(values)[::-1]
    surplus = np.cumsum(ordered) - total
    rank = np.arange(1, len(values) + 1)
    kept = int(rank[ordered * rank > surplus][-1]) if total > 0 else 1
    return np.asarray(np.maximum(values - surplus[kept - 1] / kept, 0.0))
