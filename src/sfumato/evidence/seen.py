"""What was seen of some attributes: released counts with the channels that made them, on named axes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Array
from sfumato.channels.codes import join_codes
from sfumato.channels.geometry import Incidence
from sfumato.channels.left_inverse import left_inverse
from sfumato.channels.linear import Dense, Kronecker, UniformPlus, kronecker
from sfumato.evidence.asked_parts import asking
from sfumato.evidence.blocks import Block, blocks, unasked
from sfumato.evidence.counting import counter
from sfumato.release import Release
from sfumato.released.part import Part
from sfumato.scheme import Scheme

#: Up to so many cells a table is multiplied by plain matrices, which takes less time than to merge them first.
_SMALL = 1 << 12


@dataclass(frozen=True, eq=False)
class Seen:
    """The released counts of one scheme, and the blocks that explain them.

    ``counts`` are flat over all released cells, first block slowest, and may have a second axis, of replicates. Where
    ``codes`` are given they belong to the released records listed there instead, a column of codes each.
    """

    names: tuple[str, ...]  # the attributes, in the order in which tables of them are asked for
    blocks: tuple[Block, ...]
    counts: Array
    codes: Mapping[str, NDArray[Any]] | None = None
    cells: NDArray[np.int64] | None = None  # the cells asked for, where not all are: flat in the order of the blocks
    scheme: Scheme | None = None  # under which all of this was released

    # The maps.

    @property
    def axes(self) -> tuple[str, ...]:
        """The attributes in the order of the blocks."""
        return tuple(name for block in self.blocks for name in block.names)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each axis has."""
        return tuple(size for block in self.blocks for size in block.sizes)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each name has."""
        sizes = dict(zip(self.axes, self.sizes, strict=True))
        return tuple(sizes[name] for name in self.names)

    @property
    def released(self) -> tuple[int, ...]:
        """How many released values each block has."""
        return tuple(block.released for block in self.blocks)

    @cached_property
    def transition(self) -> Kronecker:
        return Kronecker(tuple(block.transition for block in self.blocks))

    @cached_property
    def inverse(self) -> Kronecker:
        return Kronecker(tuple(block.inverse for block in self.blocks))

    @cached_property
    def full(self) -> Kronecker:
        """P of all attributes that the channels treat, asked for or not."""
        return Kronecker(tuple(block.full.transition for block in self.blocks))

    @cached_property
    def full_inverse(self) -> Kronecker:
        return Kronecker(tuple(block.full.inverse for block in self.blocks))

    @cached_property
    def _forward(self) -> Kronecker:
        return self.transition.T

    @property
    def partial(self) -> bool:
        """Whether some attributes are summed out."""
        return any(block.into is not None for block in self.blocks)

    @property
    def solved_whole(self) -> bool:
        """Whether all cells take no longer than some: a single attribute under a channel that needs no matrix."""
        return len(self.blocks) == 1 and isinstance(self.blocks[0].full.transition, UniformPlus | Incidence)

    def placed(self, values: Array) -> Array:
        """From the order of the blocks to that of the names; of some cells only, where only those are asked for."""
        if self.cells is not None:
            return values[self.cells]
        axes = self.axes
        if axes == self.names:
            return values
        tail = values.shape[1:]
        order = [*(axes.index(name) for name in self.names), *range(len(axes), len(axes) + len(tail))]
        return np.ascontiguousarray(values.reshape(*self.sizes, *tail).transpose(order)).reshape(-1, *tail)

    def in_blocks(self, table: Array) -> Array:
        """The reverse, of one table with as many axes as names: an axis per block."""
        axes = self.axes
        if axes != self.names:
            table = table.reshape(self.shape).transpose([self.names.index(name) for name in axes])
        return table.reshape([prod(block.sizes) for block in self.blocks])

    def forward(self, theta: Array) -> Array:
        """Pᵀθ, θ flat in the order of the names."""
        silent = self.silent
        if silent:
            return self.without_silent.forward(theta.reshape(self.shape).sum(axis=silent).reshape(-1))
        return self._forward.apply(self.in_blocks(theta).reshape(-1))

    def backward(self, weights: Array) -> Array:
        """P w."""
        silent = self.silent
        if silent:
            told = self.without_silent.backward(weights)
            alone = [1 if place in silent else size for place, size in enumerate(self.shape)]
            return np.broadcast_to(told.reshape(alone), self.shape).reshape(-1)
        return self.placed(self.transition.apply(weights))

    @cached_property
    def silent(self) -> tuple[int, ...]:
        """The places of the attributes that were not asked."""
        unasked = {name for block in self.blocks if not block.columns for name in block.names}
        return tuple(place for place, name in enumerate(self.names) if name in unasked)

    @cached_property
    def without_silent(self) -> Seen:
        """The same without the attributes that were not asked."""
        kept = tuple(name for place, name in enumerate(self.names) if place not in self.silent)
        return replace(self, names=kept, blocks=tuple(block for block in self.blocks if block.columns))

    def widened(self, names: Sequence[str], sizes: Sequence[int]) -> Seen:
        """The same among more attributes, which were not asked."""
        more = (unasked(name, size) for name, size in zip(names, sizes, strict=True) if name not in self.names)
        return replace(self, names=tuple(names), blocks=(*self.blocks, *more))

    def through(self, maps: Iterable[Array]) -> Array:
        """The counts multiplied by a matrix for each block, in the order of the names."""
        return self.placed(each_axis(self.counts.reshape(self.released), maps).reshape(-1))

    def summed(self, values: Array) -> Array:
        """A table of all attributes that the channels treat, summed to one of the axes."""
        tail, done = values.shape[1:], 1
        for block in self.blocks:
            if block.into is not None:
                cells = values.reshape(done, len(block.into), -1).transpose(1, 0, 2)
                out = np.zeros((prod(block.sizes), *cells.shape[1:]))
                np.add.at(out, block.into, cells)
                values = out.transpose(1, 0, 2)
            done *= prod(block.sizes)
        return values.reshape(done, *tail)

    def own(self, k: int) -> Array:
        """Σ_y A[x, y]^k P[c, y] of every cell c of all attributes, x being the cell of the axes that c belongs to."""
        return kronecker([block.own(k) for block in self.blocks])

    # What the counts say.

    @property
    def total(self) -> float:
        return float(self.counts.sum())

    @cached_property
    def centre(self) -> Array:
        """A Ñ: unbiased for the true counts."""
        if self.counts.ndim == 1 and max(self.counts.size, prod(self.sizes)) <= _SMALL:
            return self.through(block.A for block in self.blocks)
        return self.placed(self.inverse.apply(self.counts))

    @cached_property
    def spread(self) -> Array:
        """diag(A diag(Ñ) Aᵀ)."""
        return self.placed(self.inverse.squared().apply(self.counts))

    def moment(self, k: int, counts: Array) -> Array:
        """Σ_y A[x, y]^k counts[y]."""
        return self.placed(self.inverse.power(k).apply(counts))

    def rows(self) -> Array:
        """A in full, for few cells."""
        if self.cells is not None:
            return self.inverse.entries(self.cells, np.arange(self.inverse.cols))
        return self.placed(self.inverse.dense())

    def holding(self, counts: ArrayLike) -> Seen:
        """The same maps over other released counts."""
        return replace(self, counts=np.asarray(counts, dtype=np.float64))

    def at(self, codes: NDArray[np.int64]) -> Seen:
        """The same of some cells only: a row of codes each, in the order of the names."""
        moved = [codes[:, self.names.index(name)] for name in self.axes]
        return replace(self, cells=np.ravel_multi_index(moved, self.sizes))

    def weighed(self, theta: Array) -> Seen:
        """With the left inverse that is best if the true shares are θ, as one block; θ in the order of the blocks.

        One record spread evenly keeps every possible output possible.
        """
        forward = self.transition
        possible = forward.apply(np.ones(forward.cols)) > 0
        expected = forward.T.apply(theta * self.total + possible / possible.sum())
        columns = tuple(column for block in self.blocks for column in block.columns)
        outputs = tuple(size for block in self.blocks for size in block.outputs)
        inverse = Dense(left_inverse(forward.dense(), expected))
        return replace(self, blocks=(Block(self.axes, self.sizes, columns, outputs, None, forward, inverse),))

    # Records one by one.

    @cached_property
    def joined(self) -> tuple[NDArray[Any], ...]:
        """The released code of each block, record by record."""
        held = self.codes or {}
        asked = (block for block in self.blocks if block.columns)
        return tuple(join_codes([held[column] for column in block.columns], block.outputs) for block in asked)

    def dense(self) -> Seen:
        """Listed records as counts of all released cells."""
        flat = join_codes(self.joined, [block.released for block in self.blocks if block.columns]).astype(np.int64)
        counts = np.bincount(flat, weights=self.counts, minlength=prod(self.released))
        return replace(self, counts=np.asarray(counts, dtype=np.float64), codes=None)

    def likelihoods(self) -> list[tuple[tuple[int, ...], Array]]:
        """Of each block the places of its attributes among the names, ascending, and Pr(released | true): released
        values first, then an axis for each place.
        """
        out = []
        for block in (block for block in self.blocks if block.columns):
            places = [self.names.index(name) for name in block.names]
            order = sorted(range(len(places)), key=places.__getitem__)
            table = block.P.T.reshape(-1, *block.sizes).transpose(0, *(1 + i for i in order))
            out.append((tuple(sorted(places)), table))
        return out


def seen(release: Release, names: Sequence[str], inverted: bool = True) -> tuple[Seen, ...]:
    """The released counts that tell of some attributes, scheme by scheme; schemes without records are left out.

    ``inverted`` refuses channels that have no left inverse.
    """
    asked = tuple(names)
    found: dict[Scheme, Array] = {}
    for part in asking(release, asked):
        counts = counter(part).counts(columns(blocks(part.scheme, asked, inverted)))
        found[part.scheme] = found[part.scheme] + counts if part.scheme in found else counts
    made = ((scheme, counts) for scheme, counts in found.items() if counts.any())
    return tuple(Seen(asked, blocks(scheme, asked, inverted), counts, scheme=scheme) for scheme, counts in made)


def seen_records(part: Part, names: Sequence[str], distinct: bool = True, inverted: bool = True) -> Seen:
    """The released records of one part, one by one; the distinct ones with how many there are of each."""
    asked = tuple(names)
    shown = blocks(part.scheme, asked, inverted)
    wanted = columns(shown)
    codes, counts = counter(part).records(wanted, distinct)
    return Seen(asked, shown, counts, dict(zip(wanted, codes, strict=True)), scheme=part.scheme)


def columns(shown: Iterable[Block]) -> tuple[str, ...]:
    """The released columns of some blocks."""
    return tuple(column for block in shown for column in block.columns)


def each_axis(tensor: Array, maps: Iterable[Array]) -> Array:
    """The tensor multiplied by one matrix along each axis."""
    for A in maps:  # the first axis is multiplied and becomes the last: after all of them the order is as before
        tensor = (A @ tensor.reshape(len(tensor), -1)).reshape(len(A), *tensor.shape[1:])
        tensor = np.moveaxis(tensor, 0, -1)
    return tensor
