"""What figures 7.4 and 7.5 of Ma (2006) measure: frequent item sets found in randomized items, right and wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sfumato.channels import Channel, binary, symmetric
from sfumato.evidence import evidence
from sfumato.learn.rules import AssociationRules
from sfumato.learn.rules.items import one_hot, one_hot_table
from sfumato.owner import randomize
from sfumato.papers.ma06_curves import Curve, curves, table
from sfumato.randomness import experiment
from sfumato.schema import Schema
from sfumato.scheme import Scheme

SUPPORT = 0.05
WAYS: dict[str, dict[str, Any]] = {
    "paper": {"exclusive": None, "shrink": False},
    "valid states": {"shrink": False},
    "shrunk": {"shrink": True},
}


def item_scheme(schema: Schema, groups: tuple[tuple[str, ...], ...], p: float) -> Scheme:
    """Items grouped and randomized together, as section 7.1.2.1 does."""
    treated: dict[str | tuple[str, ...], Channel] = {
        group: symmetric((2,) * len(group), p) if len(group) > 1 else binary(p, p) for group in groups
    }
    return Scheme(one_hot(schema), treated)


def truth(rows: Any, schema: Schema) -> dict[frozenset[str], float]:
    """The frequent sets of the clean table."""
    found = AssociationRules(min_support=SUPPORT).fit(evidence(rows, schema))
    return {frozenset(one.items): one.support for one in found.itemsets_}


def measure(
    rows: Any, schema: Schema, groups: tuple[tuple[str, ...], ...], ways: tuple[str, ...] = tuple(WAYS)
) -> Callable[[float, int], dict[str, float]]:
    """A function (p, seed) that gives the four graphs' numbers for each way."""
    true = truth(rows, schema)
    items = one_hot_table(rows, schema)

    def run(p: float, seed: int) -> dict[str, float]:
        release = randomize(items, item_scheme(schema, groups, p), rng=experiment(10 * seed + 1))
        out: dict[str, float] = {}
        for way in ways:
            # The plain way may find thousands of false sets at large p; six items are as deep as it is followed.
            most = 6 if way == "paper" else None
            found = AssociationRules(SUPPORT, by="estimate", max_items=most, **WAYS[way]).fit(release)
            said = {frozenset(one.items): one for one in found.itemsets_}
            both = [abs(one.support - true[key]) / true[key] for key, one in said.items() if key in true]
            reach = {key for key in true if way != "paper" or len(key) <= 6}
            out[f"{way}: sets found"] = float(len(said))
            out[f"{way}: support error"] = float(np.mean(both)) if both else float("nan")
            out[f"{way}: false positives"] = len(said.keys() - true.keys()) / len(reach)
            out[f"{way}: false negatives"] = len(reach - said.keys()) / len(reach)
        return out

    return run


def report_of(
    title: str, rows: Any, schema: Schema, groups: tuple[tuple[str, ...], ...], p: tuple[float, ...], runs: int
) -> tuple[str, list[Curve]]:
    """The four graphs in words, and their curves."""
    found = curves(p, runs, measure(rows, schema, groups))
    notes = (f"{len(truth(rows, schema))} sets are frequent in the clean table; {runs} runs",)
    return table(title, found, notes), found
