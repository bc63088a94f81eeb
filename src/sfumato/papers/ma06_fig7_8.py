"""Ma06 figure 7.8: accuracy of a decision tree on Adult against p, the paper's ID3 and ours side by side.

Eleven attributes with 4, 3, 3, 3, 2, 3, 2, 3, 2, 3, 2 values, all randomized. The paper repeats the table 30 times;
here it is taken once; accuracy is on Adult's own clean test part. The printed figure cannot be read from the text.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

from sfumato.channels import symmetric
from sfumato.datasets.discretized import ADULT, adult
from sfumato.errors import UnrecoverableWarning
from sfumato.evidence import evidence
from sfumato.learn.tree import DecisionTree
from sfumato.owner import randomize
from sfumato.papers.ma06_curves import Curve, curves, plot, table
from sfumato.randomness import experiment
from sfumato.scheme import Scheme

P = (0.1, 0.2, 0.3, 0.4, 0.45)
TARGET = "income"


@lru_cache(maxsize=2)
def rows(split: str) -> Any:
    return adult(split)


def measure(p: float, seed: int, copies: int = 1) -> dict[str, float]:
    """Test accuracy of the paper's tree, of one stopped by its noise, and of one grown on the joint model."""
    import pyarrow as pa

    scheme = Scheme(ADULT, {name: symmetric(ADULT[name].size, p) for name in ADULT})
    train = pa.concat_tables([rows("train")] * copies).combine_chunks()
    release = randomize(train, scheme, rng=experiment(10 * seed + 1))
    direct = evidence(release)
    with warnings.catch_warnings(action="ignore", category=UnrecoverableWarning):
        trees = {
            "the paper's ID3": DecisionTree(counts="paper").fit(direct, target=TARGET),
            "stopped by noise": DecisionTree(counts="direct").fit(direct, target=TARGET),
            "on the joint model": DecisionTree().fit(
                evidence(release, method="model", tau=0.3, target=TARGET), target=TARGET
            ),
        }
    return {name: tree.score(rows("test")) for name, tree in trees.items()}


def figure(runs: int = 2, p: tuple[float, ...] = P) -> list[Curve]:
    """The curves."""
    return curves(p, runs, measure)


def draw(path: str | Path, runs: int = 2) -> Any:
    """The picture."""
    lines = {"majority class": majority(), "raw data": ceiling()}
    return plot(figure(runs), path, "Adult: accuracy of a tree on clean test records", "accuracy", lines)


def majority() -> float:
    """The share of the most frequent class in the test part."""
    counted = evidence(rows("test"), ADULT).counts(TARGET).value
    return float(counted.max() / counted.sum())


def ceiling() -> float:
    """The accuracy of the tree on the joint model of the raw table."""
    model = evidence(rows("train"), ADULT, method="model", tau=0.3, target=TARGET)
    return DecisionTree().fit(model, target=TARGET).score(rows("test"))


def report(runs: int = 2) -> str:
    """The curves in words."""
    notes = (f"majority class {majority():.3f}, raw data {ceiling():.3f}; {runs} runs, 32 561 records once",)
    return table("Ma06 figure 7.8: Adult, accuracy of a decision tree on clean test records", figure(runs), notes)
