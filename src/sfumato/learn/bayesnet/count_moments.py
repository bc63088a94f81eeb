"""Second moments of estimated counts of a node and its parents, without forming their covariance matrix.

Entries of A are products over the channels' blocks, so sums over released cells of products of entries are applied
block by block.
"""

from __future__ import annotations

from math import prod

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.estimate import Estimate
from sfumato.evidence.seen import Seen

_POWERS = ((2, 0), (1, 1), (0, 2))


Triple = tuple[Array, Array, Array]


def covariances(estimate: Estimate, second: Triple, population: bool) -> Triple:
    """Var(N̂_jk), Cov(N̂_jk, N̂_j) and Var(N̂_j), of the distribution behind the table or of the table itself.

    Of a model's counts, what they are apart from the unbiased ones is an error too. A table that no records tell has
    the covariance that the model says.
    """
    if estimate.within() is not None:
        return second
    m11, m12, m22 = second
    top = estimate.unbiased.reshape(estimate.shape)
    bottom = np.broadcast_to(top.sum(-1, keepdims=True), top.shape)
    a11, a12, a22 = squares(apart(estimate))
    m11, m12, m22 = m11 + a11, m12 + a12, m22 + a22
    if population:  # Cov(N̂) = A diag(Ñ) Aᵀ - N̂ N̂ᵀ / N
        return m11 - top**2 / estimate.n, m12 - top * bottom / estimate.n, m22 - bottom**2 / estimate.n
    return m11 - top, m12 - top, m22 - bottom


def apart(estimate: Estimate) -> Array:
    """How far the counts that error bars are about lie from the unbiased ones: those of a model."""
    return np.asarray(estimate.judged - estimate.unbiased.reshape(estimate.shape))


def squares(cells: Array) -> Triple:
    """Products of cells with themselves, of cells with their configuration, and of that with itself."""
    whole = np.broadcast_to(cells.sum(-1, keepdims=True), cells.shape)
    return cells**2, cells * whole, whole**2


def second_moments(estimate: Estimate) -> Triple:
    """Entries of A diag(Ñ) Aᵀ: cell with cell, cell with configuration, configuration with configuration.

    Of a table that no records tell, entries of the covariance that the model says.
    """
    shape, own = estimate.shape, estimate.within()
    if own is not None:
        whole = np.repeat(own.sum((1, 2)), shape[-1])
        return np.diagonal(own, axis1=1, axis2=2).reshape(shape), own.sum(2).reshape(shape), whole.reshape(shape)
    out = [np.zeros(shape) for _ in _POWERS]
    for part in estimate.seen:
        for total, (p, q) in zip(out, _POWERS, strict=True):
            # (A^p ∘ S^q) Ñ: products of entries factor over the blocks
            entries = ((A**p * S**q).reshape(-1, A.shape[-1]) for A, S in _rows(part))
            total += part.through(entries).reshape(shape)
    return out[0], out[1], out[2]


def own_moments(estimate: Estimate) -> Array:
    """How much one record at (j, k') adds to each of the three second moments of (j, k): three by j by k by k'."""
    *parents, k = estimate.shape
    out = np.zeros((3, prod(parents), k, k))
    for part in estimate.seen:
        out += part.total / estimate.n * _own(part)
    return out


def _rows(part: Seen) -> list[tuple[Array, Array]]:
    """Of each block A, and S, its rows summed over the node's values; an axis per attribute, released cells last."""
    node = part.names[-1]
    out = []
    for block in part.blocks:
        A = block.A.reshape(*block.sizes, block.released)
        S = A.sum(axis=block.names.index(node), keepdims=True) if node in block.names else A
        out.append((A, np.broadcast_to(S, A.shape)))
    return out


def _own(part: Seen) -> Array:
    """Σ_y P[(j,k'), y] (A², A S, S²)[(j,k), y]: how much a record at (j, k') adds to the variances of (j, k)."""
    *parents, node = part.names
    *given, k = part.shape
    found = []
    for power in _POWERS:
        out = np.ones(())
        axes: list[str] = []
        for block, (A, S) in zip(part.blocks, _rows(part), strict=True):
            P = block.P.reshape(*block.sizes, block.released)
            entries = A ** power[0] * S ** power[1]
            if node in block.names:
                at = block.names.index(node)
                mine, theirs = np.moveaxis(entries, at, 0), np.moveaxis(P, at, 0)
                factor = np.einsum("a...y,b...y->...ab", mine, theirs)
            else:
                factor = (entries * P).sum(-1)[..., None, None]
            out = _outer(out, factor)
            axes += [name for name in block.names if name != node]
        order = [axes.index(name) for name in parents]
        found.append(out.transpose([*order, len(axes), len(axes) + 1]).reshape(prod(given), k, k))
    return np.stack(found)


def _outer(left: Array, right: Array) -> Array:
    """Parents' axes side by side; the two last axes (the node's value twice, or 1 by 1) multiply."""
    if not left.ndim:
        return right
    a, b = left.shape[:-2], right.shape[:-2]
    return left.reshape(*a, *(1 for _ in b), *left.shape[-2:]) * right
