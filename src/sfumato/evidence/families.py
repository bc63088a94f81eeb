"""Many small tables over the same rows, fast: what structure learning and tests of independence feed on.

A release is read once into one small integer per row and column. All pairs of columns then come from one matrix
product of indicator columns, and larger tables from blocked mixed-radix codes, each kept for as long as this lives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.linear import Array, kronecker
from sfumato.errors import EstimationError
from sfumato.evidence.coded_rows import CodedRows
from sfumato.evidence.pieces import Piece
from sfumato.evidence.table import Evidence
from sfumato.evidence.view import view
from sfumato.schema import Schema
from sfumato.scheme import Scheme

#: The most cells of a table that is estimated here, and of the released table that it is estimated from.
MOST_CELLS = 1 << 20
MOST_RELEASED = 1 << 26
#: The most bytes of tables that are kept for later.
TABLES_IN_MEMORY = 1 << 28


@dataclass(frozen=True, eq=False)
class Block:
    """Attributes that share a channel: the released columns to count, P, and A with A Pᵀ = I."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    columns: tuple[str, ...]
    released: int
    P: Array
    A: Array


@dataclass(frozen=True, eq=False)
class Seen:
    """What one scheme shows of some attributes: released counts Ñ, flat, and the blocks that explain them."""

    blocks: tuple[Block, ...]
    observed: Array

    @property
    def axes(self) -> tuple[str, ...]:
        return tuple(name for block in self.blocks for name in block.names)


@dataclass(frozen=True, eq=False)
class Family:
    """The estimated table of some attributes (one axis each) and what it was estimated from.

    ``table`` is what tests and error bars are about. Evidence that moves unbiased counts to possible ones
    (``method="project"`` or "mle") gives those as ``moved``. Evidence that is a model of its own gives the model's
    counts as the table; ``spread`` is then their covariance, a matrix for each combination of all attributes but the
    last, where the model knows it.
    """

    names: tuple[str, ...]
    table: Array
    seen: tuple[Seen, ...]
    moved: Array | None = None
    centre: Array | None = None  # A Ñ, where that is not the table
    spread: Array | None = None

    @property
    def value(self) -> Array:
        """The counts as the evidence gives them."""
        return self.table if self.moved is None else self.moved

    @property
    def unbiased(self) -> Array:
        """A Ñ, which the covariance of the channels is about."""
        return self.table if self.centre is None else self.centre

    @property
    def n(self) -> float:
        return float(sum(part.observed.sum() for part in self.seen))

    def inverse(self, part: Seen) -> Array:
        """A of the whole table, true cells (in the order of the names) by released cells."""
        full = kronecker([block.A for block in part.blocks])
        return full[self._places(part)]

    def transition(self, part: Seen) -> Array:
        """P of the whole table, in the same order."""
        full = kronecker([block.P for block in part.blocks])
        return full[self._places(part)]

    def _places(self, part: Seen) -> NDArray[np.int64]:
        sizes = [size for block in part.blocks for size in block.sizes]
        places = np.arange(prod(sizes)).reshape(sizes)
        return places.transpose([part.axes.index(name) for name in self.names]).reshape(-1)


class Families:
    """Tables of a release by attribute names.

    >>> from sfumato import Categorical, Schema, evidence
    >>> ev = evidence({"a": [0, 0, 1], "b": [1, 0, 1]}, Schema({n: Categorical((0, 1)) for n in "ab"}))
    >>> Families(ev).family(("b", "a")).table
    array([[1., 0.],
           [1., 1.]])
    """

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.schema: Schema = evidence.schema
        self.parts = [CodedRows(part) for part in evidence.release.parts]
        self.n = float(sum(rows.n for rows in self.parts))
        if not self.n:
            raise EstimationError("the release holds no rows: there is nothing to learn from")
        self._families: dict[tuple[str, ...], Family] = {}
        self._bytes = 0
        self._blocks: dict[tuple[int, tuple[str, ...]], Block] = {}
        self.schemes: list[Scheme] = []  # the different ones: telling schemes apart is slow, so it is done once
        for rows in self.parts:
            if rows.part.scheme not in self.schemes:
                self.schemes.append(rows.part.scheme)
            rows.scheme = self.schemes.index(rows.part.scheme)
        self._groups = [{name: group for group in scheme.groups for name in group.names} for scheme in self.schemes]

    def family(self, names: Sequence[str]) -> Family:
        """The estimated table of these attributes, in this order."""
        asked = tuple(names)
        if asked not in self._families:
            cells = prod(self.schema.sizes(asked))
            if cells > MOST_CELLS:
                raise EstimationError(
                    f"the table of {', '.join(asked)} would have {cells} cells, more than {MOST_CELLS}: "
                    f"allow fewer parents, or coarser attributes"
                )
            released = self.released_cells(asked)
            if released > MOST_RELEASED:
                raise EstimationError(
                    f"the released table of {', '.join(asked)} has {released} cells, more than {MOST_RELEASED}: "
                    f"allow fewer parents, or coarser attributes"
                )
            self._bytes += 8 * (released + cells)
            if self._bytes > TABLES_IN_MEMORY:
                self._forget()
            self._families[asked] = self._estimate(asked)
        return self._families[asked]

    def released_cells(self, names: Sequence[str]) -> int:
        """The cells of the largest released table that tells of these attributes."""
        asked = tuple(names)
        return max(prod(block.released for block in self.blocks(scheme, asked)) for scheme in range(len(self.schemes)))

    def _forget(self) -> None:
        self._families.clear()
        self._bytes = 0
        for rows in self.parts:
            rows.forget()

    def count_pairs(self) -> None:
        """Count the tables of all pairs at once."""
        for rows in self.parts:
            rows.count_pairs()

    def check_channels(self) -> None:
        """Raise, naming the attribute, if the release cannot tell some attribute's true counts."""
        for scheme in range(len(self.schemes)):
            for name in self.schema.names:
                self.blocks(scheme, (name,))

    def blocks(self, scheme: int, names: tuple[str, ...]) -> tuple[Block, ...]:
        """The channels that treat these attributes under one of the schemes."""
        out: dict[tuple[str, ...], Block] = {}
        for name in names:
            group = (self._groups[scheme].get(name) or self.schemes[scheme].group(name)).names  # or says why not
            kept = (name,) if len(group) == 1 else tuple(other for other in group if other in names)
            if kept in out:
                continue
            if (scheme, kept) not in self._blocks:
                shown = view(self.schemes[scheme], kept)
                A, P = shown.inverse.dense(), shown.transition.dense()
                self._blocks[scheme, kept] = Block(kept, self.schema.sizes(kept), shown.columns, A.shape[1], P, A)
            out[kept] = self._blocks[scheme, kept]
        return tuple(out.values())

    def _estimate(self, names: tuple[str, ...]) -> Family:
        found: dict[int, Array] = {}
        blocks = {rows.scheme: self.blocks(rows.scheme, names) for rows in self.parts}
        for rows in self.parts:
            columns = tuple(column for block in blocks[rows.scheme] for column in block.columns)
            counts = rows.counts(columns)
            found[rows.scheme] = found[rows.scheme] + counts if rows.scheme in found else counts
        total = np.zeros(self.schema.sizes(names))
        seen = []
        for scheme, observed in found.items():
            part = Seen(blocks[scheme], observed)
            estimate = each_axis(
                observed.reshape([block.released for block in part.blocks]), [b.A for b in part.blocks]
            )
            sizes = [size for block in part.blocks for size in block.sizes]
            total += estimate.reshape(sizes).transpose([part.axes.index(name) for name in names])
            seen.append(part)
        if self.evidence.method == "moment":
            return Family(names, total, tuple(seen))
        given = self.evidence.counts(names)
        if given.method == "model":
            return Family(names, given.table, tuple(seen), centre=total, spread=given.within())
        if any(
            piece.inverse is not piece.shown.inverse for piece in given.pieces
        ):  # the likelihood weighs outputs better
            seen = [_weighed(names, self.schema.sizes(names), piece) for piece in given.pieces]
            total = given.unbiased.reshape(total.shape)
        return Family(names, total, tuple(seen), moved=given.table)


def _weighed(names: tuple[str, ...], sizes: tuple[int, ...], piece: Piece) -> Seen:
    """What an estimate was made from, as one block of all its attributes."""
    A, P = piece.rows(), piece.placed(piece.shown.transition.dense())
    return Seen((Block(names, sizes, piece.shown.columns, A.shape[1], P, A),), piece.observed)


def each_axis(tensor: Array, maps: Sequence[Array]) -> Array:
    """The tensor multiplied by one matrix along each axis."""
    for A in maps:  # the first axis is multiplied and becomes the last: after all of them the order is as before
        tensor = (A @ tensor.reshape(len(tensor), -1)).reshape(len(A), *tensor.shape[1:])
        tensor = np.moveaxis(tensor, 0, -1)
    return tensor
