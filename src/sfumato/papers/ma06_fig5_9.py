"""Ma06 Fig. 5.9: K2 with the Bayesian score on randomized data, three thresholds eta, beside the Wald score."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sfumato.papers import ma06_exp4
from sfumato.papers.ma06_exp4 import rule

PS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
RULES = {
    "eta 1": rule("bayes"), "eta 0.99": rule("bayes", 0.99), "eta variable": rule("bayes", None), "wald": rule("wald"),
}  # fmt: skip


def report(runs: int = 10, ps: Sequence[float] = PS) -> str:
    """Extra + missing links and the distance. The paper: extra links grow with p, a smaller eta helps."""
    title = "Ma06 Fig. 5.9: Bayesian score, our stand-in network, N = 10 000"
    return ma06_exp4.table(title, RULES, runs, ps)


def draw(path: str | Path, runs: int = 10, ps: Sequence[float] = PS) -> Any:
    """The figure."""
    return ma06_exp4.draw(path, RULES, runs, ps)
