"""Many small tables over the same rows, fast: what structure learning and tests of independence feed on.

A release is read once into one small integer per row and column. All pairs of columns then come from one matrix
product of indicator columns, and larger tables from blocked mixed-radix codes, each kept for as long as this lives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.linear import Array, kronecker
from sfumato.errors import EstimationError
from sfumato.evidence import counting
from sfumato.evidence.table import Evidence
from sfumato.evidence.view import view
from sfumato.release import Part
from sfumato.schema import Schema
from sfumato.scheme import Scheme
from sfumato.writer import check_codes

#: The most bytes of codes that are read into memory; larger releases are counted where they are.
CODES_IN_MEMORY = 1 << 30
#: The most cells of a table that is estimated here, and of the released table that it is estimated from.
MOST_CELLS = 1 << 20
MOST_RELEASED = 1 << 26
#: The most bytes of tables that are kept for later.
TABLES_IN_MEMORY = 1 << 28
_BLOCK = 1 << 18
_PRODUCT_BLOCK = 1 << 16


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
        self.parts = [_Rows(part) for part in evidence.release.parts]
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
        return Family(names, total, tuple(seen), moved=given.table)


def each_axis(tensor: Array, maps: Sequence[Array]) -> Array:
    """The tensor multiplied by one matrix along each axis."""
    for A in maps:  # the first axis is multiplied and becomes the last: after all of them the order is as before
        tensor = (A @ tensor.reshape(len(tensor), -1)).reshape(len(A), *tensor.shape[1:])
        tensor = np.moveaxis(tensor, 0, -1)
    return tensor


class _Rows:
    """The rows of one part as columns of small integers."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.scheme = 0  # which of the different schemes
        self.sizes = part.scheme.output_sizes
        self.n = len(part)
        self._codes: dict[str, NDArray[Any]] | None = None
        self._kept: dict[tuple[str, ...], Array] = {}

    def counts(self, columns: tuple[str, ...]) -> Array:
        ordered = tuple(sorted(columns))
        if ordered not in self._kept:
            self._kept[ordered] = self._count(ordered)
        found = self._kept[ordered]
        if ordered == columns:
            return found
        tensor = found.reshape([self.sizes[column] for column in ordered])
        return np.ascontiguousarray(tensor.transpose([ordered.index(column) for column in columns])).reshape(-1)

    def forget(self) -> None:
        self._kept.clear()

    def count_pairs(self) -> None:
        """All pairs of columns from one product: Nxy = Σ_rows 1[x] 1[y]."""
        codes = self.codes()
        width = sum(self.sizes[column] for column in codes) if codes is not None else 0
        if codes is None or width > 1024 or len(codes) < 3 or self._kept:
            return
        starts = dict(zip(codes, np.cumsum([0, *(self.sizes[column] for column in codes)]), strict=False))
        total = np.zeros((width, width))
        for begin in range(0, self.n, _PRODUCT_BLOCK):
            rows = min(_PRODUCT_BLOCK, self.n - begin)
            ones = np.zeros((rows, width), dtype=np.float32)
            at = np.arange(rows)
            for column, array in codes.items():
                ones[at, starts[column] + array[begin : begin + rows]] = 1.0
            total += ones.T @ ones
        for first in codes:
            for second in codes:
                if first < second:
                    left = slice(starts[first], starts[first] + self.sizes[first])
                    right = slice(starts[second], starts[second] + self.sizes[second])
                    self._kept[first, second] = np.rint(total[left, right]).reshape(-1)

    def codes(self) -> dict[str, NDArray[Any]] | None:
        """Every column in memory, or None where they would not fit."""
        if self._codes is None and self.n * len(self.sizes) <= CODES_IN_MEMORY:
            table = self.part.arrow()
            found = {}
            for column, size in self.sizes.items():
                array = table.column(column).to_numpy()
                check_codes(column, array, size)
                found[column] = array.astype(np.min_scalar_type(max(size - 1, 1)))
            self._codes = found
        return self._codes

    def _count(self, columns: tuple[str, ...]) -> Array:
        codes = self.codes()
        if codes is None:
            return counting.counts(self.part, columns).astype(np.float64)
        sizes = [self.sizes[column] for column in columns]
        cells = prod(sizes)
        out = np.zeros(cells, dtype=np.int64)
        kind = np.min_scalar_type(cells - 1)
        for begin in range(0, self.n, _BLOCK):
            flat = codes[columns[0]][begin : begin + _BLOCK].astype(kind)
            for column, size in zip(columns[1:], sizes[1:], strict=True):
                flat *= kind.type(size)
                flat += codes[column][begin : begin + _BLOCK]
            out += _histogram(flat, cells)
        return out.astype(np.float64)


def _histogram(flat: NDArray[Any], cells: int) -> NDArray[np.int64]:
    """How often each code occurs; codes of one byte are counted two at a time, which takes half as long."""
    if flat.itemsize > 1 or len(flat) < 1 << 16:
        return np.bincount(flat, minlength=cells)
    even = len(flat) // 2 * 2
    twos = np.bincount(flat[:even].view(np.uint16), minlength=1 << 16).reshape(256, 256)
    ones = np.bincount(flat[even:], minlength=256)
    return np.asarray((twos.sum(0) + twos.sum(1) + ones)[:cells])
