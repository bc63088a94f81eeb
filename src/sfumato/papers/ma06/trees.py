"""Ma06 figures 7.8 and 7.9: accuracy of a decision tree on Adult and on Breast Cancer Wisconsin against p."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from sfumato.channels import symmetric
from sfumato.datasets.discretized import ADULT, WISCONSIN, adult, wisconsin
from sfumato.errors import UnrecoverableWarning, without_warnings
from sfumato.evidence import evidence
from sfumato.learn.tree import DecisionTree
from sfumato.owner import randomize
from sfumato.papers.curves import legend, level, lines, measured, panels
from sfumato.papers.figure import Figure, Found, Row, Setting, beside, claimed
from sfumato.randomness import experiment
from sfumato.schema import Schema
from sfumato.scheme import Scheme

P = (0.1, 0.2, 0.3, 0.4, 0.45)
PAPERS_TREE, MODEL_TREE = "ID3 as the paper lists it", "on the joint model (ours)"


@lru_cache(maxsize=3)
def rows(name: str) -> Any:
    """The tables: "wisconsin", or a part of Adult."""
    return wisconsin() if name == "wisconsin" else adult(name)


def accuracy(p: float, seed: int, schema: Schema, train: Any, test: Any, target: str, copies: int) -> dict[str, float]:
    """Accuracy on clean records: the paper's tree, one stopped by its noise, and one grown on the joint model."""
    import pyarrow as pa

    scheme = Scheme(schema, {name: symmetric(schema[name].size, p) for name in schema})
    release = randomize(pa.concat_tables([train] * copies).combine_chunks(), scheme, rng=experiment(10 * seed + 1))
    direct = evidence(release)
    with without_warnings(UnrecoverableWarning):
        model = evidence(release, method="model", tau=0.3, target=target)
        trees = {
            PAPERS_TREE: DecisionTree(counts="paper").fit(direct, target=target),
            "stopped by noise (ours)": DecisionTree(counts="direct").fit(direct, target=target),
            MODEL_TREE: DecisionTree().fit(model, target=target),
        }
    return {name: tree.score(test) for name, tree in trees.items()}


def on_adult(p: float, seed: int, copies: int = 1) -> dict[str, float]:
    return accuracy(p, seed, ADULT, rows("train"), rows("test"), "income", copies)


def on_wisconsin(p: float, seed: int, copies: int = 5) -> dict[str, float]:
    return accuracy(p, seed, WISCONSIN, rows("wisconsin"), rows("wisconsin"), "class", copies)


def majority(schema: Schema, table: Any, target: str) -> float:
    """The share of the most frequent class."""
    counted = evidence(table, schema).counts(target).value
    return float(counted.max() / counted.sum())


def _measure(
    once: Callable[[float, int, int], dict[str, float]], copies: int, most: Callable[[], float], fast_runs: int
) -> Callable[[bool], Found]:
    def measure(fast: bool) -> Found:
        runs, ps = (fast_runs, P[::2]) if fast else (5, P)
        curves = measured(ps, runs, lambda p, seed: once(p, seed, copies))
        by = {curve.label: curve for curve in curves}
        base, theirs = most(), by[PAPERS_TREE]
        fall = theirs.values[0] - theirs.values[-1]
        found: list[Row] = [
            claimed(f"{PAPERS_TREE}: accuracy at p = .1 minus that at .45", fall, bool(fall.mean() > 0)),
            claimed(
                f"{PAPERS_TREE}: accuracy at p = .3 minus that of the majority class (reasonable)",
                theirs.at(0.3) - base,
                bool(theirs.at(0.3).mean() > base + 0.02),
                "It is no better than always naming the majority class.",
            ),
            beside("majority class: accuracy", base),
            *(beside(f"{c.label}: accuracy at p = {p:g}", c.at(p)) for c in curves for p in ps),
        ]
        return Found(tuple(found), (curves, base), runs)

    return measure


def _draw(figure: Any, found: Found) -> None:
    curves, base = found.data
    (axes,) = panels(figure, 1)
    lines(axes, curves, least=0, most=1)
    level(axes, base, "majority class")
    axes.set(xlabel="p, the probability of changing a value", ylabel="accuracy on clean records")
    legend(figure, axes, 2)


_CLAIM = "There is a trade-off between accuracy and privacy. The results are still reasonable at p = .3."
FIGURE7_8 = Figure(
    "ma06_fig7_8",
    "figure 7.8",
    "a decision tree on Adult",
    _CLAIM,
    _measure(on_adult, 30, lambda: majority(ADULT, rows("test"), "income"), 1),
    _draw,
    (
        Setting("records", "Adult 30 times, 11 attributes with 4, 3, 3, 3, 2, 3, 2, 3, 2, 3, 2 values"),
        Setting("which values fall together", "not printed", "ours"),
        Setting("tested on", "not printed", "Adult's own test part, clean"),
        Setting("runs", "5", "see below"),
    ),
    heavy=True,
)
FIGURE7_9 = Figure(
    "ma06_fig7_9",
    "figure 7.9",
    "a decision tree on Breast Cancer Wisconsin",
    _CLAIM,
    _measure(on_wisconsin, 5, lambda: majority(WISCONSIN, rows("wisconsin"), "class"), 5),
    _draw,
    (
        Setting("records", "the table 5 times, attributes with 3, 2, 3, 2, … values", "683 complete records, 5 times"),
        Setting("which values fall together", "not printed", "ours"),
        Setting("tested on", "not printed", "the clean records"),
        Setting("runs", "5", "see below"),
    ),
)
