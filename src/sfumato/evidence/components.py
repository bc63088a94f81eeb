"""Which true values a channel can mix up: it tells those of different components apart with certainty."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.geometry import Incidence
from sfumato.channels.linear import BlockDiagonal, Embedded, Kronecker, Operator, UniformPlus

Labels = NDArray[np.int64]


def components(transition: Operator) -> Labels | None:
    """The number of each true value's component, or None where all may be mixed up.

    Two values are in one component if some released value can come from either, directly or through others.

    >>> components(BlockDiagonal((UniformPlus(0.4, 0.3, 2), UniformPlus(1.0, 0.0, 2))))
    array([0, 0, 1, 2])
    """
    if isinstance(transition, UniformPlus):
        return None if transition.b else np.arange(transition.k)
    if isinstance(transition, Incidence) and np.min(transition.off) > 0 < np.min(transition.on):
        return None
    if isinstance(transition, Kronecker):
        return _crossed([(components(factor), factor.rows) for factor in transition.factors])
    if isinstance(transition, BlockDiagonal):
        labels: list[Labels] = []
        for block in transition.blocks:
            start = 1 + int(labels[-1].max()) if labels else 0
            labels.append(start + _all(components(block), block.rows))
        return np.concatenate(labels) if len(labels) > 1 else components(transition.blocks[0])
    if isinstance(transition, Embedded):
        inner = components(transition.inner)
        if inner is None:
            return None
        out = np.zeros(transition.size, dtype=np.int64)  # impossible values hold no records: any label will do
        out[transition.cells] = inner
        return out
    return _connected(transition)


def _all(labels: Labels | None, rows: int) -> Labels:
    return np.zeros(rows, dtype=np.int64) if labels is None else labels


def _crossed(factors: list[tuple[Labels | None, int]]) -> Labels | None:
    if all(labels is None for labels, _ in factors):
        return None
    out = np.zeros(1, dtype=np.int64)
    for labels, rows in factors:
        own = _all(labels, rows)
        out = (out[:, None] * (int(own.max()) + 1) + own[None, :]).reshape(-1)
    return out


def _connected(transition: Operator) -> Labels | None:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    possible = transition.dense() > 0
    if possible.all():
        return None
    shared = csr_array(possible.astype(np.int32))
    found, labels = connected_components(shared @ shared.T, directed=False)
    return None if found == 1 else np.asarray(labels, dtype=np.int64)
