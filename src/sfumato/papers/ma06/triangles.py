"""Ma06 figure 2.3: samples of a two-triangle density, grouped by MGAS, randomized, and reconstructed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.channels import symmetric
from sfumato.evidence import evidence
from sfumato.owner import mgas, randomize
from sfumato.pages.chart import ACCENT, SOFT, WARM
from sfumato.papers.curves import panels
from sfumato.papers.figure import Figure, Found, Row, Setting, beside, claimed, printed
from sfumato.randomness import GeneratorSource
from sfumato.schema import Ordinal, Schema
from sfumato.scheme import Scheme

BASE = 12.0
N = 100_000


def samples(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Two triangles of equal weight, side by side."""
    left = rng.triangular(0, BASE / 2, BASE, n)
    return np.where(rng.random(n) < 0.5, left, left + BASE)


@dataclass(frozen=True)
class Groups:
    """One run: the means of the groups, their true counts, the estimates with their sds, and the released counts."""

    means: Array
    true: Array
    mle: Array
    moment: Array
    sd: Array
    released: Array

    def loss(self, of: Array) -> float:
        return float(np.abs(of - self.true).sum() / 2 / self.true.sum())


def run(seed: int, n: int = N) -> Groups:
    rng = np.random.default_rng(seed)
    groups = mgas(samples(n, rng), min_records=1500, min_width=0.25)
    k = len(groups)
    scheme = Scheme(Schema({"group": Ordinal(tuple(range(k)))}), {"group": symmetric(k, 0.7)})
    release = randomize({"group": groups.codes}, scheme, rng=GeneratorSource(rng))
    fitted, moment = (evidence(release, method=method) for method in ("mle", "moment"))
    plain = moment.counts("group", quiet=True)
    return Groups(
        np.asarray(groups.means),
        np.asarray(groups.sizes, dtype=np.float64),
        np.asarray(fitted.counts("group").value),
        np.asarray(plain.value),
        np.asarray(plain.sd),
        np.asarray(fitted.released_counts("group")),
    )


def measure(fast: bool) -> Found:
    """The number of groups, the information loss, and every count of the first run."""
    runs = [run(seed) for seed in range(3 if fast else 20)]
    groups = np.array([len(one.means) for one in runs])
    loss = np.array([one.loss(one.mle) for one in runs])
    first = runs[0]
    rows: list[Row] = [
        printed(
            "groups that MGAS makes", 39, groups, within=3, why="The triangles are not given.", differs="the triangles"
        ),
        claimed("maximum likelihood: share of records in a wrong group", loss, bool(loss.mean() < 0.05)),
        claimed("moment: share of records in a wrong group", [one.loss(one.moment) for one in runs], True),
        beside("as released: share of records in a wrong group", [one.loss(one.released) for one in runs]),
    ]
    for i, mean in enumerate(first.means):
        rows.append(Row(f"group at {mean:.2f}: true count (first run)", float(first.true[i])))
        rows.append(
            Row(f"group at {mean:.2f}: count by maximum likelihood", float(first.mle[i]), None, float(first.sd[i]))
        )
    return Found(tuple(rows), first, len(runs))


def draw(figure: Any, found: Found) -> None:
    one: Groups = found.data
    (axes,) = panels(figure, 1)
    axes.bar(one.means, one.true, 0.42, color=SOFT, alpha=0.4, label="after MGAS")
    axes.errorbar(one.means, one.mle, 1.96 * one.sd, fmt="o", color=ACCENT, markersize=3, elinewidth=0.8,
                  label="reconstructed (maximum likelihood)")  # fmt: skip
    axes.plot(one.means, one.released, "x", color=WARM, markersize=4, label="as released")
    axes.set(xlabel="mean of the group", ylabel="records")
    axes.set_title(f"paper: 39 groups; here: {len(one.means)}", fontsize=8.5)
    axes.legend(frameon=False, fontsize=8)


FIGURE2_3 = Figure(
    "ma06_fig2_3",
    "figure 2.3",
    "two triangles after MGAS, randomization and reconstruction",
    "MGAS makes 39 groups. Moment and maximum likelihood estimates reconstruct the distribution accurately.",
    measure,
    draw,
    (
        Setting("samples", "100 000 from a two-triangle distribution", "each triangle has a base of 12"),
        Setting("MGAS", "at least 1500 records and a width of 0.25"),
        Setting(
            "randomization", "p = .3 is the probability of keeping a value", "the same; elsewhere p is that of changing"
        ),
        Setting("runs", "1", "see below"),
    ),
    size=(7.2, 3.8),
)
