"""Estimates of chosen cells only, for tables with too many cells to list."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.channels.codes import join_codes
from sfumato.channels.linear import Dense
from sfumato.errors import EstimationError
from sfumato.evidence.counting import SparseCounts
from sfumato.evidence.pieces import MOMENTS, ListedPiece
from sfumato.evidence.view import View


def listed_cells(found: SparseCounts, shown: View, codes: NDArray[np.int64]) -> ListedPiece:
    """The rows of the Kronecker inverse that the listed cells need, against the released cells that occur."""
    rows = np.ones((len(codes), len(found.counts)))
    own = np.ones((len(MOMENTS), len(codes)))
    axis = column = 0
    for inverse, transition, sizes, outputs in zip(
        shown.inverse.factors, shown.transition.factors, shown.sizes, shown.outputs, strict=True
    ):
        true = np.ravel_multi_index(tuple(codes[:, axis : axis + len(sizes)].T), sizes)
        released = join_codes(found.codes[column : column + len(outputs)], outputs)
        rows *= inverse.entries(true, released)
        own *= [inverse.power(k).diagonal_of_product(transition)[true] for k in MOMENTS]
        axis, column = axis + len(sizes), column + len(outputs)
    return ListedPiece(Dense(rows), found.counts.astype(np.float64), shown, own=own)


def check_cells(cells: ArrayLike, sizes: tuple[int, ...]) -> NDArray[np.int64]:
    codes = np.asarray(cells, dtype=np.int64)
    if codes.ndim != 2 or codes.shape[1] != len(sizes) or not len(codes):
        raise EstimationError(f"cells must list a code for each of the {len(sizes)} attributes, a row per cell")
    outside = ((codes < 0) | (codes >= np.array(sizes))).any(axis=1)
    if outside.any():
        first = codes[outside][0].tolist()
        raise EstimationError(f"cell {first} lies outside the table of {' x '.join(map(str, sizes))} values")
    return codes
