"""Ma06 experiment 3, figures 5.7 and 5.8: privacy against accuracy. And Figure 5.6's network.

The drawing and the tables of figure 5.6 are lost: binary nodes over two sites, of which C, D and F are looked at. The
arcs and numbers here are ours.
"""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence import evidence
from sfumato.learn.bayesnet import BayesianNetwork
from sfumato.papers.ma06_exp2 import binary_network, fitted

FIGURES = ("ma06_fig5_7", "ma06_fig5_8")
PARENTS: dict[str, tuple[str, ...]] = {
    "A": (), "B": (), "C": ("A",), "D": ("A", "B"), "E": ("B",), "F": ("C", "D"), "G": ("D", "E"),
}  # fmt: skip
FIRST: dict[str, list[float]] = {
    "A": [0.55], "B": [0.4], "C": [0.8, 0.3], "D": [0.9, 0.6, 0.35, 0.15], "E": [0.7, 0.25],
    "F": [0.85, 0.5, 0.45, 0.1], "G": [0.75, 0.35, 0.6, 0.2],
}  # fmt: skip
NODES = ("C", "D", "F")


def network() -> BayesianNetwork:
    """Our stand-in for figure 5.6."""
    return binary_network(PARENTS, FIRST)


def conditional_kl(raw: BayesianNetwork, learned: BayesianNetwork, node: str) -> float:
    """Σ_j P(pa = j) KL(P⁰(x | j), Pᵖ(x | j)), the first learned without randomization."""
    zero, found = raw.cpt(node), learned.cpt(node)
    weight = zero.counts.sum(-1) / zero.counts.sum()
    return float((weight * (zero.values * np.log(zero.values / found.values)).sum(-1)).sum())


def distances(p: float, n: int, runs: int, seed: int = 0) -> Array:
    """The distance of each of the three nodes, runs by nodes. One record of prior in each cell keeps it finite."""
    net = network()
    out = []
    for run in range(runs):
        at = seed + 10 * run
        raw = BayesianNetwork(PARENTS, prior="k2").fit(evidence(net.sample(n, rng=at), net.schema_))
        found = fitted(net, p, n, at, prior="k2")
        out.append([conditional_kl(raw, found, node) for node in NODES])
    return np.array(out)
