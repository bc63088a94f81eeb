"""What ``AssociationRules`` reports by lower limits, held against the clean table: what is false, and what is found.

    python -m benchmarks.rules_claims [--releases 20] [fair ...]

Every attribute is randomized under the same gamma. A set is false when its support in the clean table is below the one
asked for, a rule when its confidence is. The claim: on average over releases at most 5 % of the reported sets are
false, and at most 5 % of the reported rules. A list may hold false ones; how often it does is shown beside. Nothing in
the package was chosen on these tables.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

import sfumato as sf
from sfumato.learn import AssociationRules

from .public_tables import table

TABLES = ("fair", "randhie", "anes96", "digits", "breast_cancer", "modechoice")
GAMMAS = (2.0, 3.0, 10.0)
SUPPORT, CONFIDENCE = 0.05, 0.5


class Clean:
    """The supports of the clean table."""

    def __init__(self, rows: Any, schema: sf.Schema) -> None:
        self._held = {
            f"{name}={label}": np.array([value == label for value in rows.column(name).to_pylist()])
            for name in schema
            for label in schema[name].labels
        }
        self._known: dict[frozenset[str], float] = {}
        found = AssociationRules(SUPPORT, CONFIDENCE, by="estimate").fit(sf.evidence(rows, schema))
        self.sets = {frozenset(one.items) for one in found.itemsets_}
        self.rules = {(frozenset(one.antecedent), frozenset(one.consequent)) for one in found.rules_}

    def support(self, items: Sequence[str]) -> float:
        key = frozenset(items)
        if key not in self._known:
            self._known[key] = float(np.logical_and.reduce([self._held[item] for item in key]).mean())
        return self._known[key]

    def confidence(self, rule: Any) -> float:
        return self.support((*rule.antecedent, *rule.consequent)) / max(self.support(rule.antecedent), 1e-12)


def one_release(name: str, gamma: float, seed: int, clean: Clean) -> list[float]:
    """Of sets, then of rules: how many, the share that is false, the share of the true ones found; top rule; order."""
    rows, schema, _ = table(name)
    release = sf.randomize(rows, sf.Scheme.for_gamma(schema, gamma=gamma), rng=seed)
    model = AssociationRules(SUPPORT, CONFIDENCE).fit(release)
    sets, rules = model.itemsets_, model.rules_
    false_sets = sum(clean.support(one.items) < SUPPORT - 1e-12 for one in sets)
    false_rules = sum(clean.confidence(one) < CONFIDENCE - 1e-12 for one in rules)
    shown = {one.items: one.support for one in sets}
    above = sum(
        shown[items] > shown[less] + 1e-12
        for items in shown
        for less in combinations(items, len(items) - 1)
        if less in shown
    )
    top = 1.0 if not rules else float(clean.confidence(rules[0]) >= CONFIDENCE - 1e-12)
    return [
        len(sets), false_sets / max(len(sets), 1), (len(sets) - false_sets) / max(len(clean.sets), 1), false_sets > 0,
        len(rules), false_rules / max(len(rules), 1), (len(rules) - false_rules) / max(len(clean.rules), 1),
        false_rules > 0, top, above, false_sets, false_rules,
    ]  # fmt: skip


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", default=TABLES)
    parser.add_argument("--releases", type=int, default=20)
    asked = parser.parse_args(words)
    began = time.process_time()
    print("| table, records | gamma | true sets, rules | sets: reported, false, found | with a false one | ", end="")
    print("rules: reported, false, found | with a false one | top rule false |\n|---|---|---|---|---|---|---|---|")
    whole, above = [], 0.0
    for name in asked.tables or TABLES:
        clean = Clean(*table(name)[:2])
        for gamma in GAMMAS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = np.array([one_release(name, gamma, seed, clean) for seed in range(asked.releases)])
            whole.append(found)
            above += found[:, 9].sum()
            m = found.mean(axis=0)
            print(
                f"| {name}, {len(table(name)[0]):,} | {gamma:g} | {len(clean.sets)}, {len(clean.rules)} | "
                f"{m[0]:.0f}, {m[1]:.4f}, {m[2]:.2f} | {found[:, 3].sum():.0f} of {len(found)} | "
                f"{m[4]:.0f}, {m[5]:.4f}, {m[6]:.2f} | {found[:, 7].sum():.0f} of {len(found)} | "
                f"{(1 - found[:, 8]).sum():.0f} of {len(found)} |",
                flush=True,
            )
    rows = np.concatenate(whole)
    total, mean = rows.sum(axis=0), rows.mean(axis=0)
    print(
        f"\nAll {len(rows)} releases: {total[10]:.0f} of {total[0]:.0f} sets false (mean share {mean[1]:.4f}), "
        f"{total[11]:.0f} of {total[4]:.0f} rules (mean share {mean[5]:.4f}); {above:.0f} sets above a subset. "
        f"{time.process_time() - began:.0f} s of processor time"
    )


if __name__ == "__main__":
    main()
