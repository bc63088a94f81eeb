"""Some cells of an estimate: the largest, or those that somebody names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from sfumato.arrays import Index
from sfumato.errors import EstimationError
from sfumato.evidence.estimate import Estimate
from sfumato.evidence.record_moments import ListedCells
from sfumato.evidence.seen import Seen

E = TypeVar("E", bound=Estimate)


def check_most(most: Any) -> int:
    """How many values are wanted: a whole number of at least 1."""
    if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1:
        raise EstimationError(f"most must be a whole number of at least 1, got {most!r} instead")
    return int(most)


def largest(found: E, most: int) -> E:
    """The cells with the largest estimates, largest first; their intervals hold for all cells together."""
    cells = np.argsort(-found.value, kind="stable")[:most]
    return replace(some_cells(found, cells), together=len(found.value))


def some_cells(found: E, cells: Index) -> E:
    """The same estimate of some cells, by their places."""
    codes = found.places(cells).T
    changed: dict[str, Any] = {"value": found.value[cells], "codes": codes}
    changed["seen"] = tuple(_some(piece, codes, cells) for piece in found.seen)
    for part, root in getattr(found, "roots", {}).items():  # of a model's estimate
        changed[part] = None if root is None else root[cells]
    return replace(found, **changed)


def _some(piece: Seen, codes: Index, cells: Index) -> Seen:
    if isinstance(piece, ListedCells):
        own = None if piece.cells is None else piece.cells[cells]
        return replace(piece, cells=own, listed=piece.listed[cells], own_moments=piece.own_moments[:, cells])
    return piece.at(codes) if piece.cells is None else replace(piece, cells=piece.cells[cells])
