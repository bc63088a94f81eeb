"""Association rules: frequent item sets and the rules they make, every number with its interval."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, Self

import numpy as np

from sfumato.errors import EstimationError, SfumatoWarning
from sfumato.evidence.model import ModelEvidence
from sfumato.frames import BACKENDS, as_frame
from sfumato.learn.base import Parameters, as_evidence, check_number
from sfumato.learn.rules.apriori import Itemset, levels
from sfumato.learn.rules.items import Universe, universe
from sfumato.learn.rules.measures import Rule, make_rule
from sfumato.learn.rules.shrink import ModelSupports, joint_model, shrink
from sfumato.learn.rules.supports import ReleaseSupports
from sfumato.pages.display import MOST
from sfumato.threads import one_thread

#: The most ways of cutting frequent sets in two that are looked at.
SPLITS = 200_000
REPORT = ("point", "few_false_positives", "few_false_negatives")


@dataclass(frozen=True)
class FrequentSet:
    """An item set: its support, that support's interval, and the unbiased estimate with its standard deviation."""

    items: tuple[str, ...]
    support: float
    low: float
    high: float
    unbiased: float
    sd: float


class AssociationRules(Parameters):
    """Apriori over randomized transactions, item groups or categorical tables.

    ``report`` says which sets count as frequent: by the point estimate, with few false positives (the lower limit is
    frequent) or with few false negatives (the upper limit is). ``shrink`` draws noisy supports towards the joint model
    ("auto": where there is noise and the joint table is small enough). ``items`` and ``exclusive``: see ``universe``.

    >>> import sfumato as sf
    >>> from sfumato.learn.rules import read_baskets
    >>> table, schema = read_baskets([["a", "b"], ["a", "b"], ["a"], ["b", "c"]])
    >>> rules = AssociationRules(min_support=.5, min_confidence=.6).fit(sf.evidence(table, schema))
    >>> [(found.items, found.support) for found in rules.itemsets_]
    [(('a',), 0.75), (('b',), 0.75), (('a', 'b'), 0.5)]
    >>> print(rules.rules_[0])
    a => b  support 0.5, confidence 0.667, lift 0.889
    """

    def __init__(
        self,
        min_support: float = 0.05,
        min_confidence: float = 0.5,
        report: str = "point",
        max_items: int | None = None,
        level: float = 0.95,
        shrink: bool | str = "auto",
        items: str = "auto",
        exclusive: Any = "auto",
    ) -> None:
        self.min_support = min_support
        self.min_confidence = min_confidence
        self.report = report
        self.max_items = max_items
        self.level = level
        self.shrink = shrink
        self.items = items
        self.exclusive = exclusive

    itemsets_: list[FrequentSet]
    n_: int

    @one_thread()
    def fit(self, source: Any, target: Any = None) -> Self:
        """Mine a release or evidence; ``target``, where given, keeps only rules that conclude an item of it."""
        self._check()
        found = as_evidence(source)
        everything = universe(found.schema, self.items, self.exclusive)
        if isinstance(target, str) and target not in {item.attribute for item in everything.items}:
            raise EstimationError(
                f"the target {target!r} is not in the release; it has {', '.join(found.schema.names)}"
            )
        supports = ReleaseSupports(found.release, everything)
        self.n_ = supports.n
        model = self._model(found, everything, supports)
        sets: dict[Itemset, FrequentSet] = {}

        def keep(level: Sequence[Itemset]) -> Iterable[Itemset]:
            for items, estimated in zip(level, self._estimate(level, supports, model), strict=True):
                if self._frequent(estimated):
                    sets[items] = estimated
                    yield items

        order = levels(everything, keep, self.max_items)
        self.itemsets_ = [sets[items] for items in order]
        self._found = (order, sets, supports, target if isinstance(target, str) else None)
        self.__dict__.pop("rules_", None)
        return self

    @cached_property
    def rules_(self) -> list[Rule]:
        """The rules of the frequent sets, most confident first; made when first asked for."""
        if not hasattr(self, "_found"):
            raise EstimationError("these AssociationRules are not fitted yet: call fit(evidence) first")
        return self._rules(*self._found)

    def _model(self, found: Any, everything: Universe, supports: ReleaseSupports) -> ModelSupports | None:
        if self.shrink is False or found.exact:
            return None
        if isinstance(found, ModelEvidence) and not everything.presence:
            return ModelSupports(found, everything)
        model = joint_model(found.release, everything, supports)
        if model is None and self.shrink is True:
            raise EstimationError("shrink=True needs a joint model, and the joint table of these items is too large")
        return model

    def _estimate(
        self, level: Sequence[Itemset], supports: ReleaseSupports, model: ModelSupports | None
    ) -> list[FrequentSet]:
        from scipy.special import ndtri

        z = float(ndtri((1 + self.level) / 2))
        pairs = np.array([supports.estimate(items) for items in level])
        unbiased, sd = pairs[:, 0], np.sqrt(pairs[:, 1])
        low, high = np.clip(unbiased - z * sd, 0, 1), np.clip(unbiased + z * sd, 0, 1)
        best = unbiased
        if model is not None:
            expected = np.array([model.support(items) for items in level])
            # A set's own interval is the furthest that the model may draw it.
            best = np.clip(shrink(unbiased, pairs[:, 1], expected)[0], low, high)
        return [
            FrequentSet(tuple(item.label for item in items), *map(float, numbers))
            for items, *numbers in zip(level, best, low, high, unbiased, sd, strict=True)
        ]

    def _frequent(self, found: FrequentSet) -> bool:
        value = {"point": found.support, "few_false_positives": found.low, "few_false_negatives": found.high}
        return value[self.report] >= self.min_support - 1e-12

    def _rules(
        self,
        order: Sequence[Itemset],
        sets: dict[Itemset, FrequentSet],
        supports: ReleaseSupports,
        target: str | None,
    ) -> list[Rule]:
        out = []
        splits = 0
        for items in order:
            splits += 2 ** len(items) - 2
            if splits > SPLITS:
                warnings.warn(
                    f"the {len(order)} frequent sets make more than {SPLITS} rules: only those of sets of fewer than "
                    f"{len(items)} items, and of some of that size, are made; raise min_support or set max_items",
                    SfumatoWarning,
                    stacklevel=4,
                )
                break
            for size in range(1, len(items)):
                for left in combinations(items, size):
                    right = tuple(item for item in items if item not in left)
                    if target is not None and any(item.attribute != target for item in right):
                        continue
                    if sets[left].support <= 0 or right not in sets:
                        continue
                    if sets[items].support / sets[left].support >= self.min_confidence - 1e-12:
                        out.append(make_rule(items, left, right, sets, supports, self.level))
        return sorted(out, key=lambda rule: (-rule.confidence, -rule.support, rule.antecedent))

    def frame(self, what: str = "rules", backend: str = "pyarrow") -> Any:
        """The rules or the item sets as a table: ``frame()``, ``frame("itemsets", "pandas")``, ``frame("polars")``."""
        import pyarrow as pa

        what, backend = ("rules", what) if what in BACKENDS else (what, backend)
        if what not in ("rules", "itemsets"):
            raise EstimationError(f"what must be rules or itemsets, got {what!r} instead")
        rows: list[dict[str, Any]] = [
            {key: " + ".join(value) if isinstance(value, tuple) else value for key, value in vars(entry).items()}
            for entry in (self.rules_ if what == "rules" else self.itemsets_)
        ]
        table = pa.Table.from_pylist(rows)
        return as_frame(table, backend)

    def _shown(self) -> tuple[Sequence[str], Sequence[Sequence[Any]], int]:
        if not hasattr(self, "_found"):
            return ["not fitted"], [], 0
        heads = ["if", "then", "support", "confidence", "low", "high", "lift"]
        rows = [
            [" + ".join(rule.antecedent), " + ".join(rule.consequent), rule.support, rule.confidence,
             rule.confidence_low, rule.confidence_high, rule.lift]
            for rule in self.rules_[:MOST]
        ]  # fmt: skip
        return heads, rows, len(self.rules_) - len(rows)

    def plot(self, path: str | Path | None = None, most: int = 20) -> Any:
        """The first rules with the intervals of their confidence."""
        from sfumato.learn.rules.draw import draw

        return draw(self, path, most)

    def _check(self) -> None:
        for name in ("min_support", "min_confidence", "level"):
            check_number(name, getattr(self, name), above=0, below=1)
        if self.max_items is not None:
            check_number("max_items", self.max_items, least=1)
        for name, value, allowed in (("report", self.report, REPORT), ("shrink", self.shrink, ("auto", True, False))):
            if value not in allowed:
                raise EstimationError(f"{name} must be one of {', '.join(map(str, allowed))}, got {value!r} instead")
