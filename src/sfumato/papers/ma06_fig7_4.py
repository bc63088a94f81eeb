"""Ma06 figure 7.4: frequent item sets of Mushroom against p: 23 items in 13 groups, support .05.

The paper takes the table 30 times; here it is taken once (8124 records), which is harder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato.datasets.discretized import MUSHROOM, MUSHROOM_GROUPS, mushroom
from sfumato.papers.ma06_curves import plot
from sfumato.papers.ma06_itemsets import report_of

P = (0.1, 0.2, 0.3)
TITLE = "Ma06 figure 7.4: Mushroom, frequent item sets at support .05"


def report(runs: int = 1, p: tuple[float, ...] = P) -> str:
    """The curves in words."""
    return report_of(TITLE, mushroom(), MUSHROOM, MUSHROOM_GROUPS, p, runs)[0]


def draw(path: str | Path, runs: int = 1) -> Any:
    """False positives and negatives as a picture."""
    found = report_of(TITLE, mushroom(), MUSHROOM, MUSHROOM_GROUPS, P, runs)[1]
    shown = [curve for curve in found if "false" in curve.label]
    return plot(shown, path, "Mushroom: wrong item sets", "share of the truly frequent")
