"""The likelihood of released records under a junction tree: messages from the leaves to the roots."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.linear import Array
from sfumato.errors import EstimationError
from sfumato.evidence.counting import sparse_counts
from sfumato.evidence.model.triangulate import Link
from sfumato.release import Release

_ENTRIES = 1 << 21


def log_likelihood(
    release: Release, names: Sequence[str], links: Sequence[Link], factors: Sequence[Array], sizes: Sequence[int]
) -> float:
    """Σ log Pr(released record), for attributes that are randomized one by one."""
    total = 0.0
    rows = max(1, _ENTRIES // max(factor.size for factor in factors))
    for part in release.parts:
        for name in names:
            if len(part.scheme.group(name).names) > 1:
                raise EstimationError(
                    f"{name!r} is randomized together with others: the likelihood of a junction tree takes "
                    f"attributes that are randomized one by one"
                )
        found = sparse_counts(part, [part.scheme.group(name).columns[0] for name in names])
        matrices = [part.scheme[name].matrix for name in names]
        for start in range(0, len(found.counts), rows):
            codes = [column[start : start + rows] for column in found.codes]
            seen = _released(codes, matrices, links, factors, sizes)
            total += float(found.counts[start : start + rows] @ np.log(np.maximum(seen, 1e-300)))
    return total


def _released(
    codes: Sequence[NDArray[np.integer]],
    matrices: Sequence[Array],
    links: Sequence[Link],
    factors: Sequence[Array],
    sizes: Sequence[int],
) -> Array:
    """Pr(released record) of every row."""
    n = len(codes[0])
    waiting: dict[int, list[tuple[tuple[int, ...], Array]]] = {}
    out = np.ones(n)
    for place in range(len(links) - 1, -1, -1):
        link = links[place]
        table = np.broadcast_to(factors[place], (n, *factors[place].shape))
        for axis in link.own:
            table = table * _spread(matrices[axis][:, codes[axis]].T, (axis,), link.clique, sizes)
        for axes, message in waiting.pop(place, []):
            table = table * _spread(message, axes, link.clique, sizes)
        summed = table.sum(axis=tuple(1 + link.clique.index(axis) for axis in link.own))
        if link.parent is None:
            out = out * summed.reshape(n)
        else:
            waiting.setdefault(link.parent, []).append((link.shared, summed))
    return out


def _spread(values: Array, axes: Sequence[int], clique: Sequence[int], sizes: Sequence[int]) -> Array:
    """Rows of a table over some of the clique's attributes, ready to multiply the clique's."""
    return values.reshape(len(values), *(sizes[axis] if axis in axes else 1 for axis in clique))
