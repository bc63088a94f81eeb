"""Ma06 figures 7.4 and 7.5: frequent item sets of Mushroom and Adult found in randomized items, right and wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from sfumato.channels import Channel, binary, symmetric
from sfumato.datasets.discretized import ADULT, ADULT_GROUPS, MUSHROOM, MUSHROOM_GROUPS, adult, mushroom
from sfumato.evidence import evidence
from sfumato.learn.rules import AssociationRules
from sfumato.learn.rules.items import Item, one_hot, one_hot_table, universe
from sfumato.learn.rules.supports import supports_of
from sfumato.owner import randomize
from sfumato.papers.curves import Curve, legend, lines, measured, panels
from sfumato.papers.figure import Figure, Found, Row, Setting, beside, claimed, lost
from sfumato.randomness import experiment
from sfumato.release import Release
from sfumato.schema import Schema
from sfumato.scheme import Scheme

SUPPORT = 0.05
COPIES = 30
AS_LISTED, OURS = "the paper's algorithm, our run", "exclusive items told, pruned (ours)"
#: Sets of one size that are followed; a level with more of them is not begun.
MOST = 20_000
GRAPHS = ("sets found", "support error", "false positives", "false negatives")
Groups = tuple[tuple[str, ...], ...]


def item_scheme(schema: Schema, groups: Groups, p: float) -> Scheme:
    """Items grouped and randomized together, as section 7.1.2.1 does."""
    treated: dict[str | tuple[str, ...], Channel] = {
        group: symmetric((2,) * len(group), p) if len(group) > 1 else binary(p, p) for group in groups
    }
    return Scheme(one_hot(schema), treated)


def truth(rows: Any, schema: Schema) -> dict[frozenset[str], float]:
    """The frequent sets of the clean table."""
    found = AssociationRules(min_support=SUPPORT).fit(evidence(rows, schema))
    return {frozenset(one.items): one.support for one in found.itemsets_}


def as_listed(release: Release, most: int = MOST) -> tuple[dict[frozenset[str], float], int]:
    """The paper's algorithm: unbiased supports, candidates by copying siblings, without a look at other subsets.

    The sets found, and the largest size that was counted.
    """
    seen = evidence(release)
    items = universe(seen.schema, exclusive=None)
    supports = supports_of(seen, items)
    level: list[tuple[Item, ...]] = [(item,) for item in items.items]
    found: dict[frozenset[str], float] = {}
    size = 0
    while level and len(level) <= most:
        size += 1
        known = {one: supports.estimate(one)[0] for one in level}
        kept = [one for one in level if known[one] >= SUPPORT]
        found |= {frozenset(item.label for item in one): known[one] for one in kept}
        tails: dict[tuple[Item, ...], list[Item]] = {}
        for one in kept:
            tails.setdefault(one[:-1], []).append(one[-1])
        level = [(*head, a, b) for head, own in tails.items() for a, b in combinations(own, 2)]
    return found, size


def ours(release: Release) -> tuple[dict[frozenset[str], float], int]:
    """Our miner, told which items exclude each other, at the point estimate."""
    found = AssociationRules(SUPPORT, by="estimate", shrink=False).fit(release)
    return {frozenset(one.items): one.support for one in found.itemsets_}, max(
        len(one.items) for one in found.itemsets_
    )


WAYS = {AS_LISTED: as_listed, OURS: ours}


def runner(
    rows: Any, schema: Schema, groups: Groups, copies: int, ways: tuple[str, ...] = tuple(WAYS)
) -> Callable[[float, int], dict[str, float]]:
    """A function (p, seed) that gives the four graphs' numbers for each way."""
    import pyarrow as pa

    true = truth(rows, schema)
    items = pa.concat_tables([one_hot_table(rows, schema)] * copies).combine_chunks()

    def once(p: float, seed: int) -> dict[str, float]:
        release = randomize(items, item_scheme(schema, groups, p), rng=experiment(10 * seed + 1))
        out: dict[str, float] = {}
        for way in ways:
            said, size = WAYS[way](release)
            both = [abs(support - true[key]) / true[key] for key, support in said.items() if key in true]
            numbers = (
                len(said),
                np.mean(both) if both else np.nan,
                len(said.keys() - true.keys()) / len(true),
                len(true.keys() - said.keys()) / len(true),
            )
            out |= {f"{way}: {graph}": float(number) for graph, number in zip(GRAPHS, numbers, strict=True)}
            out[f"{way}: largest size counted"] = float(size)
        return out

    return once


@cache
def _data(name: str) -> tuple[Any, Schema, Groups]:
    return (mushroom(), MUSHROOM, MUSHROOM_GROUPS) if name == "Mushroom" else (adult("train"), ADULT, ADULT_GROUPS)


def _measure(name: str, ps: tuple[float, ...], highest: str) -> Callable[[bool], Found]:
    def measure(fast: bool) -> Found:
        rows, schema, groups = _data(name)
        ways = (AS_LISTED,) if fast else tuple(WAYS)
        runs, chosen = (1, ps[:-1:2] + ps[-1:]) if fast else (3, ps)
        curves = measured(chosen, runs, runner(rows, schema, groups, COPIES, ways))
        by = {curve.label: curve for curve in curves}
        wrong = by[f"{AS_LISTED}: false positives"]
        right = by[f"{AS_LISTED}: false negatives"]
        low = [p for p in chosen if p < 0.4]
        reasonable = max(float(wrong.at(p).mean() + right.at(p).mean()) for p in low)
        found: list[Row] = [
            claimed(
                f"wrong sets at p up to {low[-1]:g}, a share of the frequent ones (reasonable below .4)",
                reasonable,
                reasonable < 0.5,
                "With our choice of attributes the errors are larger than the word allows.",
            ),
            claimed(
                "false positives minus false negatives at the highest p (they are the worst error)",
                wrong.values[-1] - right.values[-1],
                bool(wrong.mean[-1] > right.mean[-1]),
                "With our attributes more sets are missed: a large set is lost as soon as one of the sets it grows "
                "from is.",
            ),
            lost(
                "the drawn curves",
                "They are not printed as numbers; which attributes and how their values were "
                "combined is not said either.",
                float(len(truth(rows, schema))),
            ),
        ]
        if highest:
            found.append(lost("p = .5", highest))
        found += [beside(f"{curve.label}, p = {p:g}", curve.at(p)) for curve in curves for p in chosen]
        return Found(tuple(found), (curves, len(truth(rows, schema))), runs)

    return measure


def _draw(figure: Any, found: Found) -> None:
    curves, frequent = found.data
    places = panels(figure, 2, 2)
    for axes, graph in zip(places, GRAPHS, strict=True):
        lines(axes, [Curve(c.label.partition(":")[0], c.x, c.values) for c in curves if c.label.endswith(graph)])
        axes.set_title(graph if graph != "sets found" else f"sets found ({frequent} are frequent)", fontsize=8.5)
        axes.set_xlabel("p")
    places[0].set_ylim(bottom=0)
    legend(figure, places[0], 2)


def _settings(items: str, p: str, ours: str) -> tuple[Setting, ...]:
    return (
        Setting("records", f"{items}, the table repeated 30 times"),
        Setting("which attributes and values", "not printed", "ours, with the printed cardinalities"),
        Setting("support", ".05"),
        Setting("p", p, ours),
        Setting("data structure", "a trie (section 7.1.2.3)", "bit counts, which give the same supports (figure 7.1)"),
        Setting("largest level", "not said", f"at most {MOST} candidates of one size are counted"),
        Setting("runs", "not printed", "see below"),
    )


FIGURE7_4 = Figure(
    "ma06_fig7_4",
    "figure 7.4",
    "frequent item sets of Mushroom",
    "The results are reasonable for p below .4. With more randomization the worst error is that of false positives.",
    _measure(
        "Mushroom",
        (0.1, 0.2, 0.3, 0.4, 0.45, 0.49),
        "Seven groups hold one item. For them p = .5 gives the same answers with and without the item: the matrix "
        "has no inverse. We stop at .49.",
    ),
    _draw,
    _settings("23 items of 9 attributes in 13 groups", ".1 to .5", ".1 to .49"),
    size=(7.4, 5.2),
    heavy=True,
)
FIGURE7_5 = Figure(
    "ma06_fig7_5",
    "figure 7.5",
    "frequent item sets of Adult",
    "The results are reasonable for p below .4. With more randomization the worst error is that of false positives.",
    _measure("Adult", (0.1, 0.2, 0.3, 0.4, 0.45), ""),
    _draw,
    _settings("30 items of 11 attributes in 17 groups", ".1 to .45", ""),
    size=(7.4, 5.2),
    heavy=True,
)
