"""Ma06 figures 5.7 and 5.8: conditional Kullback-Leibler distance against p and against the number of records."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence import evidence
from sfumato.learn.bayesnet import BayesianNetwork
from sfumato.papers.curves import Curve, legend, lines, panels
from sfumato.papers.figure import Figure, Found, Row, Setting, beside, claimed
from sfumato.papers.ma06.networks import PARENTS_5_6, STAND_IN, fitted, network_5_6

NODES = ("C", "D", "F")
N, RUNS = 10_000, 10
PS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
POWERS = tuple(range(1, 9))
LEVELS = (0.1, 0.2, 0.3, 0.4)


def conditional_kl(raw: BayesianNetwork, learned: BayesianNetwork, node: str) -> float:
    """Σ_j P(pa = j) KL(P⁰(x | j), Pᵖ(x | j)), the first learned without randomization."""
    zero, found = raw.cpt(node), learned.cpt(node)
    weight = zero.counts.sum(-1) / zero.counts.sum()
    return float((weight * (zero.values * np.log(zero.values / found.values)).sum(-1)).sum())


def distances(p: float, n: int, runs: int, seed: int = 0) -> Array:
    """The distance of each of the three nodes, runs by nodes. One record of prior in each cell keeps it finite."""
    net = network_5_6()
    out = []
    for run in range(runs):
        at = seed + 10 * run
        raw = BayesianNetwork(PARENTS_5_6, prior="k2").fit(evidence(net.sample(n, rng=at), net.schema_))
        found = fitted(net, p, n, at, prior="k2")
        out.append([conditional_kl(raw, found, node) for node in NODES])
    return np.array(out)


def measure(fast: bool) -> Found:
    runs = RUNS
    found = {p: distances(p, N, runs) for p in PS}
    rows: list[Row] = []
    for i, node in enumerate(NODES):
        rise = found[0.4][:, i].mean() / found[0.05][:, i].mean()
        rows.append(
            claimed(f"node {node}: distance at p = .4 over that at .05", rise, bool(rise > 1), differs=STAND_IN)
        )
        good = found[0.3][:, i]
        why = "More than a hundredth of a nat: not good."
        rows.append(
            claimed(
                f"node {node}: distance at p = .3, nats (good accuracy)", good, bool(good.mean() < 0.01), why, STAND_IN
            )
        )
        rows += [beside(f"node {node}: distance at p = {p:g}, nats", found[p][:, i]) for p in (0.1, 0.2, 0.4)]
    curves = [Curve(f"node {node}", PS, np.stack([found[p][:, i] for p in PS])) for i, node in enumerate(NODES)]
    return Found(tuple(rows), curves, runs)


def draw(figure: Any, found: Found) -> None:
    (axes,) = panels(figure, 1)
    lines(axes, found.data, log="y")
    axes.set(xlabel="p, the probability of changing a value", ylabel="conditional KL distance, nats")
    legend(figure, axes)


def measure_sizes(fast: bool) -> Found:
    runs, powers = (2, POWERS[::2]) if fast else (RUNS, POWERS)
    sizes = tuple(float(2500 * 2**k) for k in powers)
    rows: list[Row] = []
    shown = []
    for p in LEVELS:
        found = np.stack([distances(p, int(n), runs).mean(1) for n in sizes])  # over the three nodes
        slope = float(np.polyfit(np.log(sizes), np.log(found.mean(1)), 1)[0])
        rows.append(
            claimed(f"p = {p:g}: slope of log distance over log N (-1: as 1/N)", slope, slope < -0.6,
                    "The distance falls more slowly than the theory says.", STAND_IN)
        )  # fmt: skip
        rows += [beside(f"p = {p:g}: mean distance at N = {n:,.0f}, nats", found[i]) for i, n in enumerate(sizes)]
        shown.append(Curve(f"p = {p:g}", sizes, found))
    return Found(tuple(rows), shown, runs)


def draw_sizes(figure: Any, found: Found) -> None:
    (axes,) = panels(figure, 1)
    lines(axes, found.data, log="xy")
    axes.set(xlabel="records N", ylabel="conditional KL distance,\nmean of C, D and F, nats")
    legend(figure, axes, 4)


_NETWORK = Setting("network", "figure 5.6, lost", "our stand-in")
_PRIOR = Setting("prior", "none (maximum likelihood)", "one record in each cell, or the distance may be infinite")
FIGURE5_7 = Figure(
    "ma06_fig5_7",
    "figure 5.7",
    "distance of the learned probabilities against p",
    "Accuracy falls as privacy grows. With 10 000 samples it is still good at p = .3.",
    measure,
    draw,
    (_NETWORK, Setting("records", "10 000"), _PRIOR, Setting("runs", "10", "see below")),
)
FIGURE5_8 = Figure(
    "ma06_fig5_8",
    "figure 5.8",
    "distance of the learned probabilities against N",
    "Sample size plays a key role: with many samples both privacy and accuracy are good (the variance falls as 1/N).",
    measure_sizes,
    draw_sizes,
    (
        _NETWORK,
        Setting("records", "2500 × 2^k, k = 1 … 8"),
        Setting("p", ".1, .2, .3, .4"),
        _PRIOR,
        Setting("runs", "10", "see below"),
    ),
    heavy=True,
)
