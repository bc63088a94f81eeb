"""A decision tree as JSON: how to tell one attribute from the others, with limits at every leaf."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.evidence import Evidence
from sfumato.evidence.critical import wider_level
from sfumato.learn.tree import DecisionTree
from sfumato.learn.tree.grow import Node
from sfumato.learn.tree.intervals import set_intervals
from sfumato.service.json_values import text, texts
from sfumato.service.models.numbers import limited, moved

#: A tree that can be read: its leaves and its questions in a row.
LEAVES, DEPTH = 40, 3


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
        "root": _node(found, found.root_, [], _Shares(found, source, level, total)),
    }


class _Shares:
    """The share of all records that a node holds, with its limits, and what false answers could do to its classes."""

    def __init__(self, found: DecisionTree, source: Evidence, level: float, total: float) -> None:
        from scipy.special import ndtri

        self._found, self._source, self._total = found, source, total
        self._z = float(ndtri((1 + level) / 2))

    def of(self, node: Node) -> dict[str, float | None]:
        share = float(node.counts.sum()) / self._total
        if not node.path:
            return limited(share, share, share)
        covariance = self._found.evidence_.region(self._fixed(node), self._found.target_)
        reach = self._z * float(np.sqrt(max(float(covariance.sum()), 0.0))) / self._total
        return limited(share, max(share - reach, 0.0), min(share + reach, 1.0))

    def false(self, node: Node) -> list[dict[str, float | None]]:
        return [moved(self._source, {self._found.target_: code}, self._fixed(node)) for code in range(len(node.counts))]

    def _fixed(self, node: Node) -> dict[str, int]:
        return {self._found.features_[axis]: code for axis, code in node.path}


def _node(found: DecisionTree, node: Node, values: list[str | None], shares: _Shares) -> dict[str, Any]:
    leaf = node.attribute is None
    low, high = (node.low, node.high) if leaf else (None, None)
    classes = [] if low is None or high is None else list(map(limited, node.probabilities, low, high))
    name = None if node.attribute is None else found.features_[node.attribute]
    labels = [] if name is None else found.schema_[name].labels
    return {
        "values": values,
        "share": shares.of(node),
        "question": name,
        "classes": classes,
        "false": shares.false(node) if leaf else [],
        "children": [
            _node(found, child, [text(label)], shares) for label, child in zip(labels, node.children, strict=True)
        ],
    }
