"""What released records say, without bias, of any function of their true values.

    s_z = Σ_cells A[cell, z] f(cell),        E[s_Z | true cell] = f(true cell)

A is a Kronecker product over blocks of attributes. A function of some attributes needs the blocks of these only, and
s_z is looked up, or formed, only for the records z that were released.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from sfumato.arrays import Array
from sfumato.channels.codes import join_codes
from sfumato.channels.linear import Kronecker
from sfumato.evidence.seen import Seen
from sfumato.learn.regression.design_columns import Column

#: The most numbers of a table of s over all released values; beyond it, s is formed for the released records only.
_TABLE = 1 << 22


def told_of_column(found: Seen, column: Column) -> Array:
    """s of a column, for every listed record."""
    places = [i for i, block in enumerate(found.blocks) if not set(block.names).isdisjoint(column.names)]
    names = [name for i in places for name in found.blocks[i].names]
    sizes = dict(zip(found.axes, found.sizes, strict=True))
    return told(found, places, column.over(names, sizes).reshape(-1, 1))[:, 0]


def told_of_cells(found: Seen, values: Array) -> Array:
    """s of several functions of all attributes, a row per cell in the order of the names, for every listed record."""
    axes = [found.names.index(name) for name in found.axes]
    moved = values.reshape(*found.shape, -1).transpose(*axes, len(axes)).reshape(-1, values.shape[1])
    return told(found, range(len(found.blocks)), moved)


def told(found: Seen, places: Sequence[int], values: Array) -> Array:
    """s of several functions of some blocks, a row per cell in the order of the blocks."""
    chosen, codes = [found.blocks[i] for i in places], [found.joined[i] for i in places]
    released, width = [block.released for block in chosen], values.shape[1]
    rows = len(found.counts)
    if not chosen:
        return np.repeat(values, rows, axis=0)
    if prod(released) * width <= _TABLE:
        table = Kronecker(tuple(block.inverse.T for block in chosen)).apply(values)
        return np.asarray(table[join_codes(codes, released).astype(np.int64)])
    cells = [prod(block.sizes) for block in chosen]
    step = max(1, _TABLE // max(values.size // min(cells), width))
    out = np.empty((rows, width))
    for begin in range(0, rows, step):
        part = slice(begin, begin + step)
        entries = [
            block.inverse.entries(np.arange(size), np.asarray(own[part], dtype=np.int64))
            for block, size, own in zip(chosen, cells, codes, strict=True)
        ]
        left = entries[0].T @ values.reshape(cells[0], -1)
        for size, own in zip(cells[1:], entries[1:], strict=True):
            left = np.einsum("rxk,xr->rk", left.reshape(len(left), size, -1), own)
        out[part] = left
    return out


def unbiased_counts(found: Seen) -> Array:
    """A Ñ of listed records, in the order of the names."""
    if prod(found.released) <= _TABLE:
        return found.dense().centre
    cells = [prod(block.sizes) for block in found.blocks]
    total = np.zeros(prod(cells))
    step = max(1, _TABLE // prod(cells))
    for begin in range(0, len(found.counts), step):
        part = slice(begin, begin + step)
        rows = found.counts[None, part]
        for block, size, own in zip(found.blocks, cells, found.joined, strict=True):
            entries = block.inverse.entries(np.arange(size), np.asarray(own[part], dtype=np.int64))
            rows = (rows[:, None, :] * entries[None, :, :]).reshape(-1, rows.shape[-1])
        total += rows.sum(axis=1)
    return found.placed(total)
