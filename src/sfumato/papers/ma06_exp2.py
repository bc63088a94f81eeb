"""Ma06 experiment 2, figures 5.4 and 5.5: the probabilities of node D as randomization grows. And Figure 5.3's network.

The drawing and the tables of figure 5.3 are lost: six binary nodes, A to C at site 1 and D to F at site 2, D with
parents at the other site. The arcs and numbers here are ours.
"""

from __future__ import annotations

import warnings

import numpy as np

from sfumato import channels as c
from sfumato.arrays import Array
from sfumato.errors import UnrecoverableWarning
from sfumato.evidence import Evidence, evidence
from sfumato.learn.bayesnet import BayesianNetwork
from sfumato.owner import randomize
from sfumato.randomness import experiment
from sfumato.schema import Categorical, Schema
from sfumato.scheme import Scheme

FIGURES = ("ma06_fig5_4", "ma06_fig5_5")
PARENTS: dict[str, tuple[str, ...]] = {
    "A": (), "B": ("A",), "C": ("A",), "D": ("B", "C"), "E": ("D",), "F": ("C", "D"),
}  # fmt: skip
FIRST: dict[str, list[float]] = {
    "A": [0.6], "B": [0.3, 0.8], "C": [0.7, 0.25], "D": [0.85, 0.3, 0.55, 0.1], "E": [0.75, 0.2],
    "F": [0.9, 0.5, 0.4, 0.15],
}  # fmt: skip


def network() -> BayesianNetwork:
    """Our stand-in for figure 5.3."""
    return binary_network(PARENTS, FIRST)


def binary_network(parents: dict[str, tuple[str, ...]], first: dict[str, list[float]]) -> BayesianNetwork:
    """A network of binary nodes from Pr(first value | configuration)."""
    schema = Schema({node: Categorical(("1", "2")) for node in parents})
    tables = {}
    for node, held in parents.items():
        p = np.reshape(first[node], [2] * len(held))
        tables[node] = np.stack([p, 1 - p], axis=-1)
    return BayesianNetwork.of(schema, parents, tables)


def released(net: BayesianNetwork, p: float, n: int, seed: int) -> Evidence:
    """Evidence from n records, every attribute under the symmetric channel with p."""
    scheme = Scheme(net.schema_, {name: c.symmetric(domain.size, p) for name, domain in net.schema_.items()})
    return evidence(randomize(net.sample(n, rng=seed), scheme, rng=experiment(seed + 1)))


def fitted(net: BayesianNetwork, p: float, n: int, seed: int, prior: str = "ml") -> BayesianNetwork:
    """The probabilities learned in one run."""
    with warnings.catch_warnings(action="ignore", category=UnrecoverableWarning):
        return BayesianNetwork(net.parents_, prior=prior).fit(released(net, p, n, seed))


def node_d(p: float, n: int, runs: int, seed: int = 0) -> Array:
    """The raw estimates of Pr(D = 1 | B, C), runs by configurations."""
    nets = [fitted(network(), p, n, seed + 10 * run) for run in range(runs)]
    return np.stack([net.cpt("D").raw[..., 0].reshape(-1) for net in nets])
