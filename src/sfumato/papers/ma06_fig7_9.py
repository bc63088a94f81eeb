"""Ma06 figure 7.9: accuracy of a decision tree on Breast Cancer Wisconsin against p.

Ten attributes with 3, 2, 3, 2, ... values, 683 records (the paper repeats them five times); accuracy on the
clean records.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

from sfumato.channels import symmetric
from sfumato.datasets.discretized import WISCONSIN, wisconsin
from sfumato.errors import UnrecoverableWarning
from sfumato.evidence import evidence
from sfumato.learn.tree import DecisionTree
from sfumato.owner import randomize
from sfumato.papers.ma06_curves import Curve, curves, plot, table
from sfumato.randomness import experiment
from sfumato.scheme import Scheme

P = (0.1, 0.2, 0.3, 0.4, 0.45)
TARGET = "class"


@lru_cache(maxsize=1)
def rows() -> Any:
    return wisconsin()


def measure(p: float, seed: int) -> dict[str, float]:
    """Accuracy on the clean records of the paper's tree and of ours."""
    scheme = Scheme(WISCONSIN, {name: symmetric(WISCONSIN[name].size, p) for name in WISCONSIN})
    release = randomize(rows(), scheme, rng=experiment(10 * seed + 1))
    with warnings.catch_warnings(action="ignore", category=UnrecoverableWarning):
        ours = DecisionTree().fit(evidence(release, method="model", tau=0.3, target=TARGET), target=TARGET)
    return {
        "the paper's ID3": DecisionTree(counts="paper").fit(evidence(release), target=TARGET).score(rows()),
        "on the joint model": ours.score(rows()),
    }


def figure(runs: int = 5, p: tuple[float, ...] = P) -> list[Curve]:
    """The curves."""
    return curves(p, runs, measure)


def draw(path: str | Path, runs: int = 5) -> Any:
    """The picture."""
    return plot(
        figure(runs), path, "Breast Cancer Wisconsin: accuracy of a tree", "accuracy", {"majority class": 444 / 683}
    )


def report(runs: int = 5) -> str:
    """The curves in words."""
    notes = (f"majority class {444 / 683:.3f}; {runs} runs, 683 records once",)
    return table("Ma06 figure 7.9: Breast Cancer Wisconsin, accuracy of a decision tree", figure(runs), notes)
