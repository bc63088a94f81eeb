"""Binary trees on ordered intervals: the best threshold by the Gini index, cut back by description length.

A subtree stays where it shortens the description of the classes (Mehta, Rissanen and Agrawal 1995): the classes of a
leaf of n records cost

    Σ_c n_c log2(n / n_c) + (k - 1)/2 log2(n / 2) + log2(π^{k/2} / Γ(k/2))  bits,

a question the choice of its attribute and of its threshold, and every node a bit that says whether it is a leaf.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.learn.tree.grow import Node

Places = NDArray[np.int64]
#: What gives the records of a node their intervals: its rows, their intervals so far, the attributes asked above.
Placing = Callable[[Places, Places, set[int]], Places]


@dataclass(eq=False)
class Threshold(Node):
    """A node that asks whether an attribute lies below ``at``; its first child takes those that do."""

    at: float = math.nan


@dataclass(frozen=True)
class Growing:
    """What all nodes of one tree share."""

    edges: Sequence[Array]
    classes: Places
    count: int  # of classes
    least: int  # records of a leaf
    deepest: int | None
    placing: Placing | None = None

    def grow(self, rows: Places, places: Places, asked: set[int], depth: int = 0) -> Threshold:
        """The tree of these records."""
        own = self.classes[rows]
        node = Threshold((), np.bincount(own, minlength=self.count).astype(np.float64))
        deep = self.deepest is not None and depth >= self.deepest
        if deep or len(rows) < 2 * self.least or int((node.counts > 0).sum()) < 2:
            return node
        if self.placing is not None:
            places = self.placing(rows, places, asked)
        found = self._best(places, own, node.counts)
        if found is None:
            return node
        node.gain, node.attribute, cut = found
        node.at = float(self.edges[node.attribute][cut])
        below = places[:, node.attribute] < cut
        for side in (below, ~below):
            node.children.append(self.grow(rows[side], places[side], asked | {node.attribute}, depth + 1))
        return node

    def _best(self, places: Places, own: Places, counts: Array) -> tuple[float, int, int] | None:
        """(gain, attribute, cut): the first ``cut`` intervals go to the left."""
        n = counts.sum()
        impurity = 1.0 - float(((counts / n) ** 2).sum())
        best: tuple[float, int, int] | None = None
        for j, edges in enumerate(self.edges):
            cells = edges.size - 1
            table = np.bincount(places[:, j] * self.count + own, minlength=cells * self.count)
            left = table.reshape(cells, self.count).cumsum(axis=0)[:-1].astype(np.float64)
            size = left.sum(axis=1)
            right = counts - left
            allowed = (size >= self.least) & (n - size >= self.least)
            if not allowed.any():
                continue
            with np.errstate(invalid="ignore", divide="ignore"):
                kept = (left**2).sum(axis=1) / size + (right**2).sum(axis=1) / (n - size)
            gain = np.where(allowed, impurity - (1.0 - kept / n), -1.0)
            cut = int(gain.argmax())
            if gain[cut] > 1e-12 and (best is None or gain[cut] > best[0]):
                best = (float(gain[cut]), j, cut + 1)
        return best


def leaf_bits(counts: Array) -> float:
    """What the classes of a leaf cost, in bits.

    >>> round(leaf_bits(np.array([50.0, 0.0])), 1), round(leaf_bits(np.array([25.0, 25.0])), 1)
    (4.0, 54.0)
    """
    n, k = float(counts.sum()), len(counts)
    held = counts[counts > 0]
    data = float((held * np.log2(n / held)).sum()) if held.size else 0.0
    shape = (math.log(math.pi) * k / 2 - math.lgamma(k / 2)) / math.log(2)
    return data + (k - 1) / 2 * math.log2(max(n / 2, 1.0)) + shape


def cut_back(node: Threshold, edges: Sequence[Array]) -> float:
    """Take away, from below, what costs more bits than it saves; the bits that are left."""
    alone = 1.0 + leaf_bits(node.counts)
    if node.attribute is None:
        return alone
    question = math.log2(len(edges)) + math.log2(max(edges[node.attribute].size - 2, 1))
    grown = 1.0 + question + sum(cut_back(child, edges) for child in node.children if isinstance(child, Threshold))
    if alone <= grown:
        node.attribute, node.children, node.gain = None, [], 0.0
        return alone
    return grown
