"""Tree-augmented naive Bayes: every attribute may lean on one other besides the class (Friedman et al. 1997)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array, Codes
from sfumato.evidence import Evidence
from sfumato.evidence.kinds import model_about
from sfumato.evidence.spanning_tree import spanning_tree
from sfumato.learn.arguments import check_number
from sfumato.learn.base import Classifier, normalise, refuse_one_class, surely_held
from sfumato.learn.plot import bars
from sfumato.printable import label_text


class TAN(Classifier):
    r"""Pr(c | x) ∝ Pr(c) ∏_j Pr(x_j | c, x_parent(j)), parents a tree of greatest conditional mutual information.

        I(x_i; x_j | c) = Σ Pr(x_i, x_j, c) log [ Pr(x_i, x_j | c) / (Pr(x_i | c) Pr(x_j | c)) ]

    Triple tables come from the joint model of the release, or exactly from raw evidence.

    >>> import sfumato as sf
    >>> from sfumato.datasets import discretized
    >>> table, schema = discretized.wisconsin(), discretized.WISCONSIN
    >>> tan = TAN().fit(sf.evidence(table, schema), target="class")
    >>> tan.parents_["clump_thickness"], round(tan.score(table), 2)
    (None, 0.98)
    """

    def __init__(self, smoothing: float = 1.0, target: str | None = None) -> None:
        self.smoothing = smoothing
        self.target = target

    parents_: dict[str, str | None]
    tables_: dict[str, Array]  # values by the parent's values by class
    by_class_: dict[str, Array]  # values by class
    told_classes_: NDArray[np.bool_]  # which classes some records surely hold

    def _learn(self, source: Evidence) -> None:
        check_number("smoothing", self.smoothing, least=0)
        asked = source if source.exact else model_about(source, self.target_)
        prior = np.maximum(asked.counts([self.target_]).value, 0.0)
        refuse_one_class(prior, self.target_, self.schema_[self.target_].labels)
        self.class_prior_ = prior / prior.sum()
        self.told_classes_ = surely_held(source, self.target_)
        names = list(self.features_)
        pairs = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
        wanted = [[names[i], names[j], self.target_] for i, j in pairs]
        triples = dict(zip(pairs, self._tables(asked, wanted), strict=True))
        weights = {pair: conditional_information(table) for pair, table in triples.items()}
        links = spanning_tree(range(len(names)), lambda one, other: weights[min(one, other), max(one, other)])
        parent: dict[int, int] = {child: up for up, child in links}
        self.parents_ = {name: names[parent[i]] if i in parent else None for i, name in enumerate(names)}
        self.tables_, self.by_class_ = {}, {}
        for i, name in enumerate(names):
            up = parent.get(i)
            if up is None:
                table = self._tables(asked, [[name, self.target_]])[0][:, None, :]
            else:
                table = triples[(i, up)] if i < up else triples[(up, i)].transpose(1, 0, 2)
            # Rare combinations lean on the attribute's distribution by class.
            by_class = (table.sum(axis=1) + 1e-9) / (table.sum(axis=(0, 1)) + 1e-9 * len(table))
            self.by_class_[name] = by_class
            smooth = table + self.smoothing * by_class[:, None, :]
            self.tables_[name] = smooth / smooth.sum(axis=0, keepdims=True)

    def _tables(self, source: Evidence, wanted: list[list[str]]) -> list[Array]:
        """Counts without their errors, which a model of many attributes need not know."""
        if source.exact:
            return [np.maximum(one.table, 0.0) for one in source.counts_many(wanted)]
        return [(source.shares(names) * source.n).reshape(self.schema_.sizes(names)) for names in wanted]

    def plot(self, path: str | Path | None = None) -> Any:
        """Pr(value | class), a bar per class that surely some records hold; a row says what the value also leans on."""
        self._check_fitted()
        rows = [
            f"{name} = {label_text(label)}" + (f"  (with {self.parents_[name]})" if self.parents_[name] else "")
            for name in self.by_class_
            for label in self.schema_[name].labels
        ]
        told = self.told_classes_
        values = np.concatenate(list(self.by_class_.values()))[:, told]
        labels = [f"{self.target_} = {label_text(label)}" for label in self.classes_[told]]
        title = f"Shares of each value by {self.target_}"
        return bars(path, rows, values, labels, title, "share within the class", self.class_prior_[told])

    def _proba(self, codes: Mapping[str, Codes]) -> Array:
        rows = len(next(iter(codes.values())))
        logs = np.tile(np.log(np.maximum(self.class_prior_, 1e-300)), (rows, 1))
        for name, table in self.tables_.items():
            up = self.parents_[name]
            above = np.asarray(codes[up]) if up is not None else np.zeros(rows, dtype=np.int64)
            logs += np.log(np.maximum(table, 1e-300))[np.asarray(codes[name]), above]
        return normalise(logs)


def conditional_information(table: Array) -> float:
    """I(first; second | third) of a table of counts, in nats.

    >>> round(conditional_information(np.array([[[2.0], [0.0]], [[0.0], [2.0]]])), 3)
    0.693
    """
    joint = table / max(float(table.sum()), 1e-300)
    third = joint.sum(axis=(0, 1))
    expected = joint.sum(axis=1)[:, None, :] * joint.sum(axis=0)[None, :, :]
    ratio = np.divide(joint * third, expected, out=np.ones_like(joint), where=(joint > 0) & (expected > 0))
    return float((joint * np.log(ratio)).sum())
