"""A decision tree as JSON: how to tell one attribute from the others, with limits at every leaf."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence import Evidence
from sfumato.evidence.critical import wider_level
from sfumato.learn.tree import DecisionTree
from sfumato.learn.tree.grow import Node
from sfumato.learn.tree.intervals import branch_limits, set_intervals
from sfumato.learn.tree.plot import Branch, branches
from sfumato.service.json_values import text, texts
from sfumato.service.models.numbers import limited, moved

#: A tree that can be read: its leaves and its questions in a row.
LEAVES, DEPTH = 40, 3
#: Said of a tree that may have ended there.
LARGEST = f"a tree of this size can be read: at most {DEPTH} questions in a row, and at most {LEAVES} leaves"
_UNTOLD = {"down": None, "up": None}


def tree(source: Evidence, asked: dict[str, Any]) -> dict[str, Any]:
    """The tree that tells ``target``."""
    found = DecisionTree(max_leaves=LEAVES, max_depth=DEPTH).fit(source, target=asked["target"])
    level = wider_level(asked["level"], source.n)
    set_intervals(found, level)
    total = max(float(found.root_.counts.sum()), 1e-300)
    return {
        "target": asked["target"],
        "classes": texts(found.classes_),
        "leaves": len(found.root_.leaves),
        "depth": found.root_.depth,
        "notes": [LARGEST] if found.root_.depth == DEPTH or len(found.root_.leaves) == LEAVES else [],
        "root": _node(found, Branch("", found.root_), [], _Shares(found, source, level, total)),
    }


class _Shares:
    """The share of all records that a node holds, with its limits, and what false answers could do to its classes."""

    def __init__(self, found: DecisionTree, source: Evidence, level: float, total: float) -> None:
        self._found, self._source, self._total = found, source, total
        self._told = branch_limits(found, level)

    def of(self, branch: Branch) -> dict[str, float | None]:
        share = float(branch.node.counts.sum()) / self._total
        if not branch.node.path:
            return limited(share, share, share)
        low, high = self._told.held(branch) or (0.0, 1.0)
        return limited(share, min(low, share), max(high, share))

    def limits(self, branch: Branch) -> tuple[Array, Array]:
        """The limits of the class shares of a leaf, or of leaves taken together: all that is possible if untold."""
        node = branch.node
        if len(branch.codes) < 2 and node.low is not None and node.high is not None:
            return node.low, node.high
        told = self._told.classes(branch)
        low, high = (np.zeros(len(node.counts)), np.ones(len(node.counts))) if told is None else told
        return np.clip(np.minimum(low, node.probabilities), 0, 1), np.clip(np.maximum(high, node.probabilities), 0, 1)

    def false(self, node: Node) -> list[dict[str, float | None]]:
        return [moved(self._source, {self._found.target_: code}, self._fixed(node)) for code in range(len(node.counts))]

    def _fixed(self, node: Node) -> dict[str, int]:
        return {self._found.features_[axis]: code for axis, code in node.path}


def _node(found: DecisionTree, branch: Branch, values: list[str | None], about: _Shares) -> dict[str, Any]:
    node = branch.node
    leaf, merged = node.attribute is None, len(branch.codes) > 1
    low, high = about.limits(branch) if leaf else (None, None)
    classes = [] if low is None or high is None else list(map(limited, node.probabilities, low, high))
    name = None if node.attribute is None else found.features_[node.attribute]
    labels = [] if name is None else found.schema_[name].labels
    below = branches(found, node) if name is not None else []
    return {
        "values": values,
        "share": about.of(branch),
        "question": name,
        "classes": classes,
        "false": [] if not leaf else [_UNTOLD for _ in classes] if merged else about.false(node),
        "children": [_node(found, one, [text(labels[code]) for code in one.codes], about) for one in below],
    }
