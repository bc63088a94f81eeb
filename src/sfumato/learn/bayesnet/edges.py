"""The links of a network and the evidence for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any

from sfumato.evidence.independence import BEND_ALARMS, LOOKS_FOR, TREND_ALARMS, Test
from sfumato.learn.bayesnet.scores import StructureScore


@dataclass(frozen=True)
class Edge:
    """A link and the evidence for it: the test of child and parent given the child's other parents.

    Several tests look for different kinds of dependence. ``test`` says which of them the p-value comes from (see
    ``LOOKS_FOR``); ``statistic`` and ``df`` are its own. The p-value is larger than theirs by what the choice costs.

    ``trend`` is in standard deviations, positive where child and parent rise together; NaN where they are not both
    ordered. All are NaN where the test would take more memory than allowed, or where no form asks all of them, as may
    be in a structure that was given.
    """

    parent: str
    child: str
    statistic: float
    df: int
    p_value: float
    trend: float = nan
    test: str = "any"


def edge_rows(edges: Sequence[Edge]) -> tuple[list[str], list[list[Any]]]:
    """A table of links: its header and its rows, with columns for the kind of test and for trends where there are any.

    Where nothing could be tested there is no statistic.
    """
    kinds, trends = any(e.test != "any" for e in edges), any(isfinite(e.trend) for e in edges)
    header = ["parent", "child", *["test"] * kinds, "statistic", "df", "p-value", *["trend"] * trends]
    rows: list[list[Any]] = []
    for e in edges:
        said = [e.statistic, e.df, f"{e.p_value:.2g}"] if e.df else ["not tested", "", ""]
        rising = f"{e.trend:+.1f}" if isfinite(e.trend) else ""
        rows.append([e.parent, e.child, *([e.test if e.df else ""] * kinds), *said, *([rising] * trends)])
    return header, rows


def words_of_tests(edges: Sequence[Edge]) -> str:
    """What the tests of these links look for; nothing where all look for any difference."""
    kinds = [kind for kind in LOOKS_FOR if any(e.test == kind and e.df for e in edges)]
    if set(kinds) <= {"any"}:
        return ""
    return f"test: what the p-value comes from ({'; '.join(f'{kind}: {LOOKS_FOR[kind]}' for kind in kinds)})"


def words_of_p_values(edges: Sequence[Edge]) -> str:
    """Why a p-value is larger than its statistic tells; nothing where none is by half as much again."""
    if not any(e.df and e.p_value > 1.5 * Test(e.statistic, e.df).p_value for e in edges):
        return ""
    shares = f"trend and means {TREND_ALARMS:g}, bend {BEND_ALARMS:g}, the others what is left"
    return f"p-value: several tests were tried, so that of the statistic is divided by its test's share ({shares})"


def tested_edges(score: StructureScore, parents: Mapping[str, tuple[str, ...]]) -> tuple[Edge, ...]:
    """Every link with its test."""
    return tuple(_edge(score, node, parent, held) for node, held in parents.items() for parent in held)


def _edge(score: StructureScore, node: str, parent: str, held: tuple[str, ...]) -> Edge:
    if not score.testable(node, held):
        return Edge(parent, node, nan, 0, nan)
    test = score.test(node, parent, [other for other in held if other != parent])
    kind, deciding = test.deciding
    return Edge(parent, node, deciding.statistic, deciding.df, test.p_value, test.rises, kind)
