"""Which rows of a table tell its columns apart: those whose values differ by more than chance does in such a table."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.critical import critical_value


def telling(values: Array, sd: Array | None = None) -> Array:
    """How far apart the outermost values of each row are, less what their standard errors leave open.

    What is above 0 is told: where no row differs, one or more are above it in one table of twenty. So of many rows
    each must differ by more standard errors than a row by itself. A row that is not told has the part of the difference
    that it lacks, below 0. A single value is held against 0.

    >>> sd = np.array([[0.01, 0.0], [0.2, 0.0], [0.2, 0.0]])
    >>> telling(np.array([[0.2, 0.1], [0.4, 0.1], [0.0, 0.0]]), sd).round(2)
    array([ 0.08, -0.37, -1.  ])
    """
    rows, columns = values.shape
    compared = max(rows * columns * (columns - 1) // 2, rows, 1)
    wide = np.zeros_like(values) if sd is None else critical_value(1 - 0.05 / compared) * sd
    if columns == 1:
        apart, left = np.abs(values[:, 0]), wide[:, 0]
    else:
        at = np.arange(rows)
        most, least = values.argmax(axis=1), values.argmin(axis=1)
        apart, left = values[at, most] - values[at, least], np.hypot(wide[at, most], wide[at, least])
    lacking = np.divide(apart, left, out=np.zeros(rows), where=left > 0) - 1
    return np.asarray(np.where(apart > left, apart - left, lacking))
