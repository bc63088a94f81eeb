"""Units: what is randomized together, with the weights that make the support of any of its items unbiased.

Whatever the channel, the support of an item set C that touches units g is the mean over the released records of
∏_g w_g(C_g), where w_g(C_g) is a row of the unit's left inverse summed over the states that hold C_g. Where items of
one attribute exclude each other only the valid states are kept, and the left inverse is weighted by the released shares
(generalised least squares): its error is about half that of the plain inverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.channels import Channel
from sfumato.channels.codes import join_codes
from sfumato.channels.linear import Array, Dense, left_inverse
from sfumato.channels.product import Product
from sfumato.channels.select_a_size import SelectASize
from sfumato.errors import EstimationError
from sfumato.evidence import mle
from sfumato.evidence.model.condense import merge
from sfumato.learn.rules.items import Item, Universe
from sfumato.learn.rules.sizes import SizeUnit
from sfumato.release import Part

_DENSE = 1 << 22
_STATES = 1 << 10


@dataclass(eq=False)
class Unit:
    """Items randomized together: their possible states, the released code of every record, and the left inverse."""

    items: tuple[Item, ...]
    masks: dict[Item, NDArray[np.bool_]]  # the states that hold each item
    transition: Array  # states by outputs
    codes: NDArray[np.int64]
    names: tuple[str, ...] = ()  # the families or attributes whose states these are, first slowest
    sizes: tuple[int, ...] = ()
    _inverse: Array | None = field(default=None, repr=False)

    @property
    def inverse(self) -> Array:
        """The weighted left inverse, states by outputs."""
        if self._inverse is None:
            counted = np.bincount(self.codes, minlength=self.transition.shape[1]).astype(np.float64)
            shares = mle.fit(Dense(self.transition), counted).theta
            released = np.maximum(shares @ self.transition, 1e-12)
            if np.linalg.matrix_rank(self.transition, tol=1e-10) < len(self.transition):
                raise EstimationError(
                    f"the channel of {', '.join(map(str, self.items[:4]))} is singular: "
                    f"different transactions give the same released ones, so that no support can be estimated"
                )
            self._inverse = left_inverse(self.transition, released)
        return self._inverse

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


def units(part: Part, universe: Universe) -> list[Unit | SizeUnit]:
    """The units of a part of a release: scheme groups, joined where a family of exclusive items runs across them."""
    groups = dict.fromkeys(part.scheme.group(name) for name in part.scheme.schema.names)
    pieces = [piece for group in groups for piece in _pieces(group.names, group.columns, group.channel)]
    rows = part.arrow()
    out: list[Unit | SizeUnit] = []
    item_of = {item.attribute: item for item in universe.items}
    in_family = {item.attribute for family in universe.families for item in family}
    for members in _components(pieces, universe):
        only, *more = members
        if universe.presence and not more and isinstance(only[2], SelectASize) and in_family.isdisjoint(only[0]):
            shown = [rows.column(column).to_numpy() for column in only[1]]
            out.append(SizeUnit(only[2], [item_of[name] for name in only[0]], shown))
            continue
        names = [name for piece in members for name in piece[0]]
        columns = [column for piece in members for column in piece[1]]
        sizes = [size for piece in members for size in piece[2].outputs]
        released = join_codes([rows.column(column).to_numpy() for column in columns], sizes).astype(np.int64)
        states = _states(names, [piece[2] for piece in members], universe)
        P = _rows(states.cells, [piece[2] for piece in members])
        labels = merge(Dense(P), P.shape[1])
        merged = np.zeros((len(P), int(labels.max()) + 1))
        np.add.at(merged.T, labels, P.T)
        masks = {item: states.holds(item) for item in universe.items if item.attribute in names}
        out.append(Unit(tuple(masks), masks, merged, labels[released], states.names, states.sizes))
    return out


Piece = tuple[tuple[str, ...], tuple[str, ...], Channel]


def _pieces(names: tuple[str, ...], columns: tuple[str, ...], channel: Channel) -> list[Piece]:
    """A group, or its factors where the channel is a product (MASK): those are independent."""
    if not isinstance(channel, Product) or len(columns) != len(names):
        return [(names, columns, channel)]
    out: list[Piece] = []
    at = 0
    for factor in channel.channels:
        width = len(factor.sizes)
        out += _pieces(names[at : at + width], columns[at : at + width], factor)
        at += width
    return out


def _components(pieces: list[Piece], universe: Universe) -> list[list[Piece]]:
    owner = {name: i for i, piece in enumerate(pieces) for name in piece[0]}
    group = list(range(len(pieces)))
    if universe.presence:
        for family in universe.families:
            touched = {group[owner[item.attribute]] for item in family}
            low = min(touched)
            group = [low if g in touched else g for g in group]
    return [[piece for piece, g in zip(pieces, group, strict=True) if g == i] for i in dict.fromkeys(group)]


@dataclass(frozen=True, eq=False)
class _States:
    cells: NDArray[np.int64]  # a row per state, a column per attribute
    attributes: list[str]
    names: tuple[str, ...]
    sizes: tuple[int, ...]

    def holds(self, item: Item) -> NDArray[np.bool_]:
        return np.asarray(self.cells[:, self.attributes.index(item.attribute)] == item.code)


def _states(names: list[str], channels: list[Channel], universe: Universe) -> _States:
    """Every possible combination of codes of the attributes: one item of each family, the others free."""
    sizes = [size for channel in channels for size in channel.sizes]
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
    outputs = prod(size for channel in channels for size in channel.outputs)
    if count > _STATES or count * outputs > _DENSE:
        raise EstimationError(
            f"{', '.join(names[:4])}... are randomized together with {count} states and {outputs} outputs: "
            f"too many for a dense inverse; use smaller groups"
        )
    cells = np.zeros((1, len(names)), dtype=np.int64)
    for block in blocks:
        cells = (cells[:, None, :] + block[None, :, :]).reshape(-1, len(names))
    return _States(cells, names, tuple(labels), tuple(len(block) for block in blocks))


def _rows(cells: NDArray[np.int64], channels: list[Channel]) -> Array:
    """The rows of the joint transition matrix that belong to the states."""
    out = np.ones((len(cells), 1))
    at = 0
    for channel in channels:
        width = len(channel.sizes)
        flat = join_codes(list(cells[:, at : at + width].T), channel.sizes).astype(np.int64)
        own = channel.transition.dense()[flat]
        out = (out[:, :, None] * own[:, None, :]).reshape(len(cells), -1)
        at += width
    return out
