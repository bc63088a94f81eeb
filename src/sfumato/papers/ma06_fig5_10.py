"""Ma06 Fig. 5.10: K2 with the BIC/MDL score on randomized data, three penalties C*, beside the Wald score."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sfumato.papers import ma06_exp4
from sfumato.papers.ma06_exp4 import rule

PS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
RULES = {f"C* {penalty}": rule("bic", penalty=penalty) for penalty in (1.0, 4.0, 8.0)} | {"wald": rule("wald")}


def report(runs: int = 10, ps: Sequence[float] = PS) -> str:
    """Extra + missing links and the distance. The paper: extra links grow with p, a larger C* helps."""
    title = "Ma06 Fig. 5.10: BIC/MDL score, our stand-in network, N = 10 000"
    return ma06_exp4.table(title, RULES, runs, ps)


def draw(path: str | Path, runs: int = 10, ps: Sequence[float] = PS) -> Any:
    """The figure."""
    return ma06_exp4.draw(path, RULES, runs, ps)
