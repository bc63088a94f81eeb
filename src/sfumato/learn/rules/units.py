"""Units: what is randomized together, with the weights that make the support of any of its items unbiased.

Whatever the channel, the support of an item set C that touches units g is the mean over the released records of
∏_g w_g(C_g), where w_g(C_g) is a row of the unit's left inverse summed over the states that hold C_g. Where items of
one attribute exclude each other only the valid states are kept, and the left inverse is weighted by the released shares
(generalised least squares): its error is about half that of the plain inverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.channels.codes import join_codes
from sfumato.channels.left_inverse import left_inverse
from sfumato.channels.linear import Dense
from sfumato.channels.select_a_size import SelectASize
from sfumato.errors import EstimationError
from sfumato.evidence import mle
from sfumato.evidence.blocks import Block
from sfumato.evidence.model.merge_outputs import merge, sum_columns
from sfumato.evidence.seen import Seen
from sfumato.learn.rules.items import Item, Universe
from sfumato.learn.rules.sizes import SizeUnit

_DENSE = 1 << 22
_STATES = 1 << 10


@dataclass(eq=False)
class ItemUnit:
    """Items randomized together: the block of their possible states, and the released code of every record."""

    masks: dict[Item, NDArray[np.bool_]]  # the states that hold each item
    block: Block  # its names are the families or attributes whose states these are
    codes: NDArray[np.int64]
    counts: Array  # how many records each code stands for

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(self.masks)

    @property
    def transition(self) -> Array:
        """P, states by outputs."""
        return self.block.P

    @cached_property
    def inverse(self) -> Array:
        """The weighted left inverse, states by outputs."""
        counted = np.bincount(self.codes, self.counts, minlength=self.block.released).astype(np.float64)
        shares = mle.fit(self.block.transition, counted).theta
        released = np.maximum(shares @ self.transition, 1e-12)
        if np.linalg.matrix_rank(self.transition, tol=1e-10) < len(self.transition):
            raise EstimationError(
                f"the channel of {', '.join(map(str, self.items[:4]))} is singular: "
                f"different transactions give the same released ones, so that no support can be estimated"
            )
        return left_inverse(self.transition, released)

    def factor(self, chosen: Sequence[Item]) -> Array | None:
        """The weight of every record for these items; None if no state holds them all."""
        held = np.logical_and.reduce([self.masks[item] for item in chosen])
        return np.asarray(held @ self.inverse)[self.codes] if held.any() else None

    def least_square(self, chosen: Sequence[Item]) -> float:
        """The least E w² of a state that holds these items; 1 if none does."""
        held = np.logical_and.reduce([self.masks[item] for item in chosen])
        if not held.any():
            return 1.0
        return float((self.transition[held] @ (held @ self.inverse) ** 2).min())


def units(part: Seen, universe: Universe) -> list[ItemUnit | SizeUnit]:
    """The units of a part of a release: its blocks, joined where a family of exclusive items runs across them."""
    out: list[ItemUnit | SizeUnit] = []
    held = part.codes or {}
    item_of = {item.attribute: item for item in universe.items}
    in_family = {item.attribute for family in universe.families for item in family}
    for members in _components(part.blocks, universe):
        only, *more = members
        if (
            universe.presence
            and not more
            and isinstance(only.channel, SelectASize)
            and in_family.isdisjoint(only.names)
        ):
            shown = [held[column] for column in only.columns]
            out.append(SizeUnit(only.channel, [item_of[name] for name in only.names], shown))
            continue
        names = [name for block in members for name in block.names]
        states = _states(names, members, universe)
        columns = [column for block in members for column in block.columns]
        sizes = [size for block in members for size in block.outputs]
        released = join_codes([held[column] for column in columns], sizes).astype(np.int64)
        P = _rows(states.cells, members)
        labels = merge(Dense(P), P.shape[1])
        merged = Dense(sum_columns(P, labels))
        block = Block(states.names, states.sizes, ("+".join(states.names),), (merged.cols,), forward=merged)
        masks = {item: states.holds(item) for item in universe.items if item.attribute in names}
        out.append(ItemUnit(masks, block, labels[released], part.counts))
    return out


def _components(found: Sequence[Block], universe: Universe) -> list[list[Block]]:
    owner = {name: i for i, block in enumerate(found) for name in block.names}
    group = list(range(len(found)))
    if universe.presence:
        for family in universe.families:
            touched = {group[owner[item.attribute]] for item in family}
            low = min(touched)
            group = [low if g in touched else g for g in group]
    return [[block for block, g in zip(found, group, strict=True) if g == i] for i in dict.fromkeys(group)]


@dataclass(frozen=True, eq=False)
class _States:
    cells: NDArray[np.int64]  # a row per state, a column per attribute
    attributes: list[str]
    names: tuple[str, ...]
    sizes: tuple[int, ...]

    def holds(self, item: Item) -> NDArray[np.bool_]:
        return np.asarray(self.cells[:, self.attributes.index(item.attribute)] == item.code)


def _states(names: list[str], members: Sequence[Block], universe: Universe) -> _States:
    """Every possible combination of codes of the attributes: one item of each family, the others free."""
    sizes = [size for block in members for size in block.sizes]
    families = [f for f in universe.families if f[0].attribute in names] if universe.presence else []
    in_family = {item.attribute for family in families for item in family}
    blocks: list[NDArray[np.int64]] = []
    labels: list[str] = []
    for family in families:
        block = np.zeros((len(family), len(names)), dtype=np.int64)
        for row, item in enumerate(family):
            block[row, names.index(item.attribute)] = 1
        blocks.append(block)
        labels.append(family[0].attribute.partition("=")[0])
    for place, (name, size) in enumerate(zip(names, sizes, strict=True)):
        if name not in in_family:
            block = np.zeros((size, len(names)), dtype=np.int64)
            block[:, place] = np.arange(size)
            blocks.append(block)
            labels.append(name)
    count = prod(len(block) for block in blocks)
    outputs = prod(block.released for block in members)
    if count > _STATES or count * outputs > _DENSE:
        raise EstimationError(
            f"{', '.join(names[:4])}... are randomized together with {count} states and {outputs} outputs: "
            f"too many for a dense inverse; use smaller groups"
        )
    cells = np.zeros((1, len(names)), dtype=np.int64)
    for block in blocks:
        cells = (cells[:, None, :] + block[None, :, :]).reshape(-1, len(names))
    return _States(cells, names, tuple(labels), tuple(len(block) for block in blocks))


def _rows(cells: NDArray[np.int64], members: Sequence[Block]) -> Array:
    """The rows of the joint transition matrix that belong to the states."""
    out = np.ones((len(cells), 1))
    at = 0
    for block in members:
        width = len(block.sizes)
        flat = join_codes(list(cells[:, at : at + width].T), block.sizes).astype(np.int64)
        own = block.P[flat]
        out = (out[:, :, None] * own[:, None, :]).reshape(len(cells), -1)
        at += width
    return out
