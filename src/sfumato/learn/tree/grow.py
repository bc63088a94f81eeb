"""Growing a tree, best node first, from any source of node tables.

    gain(node, A) = impurity(node) - Σ_k (n_k / n) impurity(child k)

with the entropy, the Gini index, or the gain over the entropy of the split itself (gain ratio; Quinlan 1993). Estimated
counts may be negative: they are clipped at zero before an impurity is taken (the paper takes logarithms of them).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.evidence import Evidence
from sfumato.schema import Schema

Path = tuple[tuple[int, int], ...]  # (attribute, code) from the root down
CRITERIA = ("entropy", "gain_ratio", "gini")


@dataclass(eq=False)
class Node:
    """A node: the class counts that reach it, and the attribute that splits it if it is not a leaf."""

    path: Path
    counts: Array
    attribute: int | None = None
    children: list[Node] = field(default_factory=list)
    gain: float = 0.0
    low: Array | None = None  # limits of the class probabilities, for leaves
    high: Array | None = None

    @property
    def probabilities(self) -> Array:
        total = float(self.counts.sum())
        return self.counts / total if total > 0 else np.full(len(self.counts), 1 / len(self.counts))

    @property
    def leaves(self) -> list[Node]:
        """The leaves below, left to right."""
        return [self] if self.attribute is None else [leaf for child in self.children for leaf in child.leaves]

    @property
    def depth(self) -> int:
        """How many questions lead to the deepest leaf."""
        return 0 if self.attribute is None else 1 + max(child.depth for child in self.children)


class ShownTree(Protocol):
    """A tree that has been grown, as those see it who put it in words or draw it."""

    target_: str
    features_: tuple[str, ...]
    classes_: NDArray[Any]

    @property
    def root_(self) -> Node: ...

    def branch_labels(self, node: Node) -> Sequence[str]:
        """What leads to each child of a node."""
        ...

    def in_order(self, node: Node) -> int:
        """How many children of a node, from the first, follow each other in an order."""
        ...


class GrownTree(ShownTree, Protocol):
    """The same with the evidence that its leaves get their limits from."""

    schema_: Schema
    evidence_: Evidence


class CountSource(Protocol):
    """Where the class tables of nodes come from."""

    def root(self) -> Array:
        """The class counts of all records."""
        ...

    def splits(self, paths: Sequence[Path], attributes: Sequence[int]) -> list[Array]:
        """For every attribute, the class counts of its values among the records of each of some siblings."""
        ...

    def worth(self, path: Path, counts: Array) -> bool:
        """Whether the node holds enough to be split at all."""
        ...

    def trusted(self, path: Path, attribute: int) -> bool:
        """Whether the best split's gain exceeds its own noise."""
        ...


def impurity(table: Array, criterion: str) -> Array:
    """The impurity of each row of class counts.

    >>> impurity(np.array([[1.0, 1.0], [4.0, 0.0]]), "entropy")
    array([1., 0.])
    """
    clipped = np.maximum(table, 0.0)
    share = clipped / np.maximum(clipped.sum(axis=-1, keepdims=True), 1e-300)
    if criterion == "gini":
        return np.asarray(1.0 - (share**2).sum(axis=-1))
    logs = np.log2(share, out=np.zeros_like(share), where=share > 0)
    return np.asarray(-(share * logs).sum(axis=-1) + 0.0)


def gain(table: Array, criterion: str) -> Array:
    """What a split is worth, per record of its node; of several tables, along the first axes, each.

    >>> gain(np.array([[[2.0, 0.0], [0.0, 2.0]], [[1.0, 1.0], [1.0, 1.0]]]), "entropy")
    array([1., 0.])
    """
    clipped = np.maximum(table, 0.0)
    sizes = clipped.sum(axis=-1)
    shares = sizes / np.maximum(sizes.sum(axis=-1, keepdims=True), 1e-300)
    saved = impurity(clipped.sum(axis=-2), criterion) - (shares * impurity(clipped, criterion)).sum(axis=-1)
    if criterion != "gain_ratio":
        return np.asarray(saved)
    spread = impurity(sizes, "entropy")
    return np.asarray(np.where(spread > 1e-12, saved / np.maximum(spread, 1e-12), 0.0))


@dataclass(frozen=True)
class Rules:
    """When to stop."""

    criterion: str = "entropy"
    max_leaves: int | None = None
    max_depth: int | None = None
    min_gain: float = 1e-12


def grow(source: CountSource, attributes: Sequence[int], rules: Rules) -> Node:
    """The tree: the node whose split gains most over all records is split next, until a rule says stop."""
    root = Node((), source.root())
    tie = count()
    open_nodes: list[tuple[float, int, Node, int, Array]] = []
    leaves = 1

    def consider(siblings: list[Node]) -> None:
        for node, attribute, saved, table in _best(source, siblings, attributes, rules):
            heapq.heappush(open_nodes, (-saved * float(node.counts.sum()), next(tie), node, attribute, table))

    consider([root])
    while open_nodes:
        weighted, _, node, attribute, table = heapq.heappop(open_nodes)
        if rules.max_leaves is not None and leaves + len(table) - 1 > rules.max_leaves:
            continue
        node.attribute = attribute
        node.gain = -weighted / max(float(node.counts.sum()), 1e-300)
        for code, counts in enumerate(np.maximum(table, 0.0)):
            # An empty branch takes the majority of its parent (step 6c of the paper's ID3).
            empty = counts.sum() <= 0
            child = Node((*node.path, (attribute, code)), node.counts * 1e-12 if empty else counts)
            node.children.append(child)
        consider(
            [child for child, counts in zip(node.children, table, strict=True) if np.maximum(counts, 0.0).sum() > 0]
        )
        leaves += len(table) - 1
    return root


def _best(
    source: CountSource, siblings: Sequence[Node], attributes: Sequence[int], rules: Rules
) -> Iterator[tuple[Node, int, float, Array]]:
    """Of those of some siblings that are split: the attribute that gains most, its gain and its table."""
    if not siblings:
        return
    path = siblings[0].path
    used = {attribute for attribute, _ in path}
    left = [attribute for attribute in attributes if attribute not in used]
    if not left or (rules.max_depth is not None and len(path) >= rules.max_depth):
        return
    mixed = [node for node in siblings if int((node.counts > 1e-9 * node.counts.sum()).sum()) >= 2]
    asked = [node for node in mixed if source.worth(node.path, node.counts)]
    if not asked:
        return
    tables = source.splits([node.path for node in asked], left)
    gains = np.stack([gain(table, rules.criterion) for table in tables])
    for place, node in enumerate(asked):
        best = max(range(len(left)), key=lambda i: (round(float(gains[i, place]), 12), -i))
        saved = float(gains[best, place])
        if saved > rules.min_gain and source.trusted(node.path, left[best]):
            yield node, left[best], saved, tables[best][place]


def prune(node: Node, loses_nothing: Callable[[Node], bool]) -> None:
    """Cut subtrees, from below, that the test says nothing is lost by."""
    if node.attribute is None:
        return
    for child in node.children:
        prune(child, loses_nothing)
    if all(child.attribute is None for child in node.children) and loses_nothing(node):
        node.attribute, node.children = None, []


def same_answer(node: Node) -> bool:
    """Whether all leaves below say the same class as the node itself."""
    own = int(node.counts.argmax())
    return all(int(leaf.counts.argmax()) == own for leaf in node.leaves)
