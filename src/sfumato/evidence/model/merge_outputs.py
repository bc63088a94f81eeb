"""Fewer released values for the same information: outputs that say the same of the input count as one.

An output y matters only through its likelihoods P[·, y]. Outputs with proportional columns are merged at no loss;
where the released table is still too large, the pair whose merging loses the least mutual information goes next.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.channels.linear import Dense, Operator
from sfumato.evidence.blocks import Block
from sfumato.evidence.seen import Seen


def condense(found: Seen, most: int) -> Seen:
    """Listed records as counts of a released table whose outputs are merged.

    It has at most ``most`` cells, or as many as the true table if that has more.
    """
    merged = [merge(block.transition, block.released) for block in found.blocks]
    while prod(len(np.unique(labels)) for labels in merged) > most:
        sizes = [len(np.unique(labels)) for labels in merged]
        spare = [size - block.transition.rows for size, block in zip(sizes, found.blocks, strict=True)]
        if max(spare) <= 0:  # as small as the true table: nothing more can be merged
            break
        widest = int(np.argmax([size if room > 0 else 0 for size, room in zip(sizes, spare, strict=True)]))
        forward = found.blocks[widest].transition
        merged[widest] = merge(forward, max(forward.rows, sizes[widest] - max(1, spare[widest] // 4)))
    shown, codes = [], {}
    for block, labels, released in zip(found.blocks, merged, found.joined, strict=True):
        P, name = sum_columns(block.P, labels), "+".join(block.columns)
        shown.append(Block(block.names, block.sizes, (name,), (P.shape[1],), forward=Dense(P)))
        codes[name] = labels[released.astype(np.int64)]
    return replace(found, blocks=tuple(shown), codes=codes).dense()


def merge(transition: Operator, most: int) -> NDArray[np.int64]:
    """A new code for every output, at most ``most`` of them unless no merging is lossless below.

    >>> merge(Dense(np.array([[0.6, 0.2, 0.1, 0.1], [0.2, 0.6, 0.1, 0.1]])), 4)
    array([0, 1, 2, 2])
    """
    P = transition.dense()
    k = P.shape[0]
    weight = P.sum(axis=0)
    shapes = np.divide(P, weight, out=np.full_like(P, 1.0 / k), where=weight > 0)
    _, labels = np.unique(shapes.round(12), axis=1, return_inverse=True)
    labels = _renumber(labels.reshape(-1))
    joint = sum_columns(P, labels) / k
    own = _spread(joint)
    loss = np.array([_losses(joint, own, i) for i in range(len(own))])
    held = np.arange(len(own))  # which merged output holds each of the distinct ones
    while len(own) > most:
        i, j = sorted(divmod(int(np.argmin(loss)), len(own)))
        joint[:, i] += joint[:, j]
        joint, own = np.delete(joint, j, axis=1), np.delete(own, j)
        own[i] = _spread(joint[:, [i]])[0]
        loss = np.delete(np.delete(loss, j, axis=0), j, axis=1)
        loss[i] = loss[:, i] = _losses(joint, own, i)
        held[held == j] = i
        held[held > j] -= 1
    return _renumber(held[labels])


def _losses(joint: Array, own: Array, i: int) -> Array:
    """The mutual information that merging output i with each of the others loses, under a uniform input."""
    loss = own[i] + own - _spread(joint + joint[:, [i]])
    loss[i] = np.inf
    return np.asarray(loss)


def _spread(joint: Array) -> Array:
    """Σ_x p(x, y) log (p(x, y) / p(y)) of each column."""
    share = joint / np.maximum(joint.sum(axis=0, keepdims=True), 1e-300)
    return np.asarray((joint * np.log(np.maximum(share, 1e-300))).sum(axis=0))


def sum_columns(P: Array, labels: NDArray[np.int64]) -> Array:
    """P with merged outputs."""
    out = np.zeros((P.shape[0], int(labels.max()) + 1))
    np.add.at(out.T, labels, P.T)
    return out


def _renumber(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Codes 0, 1, 2, ... in order of first use."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
