"""The links of a network and the evidence for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan

from sfumato.learn.bayesnet.scores import StructureScore


@dataclass(frozen=True)
class Edge:
    """A link and the evidence for it: the test of child and parent given the child's other parents.

    NaN where that test would take more memory than allowed, as it may in a structure that was given.
    """

    parent: str
    child: str
    statistic: float
    df: int
    p_value: float


def tested_edges(score: StructureScore, parents: Mapping[str, tuple[str, ...]]) -> tuple[Edge, ...]:
    """Every link with its test."""
    return tuple(_edge(score, node, parent, held) for node, held in parents.items() for parent in held)


def _edge(score: StructureScore, node: str, parent: str, held: tuple[str, ...]) -> Edge:
    if not score.testable(node, held):
        return Edge(parent, node, nan, 0, nan)
    test = score.test(node, parent, [other for other in held if other != parent])
    return Edge(parent, node, test.statistic, test.df, test.p_value)
