"""Ma06 figure 6.1: the pocket algorithm on randomized Lenses data against p, corrected and not."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from sfumato import datasets
from sfumato.channels import Channel, binary, ternary
from sfumato.evidence import evidence
from sfumato.learn.linear import LinearClassifier
from sfumato.owner import randomize
from sfumato.papers.curves import draw_accuracy, measured
from sfumato.papers.figure import Figure, Found, Row, Setting, beside, claimed, lost
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


def once(p: float, seed: int) -> dict[str, float]:
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


def measure(fast: bool) -> Found:
    runs = 5
    curves = measured(P, runs, once)
    by = {curve.label: curve for curve in curves}
    fixed, naive, model = (by[name] for name in ("corrected", "as if clean", "corrected, joint model"))
    raw = fixed.at(0.0)
    rows: list[Row] = [
        claimed("corrected: accuracy at p = .1 (reasonable)", fixed.at(0.1), bool(fixed.at(0.1).mean() > 0.85)),
        claimed(
            "corrected: accuracy at p = .3 (reasonable)",
            fixed.at(0.3),
            bool(fixed.at(0.3).mean() > 0.8),
            "The unbiased counts are noisy: the pocket algorithm follows the noise.",
        ),
        lost(
            "accuracy at p = .5",
            "At p = .5 a binary channel gives the same answers for both values: its matrix has no "
            "inverse, and nothing can be corrected. We stop at .45.",
        ),
        beside("raw data: accuracy", raw),
        *(
            beside(f"{curve.label}: accuracy at p = {p:g}", curve.at(p))
            for curve in (naive, fixed, model)
            for p in P[1:]
        ),
    ]
    return Found(tuple(rows), curves, runs)


FIGURE6_1 = Figure(
    "ma06_fig6_1",
    "figure 6.1",
    "the pocket algorithm on Lenses",
    "The accuracy of the weights learned from randomized data is reasonable, for p from 0 to .5.",
    measure,
    draw_accuracy,
    (
        Setting("records", "6000, independent attributes with the shares of table 6.1"),
        Setting("classes", "hard and soft lenses together, against none"),
        Setting(
            "randomization", "table 6.2: ternary or binary, parameter p", "ternary with p: p/2 to each other value"
        ),
        Setting("p", "0 to .5", "0 to .45"),
        Setting("runs", "5", "see below"),
    ),
    heavy=True,
)
