"""Ma06 figure 5.2, tables 5.1 and 5.2: a network over three sites, its channels, and the probabilities learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato import channels as c
from sfumato.arrays import Array
from sfumato.channels import Channel
from sfumato.errors import UnrecoverableWarning, without_warnings
from sfumato.evidence import evidence
from sfumato.learn.bayesnet import BayesianNetwork
from sfumato.owner import randomize
from sfumato.pages.chart import ACCENT, SOFT, WARM
from sfumato.papers.curves import panels
from sfumato.papers.figure import DIFFERS, REPRODUCED, Figure, Found, Row, Setting, beside, lost, misprint, printed
from sfumato.papers.ma06.networks import draw_network
from sfumato.randomness import experiment
from sfumato.schema import Categorical, Schema
from sfumato.scheme import Scheme

N = 20_000

#: Figure 5.2. Its drawing is lost. The lengths of the rows fix most arcs. Of the parents of C, F and G only the number
#: is known: these make the deviations of table 5.2 come out best.
PARENTS: dict[str, tuple[str, ...]] = {
    "A": (), "T": ("A",), "S": (), "L": ("S",), "B": ("S",), "E": ("L", "T"), "D": ("E", "B"), "X": ("E",),
    "C": ("D", "E"), "F": ("C",), "G": ("E",),
}  # fmt: skip
#: As printed: Pr(first value | configurations), then Pr(second value | ...); the last parent runs fastest.
PRINTED: dict[str, list[float]] = {
    "A": [0.7, 0.3],
    "T": [0.1, 0.9, 0.9, 0.1],
    "S": [0.5, 0.5],
    "L": [0.3, 0.7, 0.4, 0.15, 0.3, 0.15],
    "B": [0.8, 0.15, 0.1, 0.5, 0.1, 0.35],
    "E": [0.25, 0.8, 0.15, 0.5, 0.3, 0.4, 0.75, 0.2, 0.85, 0.5, 0.7, 0.6],
    "D": [0.7, 0.65, 0.1, 0.4, 0.8, 0.35, 0.3, 0.35, 0.9, 0.6, 0.2, 0.65],
    "X": [0.2, 0.6, 0.8, 0.4],
    "C": [0.9, 0.4, 0.6, 0.25, 0.1, 0.6, 0.4, 0.75],
    "F": [0.25, 0.9, 0.75, 0.1],
    "G": [0.2, 0.4, 0.8, 0.6],
}
#: Table 5.2: mean and standard deviation in units of 0.01, over 5 runs.
PAPER: dict[str, list[tuple[float, float]]] = {
    "A": [(0.70, 0.70), (0.30, 0.70)],
    "T": [(0.10, 0.50), (0.90, 0.77), (0.90, 0.50), (0.097, 0.77)],
    "S": [(0.50, 0.00), (0.49, 0.00)],
    "L": [(0.30, 0.49), (0.71, 0.57), (0.39, 0.64), (0.14, 0.55), (0.31, 0.93), (0.15, 0.45)],
    "B": [(0.80, 0.77), (0.16, 0.41), (0.094, 0.71), (0.49, 0.73), (0.10, 0.11), (0.36, 0.65)],
    "E": [
        (0.25, 0.20), (0.81, 0.90), (0.14, 2.7), (0.51, 1.2), (0.31, 2.6), (0.41, 2.34),
        (0.75, 2.0), (0.19, 0.90), (0.86, 2.7), (0.50, 1.2), (0.69, 2.64), (0.59, 2.3),
    ],
    "D": [
        (0.69, 2.2), (0.65, 1.3), (0.11, 3.3), (0.38, 0.77), (0.79, 1.7), (0.39, 5.65),
        (0.31, 2.3), (0.35, 1.3), (0.89, 3.34), (0.62, 0.77), (0.21, 1.7), (0.61, 5.7),
    ],
    "X": [(0.20, 0.80), (0.60, 1.1), (0.81, 0.80), (0.40, 1.1)],
    "C": [
        (0.90, 2.0), (0.38, 1.6), (0.61, 2.6), (0.25, 2.1), (0.10, 2.0), (0.62, 1.6), (0.39, 2.6), (0.75, 2.1),
    ],
    "F": [(0.24, 0.73), (0.91, 1.1), (0.77, 0.73), (0.092, 1.1)],
    "G": [(0.20, 0.30), (0.40, 0.29), (0.80, 0.30), (0.60, 0.29)],
}  # fmt: skip
#: Which site holds what is lost too; this split gives E parents at two other sites.
SITES: dict[str, tuple[str, ...]] = {"one": ("A", "T"), "two": ("S", "L", "B", "G"), "three": ("E", "D", "X", "C", "F")}


def network() -> BayesianNetwork:
    """The network of figure 5.2."""
    schema = Schema({node: Categorical(("1", "2", "3") if node in "LB" else ("1", "2")) for node in PARENTS})
    tables = {}
    for node, held in PARENTS.items():
        shape = (schema[node].size, *schema.sizes(held))
        tables[node] = np.moveaxis(np.reshape(PRINTED[node], shape), 0, -1)
    return BayesianNetwork.of(schema, PARENTS, tables)


def channels() -> dict[str, Channel]:
    """Table 5.1; T, S and G are not sensitive."""
    return {
        "A": c.binary(0.25, 0.25), "L": c.ternary(0.15, 0.15), "B": c.ternary(0.15, 0.15), "E": c.binary(0.2, 0.2),
        "D": c.binary(0.25, 0.25), "X": c.binary(0.2, 0.2), "C": c.binary(0.1, 0.25), "F": c.binary(0.1, 0.25),
    }  # fmt: skip


#: The gammas of table 5.1.
GAMMAS = {"A": 3.0, "L": 4.67, "B": 4.67, "E": 4.0, "D": 3.0, "X": 4.0, "C": 9.0, "F": 9.0}
CHOSEN = {"C": "its two parents", "F": "its parent", "G": "its parent"}


@dataclass(frozen=True)
class Learned:
    """One node over the runs: the estimates (a row per run), and the sds we claim, given the table and without it."""

    estimates: Array
    given: Array
    free: Array


def learn(runs: int, n: int = N, seed: int = 52) -> dict[str, Learned]:
    """One table, randomized anew in every run: the probabilities of every node, in the printed order."""
    true = network()
    rows = true.sample(n, rng=seed)
    scheme = Scheme(true.schema_, dict(channels().items()), clear=[name for name in PARENTS if name not in channels()])
    with without_warnings(UnrecoverableWarning):
        nets = [
            BayesianNetwork(PARENTS).fit(evidence(randomize(rows, scheme, rng=experiment(seed + 1 + run))))
            for run in range(runs)
        ]
    out = {}
    for node in PARENTS:
        tables = [net.cpt(node) for net in nets]
        raw, given, free = (
            np.stack([np.moveaxis(part, -1, 0).reshape(-1) for part in parts])
            for parts in ([t.raw for t in tables], [t.sd(population=False) for t in tables], [t.sd() for t in tables])
        )
        out[node] = Learned(raw, given.mean(0), free.mean(0))
    return out


def measure_network(fast: bool) -> Found:
    """What the printed rows say of the arcs."""
    true = network()
    rows: list[Row] = []
    for node, held in PARENTS.items():
        size = true.schema_[node].size
        drawn = float(np.prod([true.schema_[parent].size for parent in held]))
        rows.append(Row(f"{node}: configurations of its parents", drawn, len(PRINTED[node]) / size))
        sums = np.reshape(PRINTED[node], (size, -1)).sum(0)
        rows.append(beside(f"{node}: largest error of a sum over its values", float(np.abs(sums - 1).max())))
    rows += [
        lost(
            f"{node}: {what}",
            f"The drawing is lost. We take {' and '.join(PARENTS[node])}: so table 5.2's deviations come out best.",
        )
        for node, what in CHOSEN.items()
    ]
    rows.append(
        lost("which site holds which variable", "The drawing is lost; the sites of the picture are our choice.")
    )
    return Found(tuple(rows))


def draw_52(figure: Any, found: Found) -> None:
    sites = {node: site for site, held in SITES.items() for node in held}
    draw_network(figure, PARENTS, sites, "parents of C, F and G, and the sites: our choice")


def measure_channels(fast: bool) -> Found:
    rows: list[Row] = []
    for node, channel in channels().items():
        if node in "CF":
            why = "Gamma compares a column of the matrix: .75 / .1 = 7.5. The printed 9 compares a row."
            rows.append(misprint(f"{node}: gamma", GAMMAS[node], channel.gamma, why))
        else:
            rows.append(printed(f"{node}: gamma", GAMMAS[node], channel.gamma, within=0.005, runs=None))
    return Found(tuple(rows))


def draw_channels(figure: Any, found: Found) -> None:
    (axes,) = panels(figure, 1)
    at = np.arange(len(GAMMAS))
    axes.bar(at - 0.2, list(GAMMAS.values()), 0.4, color=SOFT, alpha=0.6, label="paper")
    axes.bar(at + 0.2, [row.ours for row in found.rows], 0.4, color=ACCENT, label="right")
    axes.set_xticks(at, list(GAMMAS))
    axes.set(ylabel="gamma")
    axes.legend(frameon=False)


def measure_table(fast: bool) -> Found:
    """All 64 means, and the deviations of each node."""
    runs = 5 if fast else 20
    rows: list[Row] = []
    shown = []
    for node, own in learn(runs).items():
        mean, sd = own.estimates.mean(0), own.estimates.std(0, ddof=1)
        differs = "" if node not in CHOSEN else f"{CHOSEN[node]}: the drawing is lost"
        for i, (paper, _) in enumerate(PAPER[node]):
            # two tables (theirs and ours) of 20 000 records, each randomized over again
            drawn = 2 * max(own.free[i] ** 2 - own.given[i] ** 2, 0) + own.given[i] ** 2 * (1 / 5 + 1 / runs)
            near = abs(mean[i] - paper) <= 0.0051 + 3 * np.sqrt(drawn)
            why = "" if near else "Further apart than two tables of this size should be."
            label, error = f"{node}, probability {i + 1} (true {PRINTED[node][i]:g})", float(sd[i] / np.sqrt(runs))
            rows.append(Row(label, float(mean[i]), paper, error, REPRODUCED if near else DIFFERS, why, differs))
        theirs = _root_mean_square([s / 100 for _, s in PAPER[node]])
        claim = _root_mean_square(own.given)
        near = abs(claim - theirs) < 5e-5 or (theirs > 0 and 0.5 < claim / theirs < 2)
        why = "" if near else "More than a factor of two apart, which five runs do not explain."
        label = f"{node}: root mean square of its deviations, × 100"
        rows.append(Row(label, 100 * claim, 100 * theirs, 0.0, REPRODUCED if near else DIFFERS, why, differs))
        shown.append((node, 100 * theirs, 100 * _root_mean_square(sd), 100 * claim))
    return Found(tuple(rows), shown, runs)


def _root_mean_square(values: ArrayLike) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def draw_table(figure: Any, found: Found) -> None:
    (axes,) = panels(figure, 1)
    names, theirs, ours, claim = zip(*found.data, strict=True)
    at = np.arange(len(names))
    axes.bar(at - 0.27, theirs, 0.27, color=SOFT, alpha=0.6, label="paper, 5 runs")
    axes.bar(at, ours, 0.27, color=ACCENT, label=f"ours, {found.runs} runs")
    axes.plot(at, claim, "_", color=WARM, markersize=14, markeredgewidth=2, label="what we claim from one run")
    axes.set_xticks(at, names)
    axes.set(ylabel="standard deviation × 100")
    axes.legend(frameon=False)


FIGURE5_2 = Figure(
    "ma06_fig5_2",
    "figure 5.2",
    "the network of experiment 1",
    "Eleven variables over three sites, all binary but L and B, with the printed conditional probabilities.",
    measure_network,
    draw_52,
    (Setting("arcs", "in the drawing", "by the lengths of the printed rows; parents of C, F and G: our choice"),),
    size=(5.6, 4.2),
)
TABLE5_1 = Figure(
    "ma06_table5_1",
    "table 5.1",
    "the channels of experiment 1 and their gamma",
    "The amplification of C and F is 9, of the others 3, 4 or 4.67.",
    measure_channels,
    draw_channels,
    size=(5.6, 3.0),
)
TABLE5_2 = Figure(
    "ma06_table5_2",
    "table 5.2",
    "probabilities learned from randomized records",
    "The probabilities are learned accurately: mean and standard deviation over five runs.",
    measure_table,
    draw_table,
    (
        Setting("records", "20 000, one table, randomized anew in every run (S has deviation 0)"),
        Setting("runs", "5", "5 or 20, see below"),
        Setting(
            "parents of C, F and G",
            "in the drawing, lost",
            "C ← D, E; F ← C; G ← E. G's deviation of .3 refutes a parent that is not randomized",
        ),
        Setting(
            "reproduced means",
            "",
            "means within three standard deviations; deviations (ours: what one run claims) within a factor of two",
        ),
    ),
)
