"""Which rows of a table tell its columns apart: those whose values differ by more than chance does in such a table."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.critical import critical_value


def telling(values: Array, sd: Array | None = None) -> Array:
    """How far apart the values of each row surely are: two of them, less what their standard errors leave open.

    What is above 0 is told: where no row differs, one or more are above it in one table of twenty. So of many pairs
    each must differ by more standard errors than a pair by itself. A row that is not told has the part of a difference
    that it lacks, below 0. A single value is held against 0.

    >>> sd = np.array([[0.01, 0.0], [0.2, 0.0], [0.2, 0.0]])
    >>> telling(np.array([[0.2, 0.1], [0.4, 0.1], [0.0, 0.0]]), sd).round(2)
    array([ 0.08, -0.37, -1.  ])

    The outermost may be the least known:

    >>> bool(telling(np.array([[0.9, 0.6, 0.1]]), np.array([[0.5, 0.01, 0.01]])) > 0)
    True
    """
    rows, columns = values.shape
    if columns == 1:
        values = np.column_stack([values, np.zeros(rows)])
        sd = None if sd is None else np.column_stack([sd, np.zeros(rows)])
        columns = 2
    pairs = columns * (columns - 1) // 2
    wide = np.zeros_like(values) if sd is None else critical_value(1 - 0.05 / max(rows * pairs, 1)) * sd
    best = np.full(rows, -1.0)
    for i in range(columns - 1):
        apart = np.abs(values[:, i + 1 :] - values[:, i, None])
        left = np.hypot(wide[:, i + 1 :], wide[:, i, None])
        lacking = np.divide(apart, left, out=np.zeros_like(apart), where=left > 0) - 1
        best = np.maximum(best, np.where(apart > left, apart - left, lacking).max(axis=1))
    return best
