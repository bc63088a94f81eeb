"""Ma06 figure 6.2: the pocket algorithm on randomized Iris data against p.

Iris repeated 100 times with uniform noise in [-0.2, 0.2], grouped by MGAS, each attribute under a symmetric channel;
virginica against the other two. The paper prints no numbers; its curve stays near the raw one up to p = .6.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sfumato import datasets
from sfumato.channels import symmetric
from sfumato.evidence import evidence
from sfumato.learn.linear import LinearClassifier
from sfumato.owner import mgas, randomize
from sfumato.owner.discretize import Groups
from sfumato.papers.ma06_curves import Curve, curves, plot, table
from sfumato.randomness import experiment
from sfumato.release import Release
from sfumato.schema import Categorical, Ordinal, Schema
from sfumato.scheme import Scheme

P = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
NAMES = ("sepal_length", "sepal_width", "petal_length", "petal_width")


@dataclass(frozen=True)
class Grouped:
    """Iris after MGAS: the codes, the groups of each attribute and the schema."""

    numbers: dict[str, Any]
    groups: dict[str, Groups]
    schema: Schema
    rows: dict[str, Any]

    @property
    def values(self) -> dict[str, Any]:
        """What each code is worth: the mean of its group."""
        return {name: found.means for name, found in self.groups.items()}


def grouped(seed: int, copies: int = 100, min_records: int = 1500, min_width: float = 0.25) -> Grouped:
    """Iris repeated, with noise, discretized."""
    rng = np.random.default_rng([62, seed])
    raw = datasets.load("iris")
    species = np.tile(np.array(raw.column("species").to_pylist(), dtype=object), copies)
    numbers = {name: np.tile(raw.column(name).to_numpy(), copies) for name in NAMES}
    numbers = {name: column + rng.uniform(-0.2, 0.2, len(column)) for name, column in numbers.items()}
    found = {name: mgas(column, min_records, min_width) for name, column in numbers.items()}
    last = sorted(set(species))[-1]
    schema = Schema(
        {name: Ordinal(tuple(range(len(own)))) for name, own in found.items()}
        | {"kind": Categorical(("other", str(last)))}
    )
    rows = {name: own.codes for name, own in found.items()}
    return Grouped(numbers, found, schema, {**rows, "kind": np.where(species == last, str(last), "other")})


def release(data: Grouped, p: float, seed: int) -> Release:
    """Every attribute under a symmetric channel; the class is not randomized."""
    treated = {name: symmetric(len(own), p) for name, own in data.groups.items()}
    return randomize(data.rows, Scheme(data.schema, dict(treated.items()), clear=["kind"]), rng=experiment(seed + 100))


def measure(p: float, seed: int) -> dict[str, float]:
    """Accuracy on the clean (discretized) records."""
    data = grouped(seed)
    given = release(data, p, seed)
    as_if_clean = evidence(Release(given.arrow(), Scheme.identity(data.schema)))
    pocket = LinearClassifier("pocket", counts="direct", values=data.values, rng=seed)
    return {
        "as if clean": pocket.fit(as_if_clean, target="kind").score(data.rows),
        "corrected": pocket.fit(evidence(given), target="kind").score(data.rows),
        "corrected, joint model": LinearClassifier("pocket", values=data.values, rng=seed)
        .fit(evidence(given, method="model", tau=1.0, target="kind"), target="kind")
        .score(data.rows),
    }


def figure(runs: int = 3, p: tuple[float, ...] = P) -> list[Curve]:
    """The curves."""
    return curves(p, runs, measure)


def draw(path: str | Path, runs: int = 3) -> Any:
    """The picture."""
    return plot(figure(runs), path, "Iris: accuracy of the pocket algorithm", "accuracy")


def report(runs: int = 3) -> str:
    """The curves in words."""
    return table("Ma06 figure 6.2: Iris, accuracy of the pocket algorithm on clean records", figure(runs))
