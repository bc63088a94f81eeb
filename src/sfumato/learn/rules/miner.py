"""Association rules: frequent item sets and the rules they make, every number with its interval."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import EstimationError, UnrecoverableWarning, warn
from sfumato.evidence.kinds import as_evidence, told_together
from sfumato.evidence.protocol import Evidence
from sfumato.input_checks import check_progress
from sfumato.learn.arguments import check_number
from sfumato.learn.base import Parameters
from sfumato.learn.rules.apriori import Itemset, levels
from sfumato.learn.rules.items import Universe, universe
from sfumato.learn.rules.limits import DRAWN, Nested, quantile, widened
from sfumato.learn.rules.measures import FrequentSet, Rule, make_rules
from sfumato.learn.rules.plot import draw
from sfumato.learn.rules.requirements import no_rules, no_sets
from sfumato.learn.rules.shrink import TableSupports, joint_model, shrink
from sfumato.learn.rules.supports import CountedSupports, Supports, supports_of
from sfumato.pages.display import MOST
from sfumato.threads import one_thread
from sfumato.writing.data_frames import BACKENDS, as_frame

BY = ("lower", "estimate", "upper")
Progress = Callable[[int], None]
Known = tuple[float, float, float]  # the unbiased support, its standard deviation, and the support drawn to the model


class AssociationRules(Parameters):
    """Apriori over randomized transactions, item groups or categorical tables.

    ``by`` says what must reach ``min_support`` and ``min_confidence``: the "lower" limit (the default: what is reported
    is supported by the data), the point "estimate", or the "upper" limit (few frequent sets are missed, many false ones
    are shown). Lower limits allow for how many sets were looked at: on average at most 1 - ``level`` of the reported
    sets have a smaller support than asked for, and at most 1 - ``level`` of the rules a smaller confidence. One list
    may hold false ones. No set is given a support, or a limit, above that of its subsets.

    ``shrink`` draws noisy supports towards the joint model ("auto": where there is noise and the joint table is small
    enough). ``items`` and ``exclusive``: see ``universe``.

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
        by: str = "lower",
        max_items: int | None = None,
        level: float = 0.95,
        shrink: bool | str = "auto",
        items: str = "auto",
        exclusive: Any = "auto",
    ) -> None:
        self.min_support = min_support
        self.min_confidence = min_confidence
        self.by = by
        self.max_items = max_items
        self.level = level
        self.shrink = shrink
        self.items = items
        self.exclusive = exclusive

    itemsets_: list[FrequentSet]
    looked_at_: int  # how many sets were counted
    shortfall_: str | None  # where nothing was found: why, and what it would take
    n_: int

    @one_thread()
    def fit(self, source: Any, target: Any = None, progress: Progress | None = None) -> Self:
        """Mine a release or evidence; ``target``, where given, keeps only rules that conclude an item of it.

        ``progress`` is called with the number of sets, later of rules, that were looked at since the last call.
        """
        self._check()
        found = as_evidence(source)
        check_progress(EstimationError, progress)
        found = told_together(found, found.names)
        everything = universe(found.schema, self.items, self.exclusive)
        if isinstance(target, str) and target not in {item.attribute for item in everything.items}:
            raise EstimationError(
                f"the target {target!r} is not in the release; it has {', '.join(found.schema.names)}"
            )
        supports = supports_of(found, everything)
        self.n_ = supports.n
        model = self._model(found, everything, supports)
        counted = None if found.exact or found.method == "moment" else CountedSupports(found)
        known: dict[Itemset, Known] = {}
        shown: dict[Itemset, Array] = {}  # support, low, high: monotone, each at its own level
        self.looked_at_ = 0

        def keep(level: Sequence[Itemset]) -> Iterable[Itemset]:
            self.looked_at_ += len(level)
            numbers = self._estimate(level, supports, model, counted, progress)
            for items, own, least in zip(level, numbers, _below(level, shown), strict=True):
                known[items] = (float(own[0]), float(own[1]), float(own[2]))
                limits = np.minimum(_limits(own[None, :], quantile(self.level))[0], least)
                if limits[_COLUMN[self.by]] >= self.min_support - 1e-12:
                    shown[items] = limits
                    yield items

        order = levels(everything, keep, self.max_items)
        sets = self._report(order, known)
        kept = [items for items in order if items in sets]
        self.itemsets_ = list(sets.values())
        if self.by == "lower":
            self.itemsets_.sort(key=lambda one: (-one.low, -one.support, len(one.items)))
        self._found = (kept, sets, supports, target if isinstance(target, str) else None, progress, found)
        self.__dict__.pop("rules_", None)
        self.shortfall_ = None
        size = 2 if kept else 1
        # a level of too many sets is not begun, which was said already
        begun = any(len(items) == size for items in known) or len({items[0].attribute for items in kept}) < 2
        if begun and not any(len(items) == size for items in kept) and size <= (self.max_items or size):
            self._fall_short(no_sets(found, supports, known, size, self.min_support, self.level))
        return self

    @property
    def claim(self) -> str:
        """What may be expected of the reported sets and rules, in one sentence."""
        if self.by != "lower":
            return f"chosen by their {self.by}: there is no limit on how many of them are false"
        most = f"at most {1 - self.level:.2g}"
        return (
            f"on average {most} of the reported sets have a support below {self.min_support:g}, and {most} of the "
            f"rules a confidence below {self.min_confidence:g}; one list may hold false ones"
        )

    @cached_property
    def rules_(self) -> list[Rule]:
        """The rules of the frequent sets, first those whose confidence is sure to be highest; made when asked for."""
        self._check_fitted()
        kept, sets, supports, target, progress, source = self._found
        candidates = make_rules(kept, sets, supports, target, progress)
        out = candidates.report(self.by, self.min_confidence, self.level)
        if not out and len(candidates):
            self._fall_short(no_rules(source, candidates, self.min_confidence, self.level))
        return out

    def _report(self, order: Sequence[Itemset], known: dict[Itemset, Known]) -> dict[Itemset, FrequentSet]:
        """The frequent sets with their limits, none above its subsets'."""
        numbers = np.array([known[items] for items in order]).reshape(-1, 3)
        nested = Nested(order)
        z = quantile(self.level)
        if self.by == "lower":

            def passing(at: float) -> int:
                low = nested.monotone(numbers[:, 0] - at * numbers[:, 1])
                return int((low >= self.min_support - 1e-12).sum())

            z = widened(self.level, self.looked_at_, passing)
        support, low, high = (nested.monotone(column) for column in _limits(numbers, z).T)
        value = {"lower": low, "estimate": support, "upper": high}[self.by]
        return {
            items: FrequentSet(
                tuple(item.label for item in items),
                float(support[i]), float(low[i]), float(high[i]), float(numbers[i, 0]), float(numbers[i, 1]),
            )
            for i, items in enumerate(order)
            if value[i] >= self.min_support - 1e-12
        }  # fmt: skip

    def _fall_short(self, line: str) -> None:
        self.shortfall_ = line
        warn(line, UnrecoverableWarning, stacklevel=4)

    def _model(self, found: Evidence, everything: Universe, supports: Supports) -> TableSupports | None:
        """What noisy supports are drawn to: the joint model, unless the evidence has possible counts of its own."""
        if self.shrink is False or found.exact or found.method != "moment":
            return None
        model = joint_model(found, everything, supports)
        if model is None and self.shrink is True:
            raise EstimationError("shrink=True needs a joint model, and the joint table of these items is too large")
        return model

    def _estimate(
        self,
        level: Sequence[Itemset],
        supports: Supports,
        model: TableSupports | None,
        counted: CountedSupports | None,
        progress: Progress | None,
    ) -> Array:
        """The unbiased support of every set, its standard deviation, and the support to report.

        That is what the evidence says, where it does not leave counts unbiased; else it is drawn towards the model.
        """
        pairs = []
        for items in level:
            pairs.append(supports.estimate(items))
            if progress is not None:
                progress(1)
        unbiased, variance = np.array(pairs).T
        drawn = unbiased
        if model is not None:
            drawn = shrink(unbiased, variance, np.array([model.support(items) for items in level]))
        elif counted is not None:
            drawn = np.array([counted.support(items) for items in level])
        return np.stack([unbiased, np.sqrt(variance), drawn], axis=1)

    def frame(self, what: str = "rules", backend: str = "pyarrow") -> Any:
        """The rules or the item sets as a table: ``frame()``, ``frame("itemsets", "pandas")``, ``frame("polars")``."""
        import pyarrow as pa

        what, backend = ("rules", what) if what in BACKENDS else (what, backend)
        if what not in ("rules", "itemsets"):
            raise EstimationError(f"what must be rules or itemsets, got {what!r} instead")
        self._check_fitted()
        found: Sequence[Rule | FrequentSet] = self.rules_ if what == "rules" else self.itemsets_
        columns = {}
        for field in fields(Rule if what == "rules" else FrequentSet):
            own = [getattr(entry, field.name) for entry in found]
            words = field.type == "tuple[str, ...]"
            columns[field.name] = pa.array(map(" + ".join, own), pa.string()) if words else pa.array(own, pa.float64())
        return as_frame(pa.table(columns), backend)

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

    def plot(self, path: str | Path | None = None, most: int = 20, rules: Sequence[Rule] | None = None) -> Any:
        """The first rules, of all or of these, with the intervals of their confidence."""
        return draw(self.rules_ if rules is None else rules, path, most, self.level, self.n_)

    def _check_fitted(self) -> None:
        if not hasattr(self, "_found"):
            raise EstimationError("these AssociationRules are not fitted yet: call fit(evidence) first")

    def _check(self) -> None:
        for name in ("min_support", "min_confidence", "level"):
            check_number(name, getattr(self, name), above=0, below=1)
        if self.max_items is not None:
            check_number("max_items", self.max_items, least=1)
        for name, value, allowed in (("by", self.by, BY), ("shrink", self.shrink, ("auto", True, False))):
            if value not in allowed:
                raise EstimationError(f"{name} must be one of {', '.join(map(str, allowed))}, got {value!r} instead")


_COLUMN = {"estimate": 0, "lower": 1, "upper": 2}


def _limits(numbers: Array, z: float) -> Array:
    """Support, low and high of each set; the model draws a support at most half the way to its limit."""
    unbiased, sd, drawn = numbers.T
    low, high = np.clip(unbiased - z * sd, 0, 1), np.clip(unbiased + z * sd, 0, 1)
    near = np.clip(drawn, unbiased - DRAWN * z * sd, unbiased + DRAWN * z * sd)
    return np.stack([np.clip(near, 0, 1), low, high], axis=1)


def _below(level: Sequence[Itemset], shown: dict[Itemset, Array]) -> Iterable[Array]:
    """The least numbers of the subsets of each set that lack one item."""
    for items in level:
        subsets = [shown[items[:i] + items[i + 1 :]] for i in range(len(items))] if len(items) > 1 else []
        yield np.min(subsets, axis=0) if subsets else np.ones(3)
