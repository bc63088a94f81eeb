"""Ma06 figures 7.1 and 7.2: candidates in a trie. Section 7.1.2.3 counts with it; bits count the same."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from sfumato.evidence import evidence
from sfumato.learn.rules import AssociationRules
from sfumato.pages.chart import ACCENT, SOFT, WARM
from sfumato.papers.figure import DIFFERS, Figure, Found, Row, Setting, claimed, printed
from sfumato.schema import Categorical, Schema

Set = tuple[int, ...]
PAIRS: list[Set] = [(1, 2), (1, 4), (2, 3), (2, 4), (2, 5), (4, 5)]
TRIPLES: list[Set] = [(1, 2, 4), (2, 3, 4), (2, 3, 5), (2, 4, 5)]
LEFT: list[Set] = [(2, 3, 4), (2, 3, 5)]
WHY = (
    "The text asks that every subset of a candidate be frequent, but copying siblings does not look at subsets. "
    "{I2, I3, I4} and {I2, I3, I5} contain pairs that were found not frequent. We drop such candidates."
)


def siblings(frequent: list[Set]) -> list[Set]:
    """The trie's step: a node gets its later siblings as children, which joins sets that share all but the last."""
    return [(*a, b[-1]) for a in frequent for b in frequent if a[:-1] == b[:-1] and a[-1] < b[-1]]


def pruned(candidates: list[Set], frequent: list[Set]) -> list[Set]:
    """Candidates all of whose subsets are frequent."""
    return [one for one in candidates if all(part in frequent for part in combinations(one, len(one) - 1))]


def last_index(size: int, k: int, depth: int) -> int:
    """Links with an index below this are followed from a node at ``depth``: |t| - k + d + 1."""
    return size - k + depth + 1


def trie_counts(transactions: list[Set], candidates: list[Set]) -> dict[Set, int]:
    """Supports counted one transaction after the other, along the links of a trie of the candidates."""
    root: dict[int, Any] = {}
    for one in candidates:
        node = root
        for item in one:
            node = node.setdefault(item, {})
    counts = dict.fromkeys(candidates, 0)
    k = len(candidates[0])

    def walk(node: dict[int, Any], held: Set, items: Set, start: int) -> None:
        if len(held) == k:
            counts[held] += 1
            return
        for index in range(start, last_index(len(items), k, len(held))):
            if items[index] in node:
                walk(node[items[index]], (*held, items[index]), items, index + 1)

    for items in transactions:
        walk(root, (), items, 0)
    return counts


def largest_difference(n: int, seed: int = 71) -> float:
    """Between supports by the trie and by bits, over random transactions of five items."""
    rng = np.random.default_rng(seed)
    held = rng.random((n, 5)) < (0.5, 0.8, 0.6, 0.7, 0.6)
    transactions = [tuple((np.flatnonzero(row) + 1).tolist()) for row in held]
    schema = Schema({f"I{i}": Categorical(("absent", "present")) for i in range(1, 6)})
    table = {f"I{i + 1}": np.where(held[:, i], "present", "absent") for i in range(5)}
    found = AssociationRules(min_support=0.001, by="estimate").fit(evidence(table, schema))
    bits = {tuple(sorted(int(item[1:]) for item in one.items)): round(one.support * n) for one in found.itemsets_}
    return float(max(abs(count - bits[one]) for one, count in trie_counts(transactions, TRIPLES).items()))


def measure(fast: bool) -> Found:
    joined = siblings(PAIRS)
    gap = largest_difference(300 if fast else 3000)
    rows = (
        printed("candidates of three items", len(TRIPLES), float(len(joined)) if joined == TRIPLES else 0.0, runs=None),
        Row("candidates all of whose pairs are frequent", float(len(pruned(joined, PAIRS))), 4.0, 0.0, DIFFERS, WHY),
        printed("t = {I2, I3, I4, I5}, depth 1: links below index", 3, float(last_index(4, 3, 1)), runs=None),
        printed("t = {I2, I3, I4, I5}, depth 2: links below index", 4, float(last_index(4, 3, 2)), runs=None),
        claimed("largest difference of supports by the trie and by our bit counts", gap, gap == 0),
    )
    return Found(rows)


def measure_next(fast: bool) -> Found:
    grown = siblings(LEFT)
    rows = (
        printed("candidates left after pruning", 2, float(len([one for one in TRIPLES if one in LEFT])), runs=None),
        printed("candidates of four items", 1, float(len(grown)) if grown == [(2, 3, 4, 5)] else 0.0, runs=None),
        Row(
            "candidates of four items all of whose triples are frequent",
            float(len(pruned(grown, LEFT))),
            1.0,
            0.0,
            DIFFERS,
            "{I2, I4, I5} has just been pruned: no set that holds it can be frequent.",
        ),
    )
    return Found(rows)


def _draw_trie(axes: Any, sets: list[Set], marked: list[Set]) -> None:
    """Paths from the root; leaves that the subset prune drops are dashed."""
    places: dict[Set, tuple[float, float]] = {}
    leaves = sorted(sets)
    for at, leaf in enumerate(leaves):
        places[leaf] = (float(at), -float(len(leaf)))
    for depth in range(max(map(len, sets)) - 1, -1, -1):
        for prefix in dict.fromkeys(leaf[:depth] for leaf in leaves if len(leaf) > depth):
            if prefix not in places:
                below = [place[0] for key, place in places.items() if len(key) == depth + 1 and key[:depth] == prefix]
                places[prefix] = (float(np.mean(below)), -float(depth))
    for node, (x, y) in places.items():
        if node:
            px, py = places[node[:-1]]
            dropped = node in marked
            axes.plot([px, x], [py, y], "--" if dropped else "-", color=WARM if dropped else SOFT, linewidth=1.1)
            axes.text(
                (px + x) / 2,
                (py + y) / 2,
                str(node[-1]),
                fontsize=8,
                ha="center",
                va="center",
                bbox={"boxstyle": "round,pad=0.1", "facecolor": "#fefefe", "edgecolor": "none"},
            )
        axes.plot(x, y, "o", color=ACCENT, markersize=5)
    axes.set(xlim=(-0.7, len(leaves) - 0.3), ylim=(-max(map(len, sets)) - 0.4, 0.4))
    axes.axis("off")


def _frequent_leaves(sets: list[Set]) -> list[Set]:
    return [*sets, (1, 4), (4, 5)]


def draw(figure: Any, found: Found) -> None:
    axes = figure.subplots()
    _draw_trie(axes, _frequent_leaves(TRIPLES), [one for one in TRIPLES if one not in pruned(TRIPLES, PAIRS)])
    axes.annotate(
        "dashed: dropped, since a pair in it is not frequent",
        (0.99, 0.01),
        xycoords="axes fraction",
        ha="right",
        fontsize=8,
        color=SOFT,
    )


def draw_next(figure: Any, found: Found) -> None:
    left, right = figure.subplots(1, 2)
    _draw_trie(left, LEFT, [])
    _draw_trie(right, [(2, 3, 4, 5), (2, 3, 5)], [(2, 3, 4, 5)])
    left.set_title("(a) after pruning", fontsize=8.5)
    right.set_title("(b) the new candidate (dashed: dropped)", fontsize=8.5)


FIGURE7_1 = Figure(
    "ma06_fig7_1",
    "figure 7.1",
    "a trie of candidates",
    "The frequent pairs give four candidates of three items. Only some links need be followed to count a transaction.",
    measure,
    draw,
    (Setting("counting", "a trie", "bits: one AND and one population count for each set"),),
    size=(5.2, 3.4),
)
FIGURE7_2 = Figure(
    "ma06_fig7_2",
    "figure 7.2",
    "the trie after pruning, and its new candidate",
    "With {I1, I2, I4} and {I2, I4, I5} pruned, one candidate of four items is generated.",
    measure_next,
    draw_next,
    size=(6.2, 3.2),
)
