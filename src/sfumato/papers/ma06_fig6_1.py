"""Ma06 figure 6.1: the pocket algorithm on randomized Lenses data against p, corrected and as if the data were clean.

6000 records with the attribute probabilities of table 6.1; hard and soft lenses are one class, none the other. "Ternary
with p" means p/2 to each other value. At p = .5 a binary channel is singular: the paper's last point cannot be learned.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sfumato import datasets
from sfumato.channels import Channel, binary, ternary
from sfumato.evidence import evidence
from sfumato.learn.linear import LinearClassifier
from sfumato.owner import randomize
from sfumato.papers.ma06_curves import Curve, curves, plot, table
from sfumato.randomness import experiment
from sfumato.release import Release
from sfumato.schema import Categorical, Ordinal, Schema
from sfumato.scheme import Scheme

P = (0.0, 0.1, 0.2, 0.3, 0.4, 0.45)
N = 6000
VALUES = {
    "age": ("young", "pre-presbyopic", "presbyopic"),
    "prescription": ("myope", "hypermetrope"),
    "astigmatic": ("no", "yes"),
    "tear_rate": ("reduced", "normal"),
}
SHARES = {"age": (0.5, 0.3, 0.2), "prescription": (0.9, 0.1), "astigmatic": (0.2, 0.8), "tear_rate": (0.2, 0.8)}
SCHEMA = Schema({name: Ordinal(values) for name, values in VALUES.items()} | {"fit": Categorical(("lenses", "none"))})


@lru_cache(maxsize=1)
def labels() -> dict[tuple[str, ...], str]:
    """What the 24 rows of the Lenses table say."""
    rows = datasets.load("lenses").to_pylist()
    return {tuple(row[name] for name in VALUES): "none" if row["lenses"] == "none" else "lenses" for row in rows}


def sample(seed: int, n: int = N) -> dict[str, Any]:
    """Records with independent attributes as in table 6.1, labelled by the Lenses table."""
    rng = np.random.default_rng([6, seed])
    columns = {name: rng.choice(VALUES[name], n, p=SHARES[name]) for name in VALUES}
    fit = [labels()[key] for key in zip(*columns.values(), strict=True)]
    return {**columns, "fit": fit}


def scheme(p: float) -> Scheme:
    """Table 6.2; the class is not randomized."""
    two: Channel = binary(p, p)
    treated = {"age": ternary(p / 2, p / 2), "prescription": two, "astigmatic": two, "tear_rate": two}
    return Scheme(SCHEMA, dict(treated.items()), clear=["fit"])


def measure(p: float, seed: int) -> dict[str, float]:
    """Accuracy on the clean records."""
    rows = sample(seed)
    release = randomize(rows, scheme(p), rng=experiment(seed + 100))
    as_if_clean = evidence(Release(release.arrow(), Scheme.identity(SCHEMA)))
    pocket = LinearClassifier("pocket", counts="direct", rng=seed)
    return {
        "as if clean": pocket.fit(as_if_clean, target="fit").score(rows),
        "corrected": pocket.fit(evidence(release), target="fit").score(rows),
        "corrected, joint model": LinearClassifier("pocket", rng=seed)
        .fit(evidence(release, method="model", tau=1.0, order=3, target="fit"), target="fit")
        .score(rows),
    }


def figure(runs: int = 5, p: tuple[float, ...] = P) -> list[Curve]:
    """The curves."""
    return curves(p, runs, measure)


def draw(path: str | Path, runs: int = 5) -> Any:
    """The picture."""
    return plot(figure(runs), path, "Lenses: accuracy of the pocket algorithm", "accuracy")


def report(runs: int = 2) -> str:
    """The curves in words."""
    return table("Ma06 figure 6.1: Lenses, accuracy of the pocket algorithm on clean records", figure(runs))
