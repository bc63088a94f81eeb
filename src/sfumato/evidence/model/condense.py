"""Fewer released values for the same information: outputs that say the same of the input count as one.

An output y matters only through its likelihoods P[·, y]. Outputs with proportional columns are merged at no loss;
where the released table is still too large, the pair whose merging loses the least mutual information goes next.
"""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.codes import join_codes
from sfumato.channels.linear import Array, Dense, Kronecker, Operator
from sfumato.evidence.counting import SparseCounts
from sfumato.evidence.view import View


def condense(shown: View, found: SparseCounts, most: int) -> tuple[Kronecker, Array]:
    """The channel with merged outputs and the counts of the merged released table.

    It has at most ``most`` cells, or as many as the true table if that has more.
    """
    merged = [merge(factor, factor.cols) for factor in shown.transition.factors]
    while prod(len(labels_used(labels)) for labels in merged) > most:
        sizes = [len(labels_used(labels)) for labels in merged]
        spare = [size - factor.rows for size, factor in zip(sizes, shown.transition.factors, strict=True)]
        if max(spare) <= 0:  # as small as the true table: nothing more can be merged
            break
        widest = int(np.argmax([size if room > 0 else 0 for size, room in zip(sizes, spare, strict=True)]))
        factor = shown.transition.factors[widest]
        merged[widest] = merge(factor, max(factor.rows, sizes[widest] - max(1, spare[widest] // 4)))
    factors: list[Operator] = []
    columns: list[NDArray[np.int64]] = []
    column = 0
    for factor, outputs, labels in zip(shown.transition.factors, shown.outputs, merged, strict=True):
        released = join_codes(found.codes[column : column + len(outputs)], outputs)
        columns.append(labels[released.astype(np.int64)])
        factors.append(Dense(_sum_columns(factor.dense(), labels)))
        column += len(outputs)
    sizes = [factor.cols for factor in factors]
    flat = join_codes(columns, sizes).astype(np.int64)
    counted = np.bincount(flat, weights=found.counts.astype(np.float64), minlength=prod(sizes))
    return Kronecker(tuple(factors)), np.asarray(counted, dtype=np.float64)


def labels_used(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.unique(labels)


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
    columns = _sum_columns(P, labels)
    while columns.shape[1] > most:
        loss = _losses(columns / k)
        i, j = sorted(divmod(int(np.argmin(loss)), columns.shape[1]))
        labels = _renumber(np.where(labels == j, i, labels))
        columns = _sum_columns(P, labels)
    return labels


def _losses(joint: Array) -> Array:
    """The mutual information that merging each pair of outputs loses, under a uniform input."""
    own = _spread(joint)
    together = _spread(joint[:, :, None] + joint[:, None, :])
    loss = own[:, None] + own[None, :] - together
    np.fill_diagonal(loss, np.inf)
    return np.asarray(loss)


def _spread(joint: Array) -> Array:
    """Σ_x p(x, y) log (p(x, y) / p(y)) of each column."""
    share = joint / np.maximum(joint.sum(axis=0, keepdims=True), 1e-300)
    return np.asarray((joint * np.log(np.maximum(share, 1e-300))).sum(axis=0))


def _sum_columns(P: Array, labels: NDArray[np.int64]) -> Array:
    out = np.zeros((P.shape[0], int(labels.max()) + 1))
    np.add.at(out.T, labels, P.T)
    return out


def _renumber(labels: NDArray[np.int64]) -> NDArray[np.int64]:
    """Codes 0, 1, 2, ... in order of first use."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]
