"""The links of a network and the evidence for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any

from sfumato.learn.bayesnet.scores import StructureScore


@dataclass(frozen=True)
class Edge:
    """A link and the evidence for it: the test of child and parent given the child's other parents.

    ``trend`` is in standard deviations, positive where child and parent rise together; NaN where they are not both
    ordered. The p-value counts it. All are NaN where the test would take more memory than allowed, or where no form
    asks all of them, as may be in a structure that was given.
    """

    parent: str
    child: str
    statistic: float
    df: int
    p_value: float
    trend: float = nan


def edge_rows(edges: Sequence[Edge]) -> tuple[list[str], list[list[Any]]]:
    """A table of links: its header and its rows, with a column for trends where there are any.

    A link that is told by its trend alone has no statistic.
    """
    header = ["parent", "child", "statistic", "df", "p-value"]
    rows: list[list[Any]] = [
        [e.parent, e.child, *([e.statistic, e.df] if e.df else ["trend alone", ""]), f"{e.p_value:.2g}"]
        if isfinite(e.trend)
        else [e.parent, e.child, e.statistic, e.df, f"{e.p_value:.2g}"]
        for e in edges
    ]
    if any(isfinite(e.trend) for e in edges):
        header.append("trend")
        rows = [[*row, f"{e.trend:+.1f}" if isfinite(e.trend) else ""] for row, e in zip(rows, edges, strict=True)]
    return header, rows


def tested_edges(score: StructureScore, parents: Mapping[str, tuple[str, ...]]) -> tuple[Edge, ...]:
    """Every link with its test."""
    return tuple(_edge(score, node, parent, held) for node, held in parents.items() for parent in held)


def _edge(score: StructureScore, node: str, parent: str, held: tuple[str, ...]) -> Edge:
    if not score.testable(node, held):
        return Edge(parent, node, nan, 0, nan)
    test = score.test(node, parent, [other for other in held if other != parent])
    return Edge(parent, node, test.statistic, test.df, test.p_value, test.rises)
