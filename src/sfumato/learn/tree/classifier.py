"""The decision tree as a classifier."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from math import prod
from pathlib import Path as File
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array, Codes
from sfumato.errors import EstimationError
from sfumato.evidence import Evidence
from sfumato.evidence.kinds import model_about
from sfumato.evidence.limits import check_level
from sfumato.input_checks import check_flags, check_word
from sfumato.learn.arguments import check_number
from sfumato.learn.base import Classifier, refuse_one_class
from sfumato.learn.tree.grow import CRITERIA, CountSource, Node, Rules, grow, prune, same_answer
from sfumato.learn.tree.intervals import branch_limits, set_intervals
from sfumato.learn.tree.plot import draw, least_share, text
from sfumato.learn.tree.sources import PathSource, TableSource
from sfumato.printable import label_text

COUNTS = ("model", "direct", "paper")
TABLE_CELLS = 1 << 20


class DecisionTree(Classifier):
    r"""ID3 on any evidence.

    ``counts`` says what a node is judged by: "model" (the joint model of the release, the default), "direct" (an
    unbiased estimate per path, growth stopped by its noise) or "paper" (unbiased counts, grown to the end as Ma 2006
    section 7.2 does). Exact evidence is counted as it is: then this is plain ID3.

    >>> import sfumato as sf
    >>> from sfumato import datasets
    >>> table = datasets.load("lenses")
    >>> values = {name: sorted(set(table[name].to_pylist())) for name in table.column_names}
    >>> schema = sf.Schema({name: sf.Categorical(tuple(held)) for name, held in values.items()})
    >>> tree = DecisionTree().fit(sf.evidence(table, schema), target="lenses")
    >>> tree.score(table), len(tree.root_.leaves)
    (1.0, 9)
    """

    def __init__(
        self,
        criterion: str = "entropy",
        counts: str = "model",
        max_leaves: int | None = 1000,
        max_depth: int | None = None,
        min_gain: float = 0.0,
        min_effective: float = 20.0,
        alpha: float = 0.001,
        prune: bool = True,
        target: str | None = None,
    ) -> None:
        self.criterion = criterion
        self.counts = counts
        self.max_leaves = max_leaves
        self.max_depth = max_depth
        self.min_gain = min_gain
        self.min_effective = min_effective
        self.alpha = alpha
        self.prune = prune
        self.target = target

    root_: Node
    evidence_: Evidence

    def _learn(self, source: Evidence) -> None:
        self._check_parameters()
        check_flags(EstimationError, prune=self.prune)
        asked, found = self._source(source)
        self.evidence_ = asked
        refuse_one_class(found.root(), self.target_, self.schema_[self.target_].labels)
        budget = None if asked.exact or self.counts == "paper" else self.max_leaves
        # As listed, ID3 goes on until a node is pure or nothing is left to ask: a gain of zero does not stop it.
        least = -1.0 if self.counts == "paper" and self.min_gain <= 0 else max(self.min_gain, 1e-12)
        rules = Rules(self.criterion, budget, self.max_depth, least)
        self.root_ = grow(found, range(len(self.features_)), rules)
        if self.prune and self.counts != "paper" and not asked.exact:
            prune(self.root_, same_answer)

    def _source(self, source: Evidence) -> tuple[Evidence, CountSource]:
        names = [*self.features_, self.target_]
        if source.smoothed or (self.counts == "model" and not source.exact):
            model = model_about(source, self.target_)
            if not model.listable(names):
                return model, PathSource(model, self.features_, self.target_)
            shares = model.shares(names).reshape(self.schema_.sizes(names))
            return model, TableSource(shares * model.n, stop_when_settled=True)
        if prod(self.schema_.sizes(names)) <= TABLE_CELLS and (source.exact or self.counts == "paper"):
            return source, TableSource(source.counts(names, quiet=True).table, stop_when_settled=False)
        if source.exact or self.counts != "direct":
            return source, PathSource(source, self.features_, self.target_)
        return source, PathSource(source, self.features_, self.target_, self.min_effective, self.alpha)

    def _proba(self, codes: Mapping[str, Codes]) -> Array:
        rows = len(next(iter(codes.values())))
        out = np.empty((rows, len(self.classes_)))
        columns = [np.asarray(codes[name]) for name in self.features_]
        todo: list[tuple[Node, NDArray[np.int64]]] = [(self.root_, np.arange(rows))]
        while todo:
            node, here = todo.pop()
            if node.attribute is None:
                out[here] = node.probabilities
                continue
            values = columns[node.attribute][here]
            todo += [(child, here[values == code]) for code, child in enumerate(node.children)]
        return out

    @property
    def used_features(self) -> tuple[str, ...]:
        used = {axis for leaf in self.root_.leaves for axis, _ in leaf.path}
        return tuple(self.features_[axis] for axis in sorted(used))

    @property
    def leaves_(self) -> list[Node]:
        """The leaves, each with limits for its class probabilities."""
        self._check_fitted()
        set_intervals(self)
        return self.root_.leaves

    def branch_labels(self, node: Node) -> list[str]:
        """The values of the attribute that a node asks about."""
        return [label_text(label) for label in self.schema_[self.features_[node.attribute or 0]].labels]

    def in_order(self, node: Node) -> int:
        """How many of the values that a node asks about have an order; no answer comes after them."""
        domain = self.schema_[self.features_[node.attribute or 0]]
        return domain.size - domain.nullable if domain.ordered else 0

    def text(
        self,
        depth: int | None = None,
        least: float = 0.0,
        width: int | None = None,
        level: float | None = None,
    ) -> str:
        """The tree in words, a line per node, all of it unless told.

        ``depth`` is how many levels to show, ``least`` the share of records below which branches are taken together,
        ``width`` the most characters of the values of a branch, ``level`` that of intervals of the shares, if any.
        """
        self._check_fitted()
        for name, value in (("depth", depth), ("least", least), ("width", width)):
            if value is not None:
                check_number(name, value, least=0)
        if level is not None:
            check_level(level)
        return text(self, depth, least, width, None if level is None else branch_limits(self, level))

    def _repr_html_(self) -> str:
        tree = f"<pre>{escape(self.text(3, least_share(self, 3), 100))}</pre>" if self.fitted_ else ""
        return super()._repr_html_() + tree

    def plot(self, path: str | File | None = None, depth: int = 3) -> Any:
        """The top of the tree as a picture."""
        self._check_fitted()
        return draw(self, path, depth, branch_limits(self, 0.95))

    def _check_parameters(self) -> None:
        for name, value, allowed in (("criterion", self.criterion, CRITERIA), ("counts", self.counts, COUNTS)):
            check_word(EstimationError, name, value, allowed)
        for name, least in (("max_leaves", 1), ("max_depth", 0)):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), least=least)
        for name in ("min_gain", "min_effective", "alpha"):
            check_number(name, getattr(self, name), least=0)
