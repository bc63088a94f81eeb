"""Which rows of a table tell its columns apart: those whose values differ by more than their errors leave open."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array


def telling(values: Array, spread: Array | None = None) -> Array:
    """How far apart the outermost values of each row are, less what half the widths of their intervals leave open.

    A single value is held against 0. Where it is negative, the row may tell nothing.

    >>> telling(np.array([[0.2, 0.1], [0.9, 0.1]]), np.array([[0.01, 0.0], [1.0, 0.0]])).round(2)
    array([ 0.09, -0.2 ])
    """
    wide = np.zeros_like(values) if spread is None else spread
    if values.shape[1] == 1:
        return np.abs(values[:, 0]) - wide[:, 0]
    at = np.arange(len(values))
    most, least = values.argmax(axis=1), values.argmin(axis=1)
    return np.asarray(values[at, most] - values[at, least] - np.hypot(wide[at, most], wide[at, least]))
