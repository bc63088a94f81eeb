"""Ma06 figures 6.2 and 6.3: Iris after MGAS: the pocket algorithm against p, and the reconstructed distributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato import datasets
from sfumato.channels import symmetric
from sfumato.evidence import evidence
from sfumato.learn.linear import LinearClassifier
from sfumato.owner import mgas, randomize
from sfumato.owner.discretize import Groups
from sfumato.pages.chart import ACCENT, SOFT
from sfumato.papers.curves import draw_accuracy, measured, panels
from sfumato.papers.figure import Figure, Found, Row, Setting, beside, claimed
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


def once(p: float, seed: int) -> dict[str, float]:
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


def measure(fast: bool) -> Found:
    runs, ps = (1, P[1::2]) if fast else (5, P)
    curves = measured(ps, runs, once)
    by = {curve.label: curve for curve in curves}
    data = grouped(0)
    raw = LinearClassifier("pocket", counts="direct", values=data.values, rng=0)
    best = raw.fit(evidence(data.rows, data.schema), target="kind").score(data.rows)
    last = ps[-1]
    behind = best - by["corrected"].at(last)
    rows: list[Row] = [
        claimed(f"raw minus corrected at p = {last:g} (almost as good)", behind, bool(behind.mean() < 0.03),
                "Unbiased counts of thousands of cells are noisy. The joint model below does what the paper says."),
        beside("raw data: accuracy", best),
        *(beside(f"{curve.label}: accuracy at p = {p:g}", curve.at(p)) for curve in curves for p in ps),
    ]  # fmt: skip
    return Found(tuple(rows), curves, runs)


def shares(seed: int = 0, p: float = 0.3) -> dict[str, tuple[Any, Any, Any, Any]]:
    """For each attribute: group means, true shares, estimated shares, their standard deviations."""
    data = grouped(seed)
    given = evidence(release(data, p, seed), method="mle")
    out = {}
    for name in NAMES:
        found = given.counts(name)
        true = np.bincount(data.rows[name], minlength=len(found.value)) / found.n
        out[name] = (data.groups[name].means, true, found.value / found.n, found.sd / found.n)
    return out


def measure_shares(fast: bool) -> Found:
    found = shares()
    rows: list[Row] = []
    for name, (means, true, estimated, sd) in found.items():
        gap = float(np.abs(true - estimated).sum() / 2)
        words = name.replace("_", " ")
        rows.append(claimed(f"{words}: share of records in a wrong group", gap, gap < 0.05))
        for at, share, own, error in zip(means, true, estimated, sd, strict=True):
            rows.append(Row(f"{words}, group at {at:.2f} (true {share:.3f})", float(own), None, float(error)))
    return Found(tuple(rows), found, 1)


def draw_shares(figure: Any, found: Found) -> None:
    places = panels(figure, 2, 2)
    for axes, (name, (means, true, estimated, sd)) in zip(places, found.data.items(), strict=True):
        at = np.arange(len(means))
        axes.bar(at - 0.2, true, 0.4, color=SOFT, alpha=0.6, label="original")
        axes.bar(at + 0.2, estimated, 0.4, yerr=1.96 * sd, color=ACCENT, label="reconstructed", error_kw={"lw": 0.8})
        axes.set_xticks(at, [f"{mean:.1f}" for mean in means], fontsize=7)
        axes.set_title(name.replace("_", " "), fontsize=8.5)
    figure.supxlabel("mean of the group, cm", fontsize=8.5)
    figure.supylabel("share of records", fontsize=8.5)
    places[0].legend(frameon=False, fontsize=7.5)


_SETTINGS = (
    Setting("records", "Iris 100 times, uniform noise in [-.2, .2] added"),
    Setting("groups", "MGAS, its limits not printed", "at least 1500 records and a width of .25, as in section 2.5"),
    Setting("classes", "1 and 2 together, against 3"),
)
FIGURE6_2 = Figure(
    "ma06_fig6_2",
    "figure 6.2",
    "the pocket algorithm on Iris",
    "The accuracy is almost as good as with the original data, even with large randomization (p up to .6).",
    measure,
    draw_accuracy,
    (*_SETTINGS, Setting("runs", "5", "see below")),
    heavy=True,
)
FIGURE6_3 = Figure(
    "ma06_fig6_3",
    "figure 6.3",
    "Iris after MGAS: reconstructed and original distributions",
    "The distribution of each attribute is reconstructed from the randomized groups.",
    measure_shares,
    draw_shares,
    (*_SETTINGS, Setting("p", "not printed", ".3")),
    size=(7.4, 5.0),
)
