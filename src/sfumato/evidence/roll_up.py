r"""Counts of a wider level of a tree: sums over the values below it, with the covariance of all of them.

With G[x, g] = 1 where value x lies below g, the counts of a level are Gᵀ N̂ = (Gᵀ A) Ñ. So a level is seen through
the rows of A summed over its values, and everything else follows as for any other attribute.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod
from typing import Any, TypeVar

import numpy as np

from sfumato.arrays import Array, Index
from sfumato.channels.linear import Dense
from sfumato.errors import EstimationError
from sfumato.evidence.blocks import Block
from sfumato.evidence.estimate import Estimate
from sfumato.evidence.record_moments import MOMENTS, ListedCells
from sfumato.evidence.seen import Seen
from sfumato.schema import Domain, Hierarchy, Schema

#: Up to so many entries of P every value's own moments count; beyond, those of an even mixture of the values below.
_EACH_VALUE = 1 << 22
#: The most entries of A summed to a level.
_MOST_ENTRIES = 1 << 26

Levels = str | Mapping[str, str]
E = TypeVar("E", bound=Estimate)


def roll_up(found: E, levels: Levels) -> E:
    """The same counts at wider levels: ``"county"``, or ``{"place": "county"}`` where several attributes are trees."""
    asked = _asked(found.schema, levels)
    if found.codes is not None:
        raise EstimationError("the counts of some cells are not rolled up: ask for all of them")
    domains: dict[str, Domain] = dict(found.schema)
    into: dict[str, Index] = {}
    for name, level in asked.items():
        domain = found.schema[name]
        if not isinstance(domain, Hierarchy):
            raise EstimationError(f"{name!r} has no levels: it is {domain.kind}, and no hierarchy")
        if level != domain.above[-1]:
            domains[name], into[name] = domain.at(level), domain.into(level)
    schema = Schema(domains)

    def rolled(values: Array) -> Array:
        table = values.reshape(*found.shape, *values.shape[1:])
        for axis, name in enumerate(found.names):
            if name in into:
                table = _summed(table, axis, into[name], schema[name].size)
        return table.reshape(-1, *values.shape[1:])

    pieces = tuple(_rolled(piece, into) for piece in found.seen)
    changed: dict[str, Any] = {"schema": schema, "value": rolled(found.value), "seen": pieces}
    for part, root in getattr(found, "roots", {}).items():  # of a model's estimate
        changed[part] = None if root is None else rolled(root)
    return replace(found, **changed)


def _asked(schema: Schema, levels: Levels) -> dict[str, str]:
    trees = [name for name, domain in schema.items() if isinstance(domain, Hierarchy)]
    if isinstance(levels, str):
        if len(trees) != 1:
            what = "none of them is" if not trees else f"{' and '.join(trees)} are"
            raise EstimationError(f"level is of one attribute, and {what} a hierarchy: give {{name: level}}")
        return {trees[0]: levels}
    if not isinstance(levels, Mapping):
        raise EstimationError(f"level must name a level of a hierarchy, or be {{name: level}}, got {levels!r} instead")
    strange = [name for name in levels if name not in schema]
    if strange:
        raise EstimationError(f"level names {strange[0]!r}, which was not asked for: {', '.join(schema.names)} were")
    return dict(levels)


def _summed(table: Array, axis: int, into: Index, size: int) -> Array:
    moved = np.moveaxis(table, axis, 0)
    out = np.zeros((size, *moved.shape[1:]))
    np.add.at(out, into, moved)
    return np.moveaxis(out, 0, axis)


def _rolled(piece: Seen, into: Mapping[str, Index]) -> Seen:
    many = [b for b in piece.blocks if set(b.names) & set(into) and b.full.transition.rows * b.released > _EACH_VALUE]
    if not many:
        blocks = tuple(_block(block, into) if set(block.names) & set(into) else block for block in piece.blocks)
        return replace(piece, blocks=blocks)
    if len(piece.blocks) > 1 or len(piece.names) > 1:
        raise EstimationError(
            f"{many[0].names[0]!r} has too many values to be rolled up beside other attributes: ask for it alone, or "
            f"release a wider level"
        )
    return _listed(piece, into[piece.names[0]])


def _block(block: Block, into: Mapping[str, Index]) -> Block:
    """The block at wider levels: A summed over the values below each."""
    before = zip(block.names, block.sizes, strict=True)
    sizes = tuple(int(into[name].max()) + 1 if name in into else size for name, size in before)
    codes = np.unravel_index(np.arange(prod(block.sizes)), block.sizes)
    wider = [into[name][code] if name in into else code for name, code in zip(block.names, codes, strict=True)]
    place = np.asarray(np.ravel_multi_index(wider, sizes))
    members = np.zeros((prod(sizes), len(place)))
    members[place, np.arange(len(place))] = 1.0
    whole = place if block.into is None else place[block.into]
    return Block(
        names=block.names,
        sizes=sizes,
        columns=block.columns,
        outputs=block.outputs,
        forward=Dense(members @ block.P / np.maximum(members.sum(axis=1, keepdims=True), 1.0)),
        backward=Dense(members @ block.A),
        whole=block.full,
        into=whole,
    )


def _listed(piece: Seen, into: Index) -> ListedCells:
    """The level of one attribute with very many values."""
    (block,) = piece.blocks
    groups = int(into.max()) + 1
    if groups * block.released > _MOST_ENTRIES:
        raise EstimationError(f"{groups:,} values of a level are too many to sum to: ask for a wider one")
    members = np.zeros((len(into), groups))
    members[np.arange(len(into)), into] = 1.0
    rows = block.inverse.T.apply(members).T
    mean = block.transition.T.apply(members / members.sum(axis=0)).T
    own = np.stack([np.einsum("gy,gy->g", rows**k, mean) for k in MOMENTS])
    return ListedCells(piece.names, piece.blocks, piece.counts, cells=np.arange(groups), listed=rows, own_moments=own)
