"""Second moments of estimated counts of a node and its parents, without forming their covariance matrix.

Entries of A are products over the channels' blocks, so sums over released cells of products of entries are applied
block by block.
"""

from __future__ import annotations

from math import prod

import numpy as np

from sfumato.channels.linear import Array
from sfumato.evidence.families import Family, Seen, each_axis

_POWERS = ((2, 0), (1, 1), (0, 2))


Triple = tuple[Array, Array, Array]


def covariances(family: Family, second: Triple, population: bool) -> Triple:
    """Var(N̂_jk), Cov(N̂_jk, N̂_j) and Var(N̂_j), of the distribution behind the table or of the table itself.

    A model knows only the first, which is on the safe side for the second.
    """
    if family.spread is not None:
        return second
    m11, m12, m22 = second
    top = family.unbiased
    bottom = np.broadcast_to(top.sum(-1, keepdims=True), top.shape)
    if population:  # Cov(N̂) = A diag(Ñ) Aᵀ - N̂ N̂ᵀ / N
        return m11 - top**2 / family.n, m12 - top * bottom / family.n, m22 - bottom**2 / family.n
    return m11 - top, m12 - top, m22 - bottom


def second_moments(family: Family) -> Triple:
    """Entries of A diag(Ñ) Aᵀ: cell with cell, cell with configuration, configuration with configuration.

    Of a model that knows its covariance, entries of that.
    """
    if family.spread is not None:
        shape, own = family.table.shape, family.spread
        whole = np.repeat(own.sum((1, 2)), shape[-1])
        return np.diagonal(own, axis1=1, axis2=2).reshape(shape), own.sum(2).reshape(shape), whole.reshape(shape)
    out = [np.zeros(family.table.shape) for _ in _POWERS]
    for part in family.seen:
        for total, powers in zip(out, _POWERS, strict=True):
            total += _through(family, part, powers)
    return out[0], out[1], out[2]


def own_moments(family: Family) -> Array:
    """How much one record at (j, k') adds to each of the three second moments of (j, k): three by j by k by k'."""
    J, k = prod(family.table.shape[:-1]), family.table.shape[-1]
    out = np.zeros((3, J, k, k))
    for part in family.seen:
        out += part.observed.sum() / family.n * _own(family, part)
    return out


def _through(family: Family, part: Seen, powers: tuple[int, int]) -> Array:
    """(A^p ∘ S^q) Ñ with S the rows of A summed over the node's values: products of entries factor over the blocks."""
    entries = [(A ** powers[0] * S ** powers[1]).reshape(-1, A.shape[-1]) for A, S in _rows(family, part)]
    out = each_axis(part.observed.reshape([block.released for block in part.blocks]), entries)
    sizes = [size for block in part.blocks for size in block.sizes]
    return np.asarray(out.reshape(sizes).transpose([part.axes.index(name) for name in family.names]))


def _rows(family: Family, part: Seen) -> list[tuple[Array, Array]]:
    """Of each block A and S, with an axis per attribute and the released cells last."""
    node = family.names[-1]
    out = []
    for block in part.blocks:
        A = block.A.reshape(*block.sizes, block.released)
        inside = node in block.names
        S = A.sum(axis=block.names.index(node), keepdims=True) if inside else A
        out.append((A, np.broadcast_to(S, A.shape)))
    return out


def _own(family: Family, part: Seen) -> Array:
    """Σ_y P[(j,k'), y] (A², A S, S²)[(j,k), y]: how much a record at (j, k') adds to the variances of (j, k)."""
    node = family.names[-1]
    k = family.table.shape[-1]
    pieces = []
    for power in _POWERS:
        out = np.ones((1,) * 0)
        axes: list[str] = []
        for block, (A, S) in zip(part.blocks, _rows(family, part), strict=True):
            P = block.P.reshape(*block.sizes, block.released)
            entries = A ** power[0] * S ** power[1]
            if node in block.names:
                at = block.names.index(node)
                mine, theirs = np.moveaxis(entries, at, 0), np.moveaxis(P, at, 0)
                factor = np.einsum("a...y,b...y->...ab", mine, theirs)
                names = [name for name in block.names if name != node]
            else:
                factor = (entries * P).sum(-1)[..., None, None]
                names = list(block.names)
            out = _outer(out, factor)
            axes += names
        if not axes:
            pieces.append(out.reshape(1, k, k))
            continue
        order = [axes.index(name) for name in family.names[:-1]]
        out = out.transpose([*order, len(axes), len(axes) + 1])
        pieces.append(out.reshape(prod(family.table.shape[:-1]), k, k))
    return np.stack(pieces)


def _outer(left: Array, right: Array) -> Array:
    """Parents' axes side by side; the two last axes (the node's value twice, or 1 by 1) multiply."""
    if not left.ndim:
        return right
    a, b = left.shape[:-2], right.shape[:-2]
    return left.reshape(*a, *(1 for _ in b), *left.shape[-2:]) * right
