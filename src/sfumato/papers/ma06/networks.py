"""Ma06 figures 5.3 and 5.6: the networks of experiments 2 to 4, whose drawings are lost and which ours stand in for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato import channels as c
from sfumato.errors import UnrecoverableWarning, without_warnings
from sfumato.evidence import Evidence, evidence
from sfumato.learn.bayesnet import BayesianNetwork
from sfumato.learn.bayesnet.layout import routed
from sfumato.owner import randomize
from sfumato.pages.chart import ACCENT, INK, PAPER, SOFT, WARM
from sfumato.papers.figure import Figure, Found, Setting, beside, lost
from sfumato.randomness import experiment
from sfumato.schema import Categorical, Schema
from sfumato.scheme import Scheme

Parents = dict[str, tuple[str, ...]]
First = dict[str, list[float]]  # Pr(first value | configuration of the parents), the last parent fastest

PARENTS_5_3: Parents = {"A": (), "B": ("A",), "C": ("A",), "D": ("B", "C"), "E": ("D",), "F": ("C", "D")}
FIRST_5_3: First = {
    "A": [0.6], "B": [0.3, 0.8], "C": [0.7, 0.25], "D": [0.85, 0.3, 0.55, 0.1], "E": [0.75, 0.2],
    "F": [0.9, 0.5, 0.4, 0.15],
}  # fmt: skip
PARENTS_5_6: Parents = {
    "A": (), "B": (), "C": ("A",), "D": ("A", "B"), "E": ("B",), "F": ("C", "D"), "G": ("D", "E"),
}  # fmt: skip
FIRST_5_6: First = {
    "A": [0.55], "B": [0.4], "C": [0.8, 0.3], "D": [0.9, 0.6, 0.35, 0.15], "E": [0.7, 0.25],
    "F": [0.85, 0.5, 0.45, 0.1], "G": [0.75, 0.35, 0.6, 0.2],
}  # fmt: skip
STAND_IN = "network and probabilities: the paper's drawing is lost, ours stands in"


def network_5_3() -> BayesianNetwork:
    """Our stand-in for figure 5.3."""
    return binary_network(PARENTS_5_3, FIRST_5_3)


def network_5_6() -> BayesianNetwork:
    """Our stand-in for figure 5.6."""
    return binary_network(PARENTS_5_6, FIRST_5_6)


def binary_network(parents: Parents, first: First) -> BayesianNetwork:
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
    with without_warnings(UnrecoverableWarning):
        return BayesianNetwork(net.parents_, prior=prior).fit(released(net, p, n, seed))


def draw_network(figure: Any, parents: Mapping[str, tuple[str, ...]], sites: Mapping[str, str], note: str) -> None:
    """Nodes and arcs, parents above children; ``sites`` gives the place of each node, told by the line of its box."""
    axes = figure.subplots()
    places, _ = routed(dict(parents))
    names = list(dict.fromkeys(sites[node] for node in parents))
    looks = dict(zip(names, ((ACCENT, "-"), (WARM, "--"), (SOFT, ":")), strict=False))
    for child, held in parents.items():
        for parent in held:
            axes.annotate(
                "",
                places[child],
                places[parent],
                arrowprops={"arrowstyle": "-|>", "color": SOFT, "shrinkA": 11, "shrinkB": 11, "linewidth": 1.1},
            )
    for node, (x, y) in places.items():
        colour, line = looks[sites[node]]
        axes.text(
            x,
            y,
            node,
            ha="center",
            va="center",
            fontsize=10,
            color=INK,
            bbox={
                "boxstyle": "circle,pad=0.35",
                "facecolor": PAPER,
                "edgecolor": colour,
                "linestyle": line,
                "linewidth": 1.6,
            },
        )
    for name, (colour, line) in looks.items():
        axes.plot([], [], line, color=colour, label=f"site {name}")
    xs, ys = zip(*places.values(), strict=True)
    axes.set(xlim=(min(xs) - 0.7, max(xs) + 0.7), ylim=(max(ys) + 0.6, min(ys) - 0.6))
    axes.axis("off")
    axes.legend(frameon=False, fontsize=8, loc="upper left")
    axes.annotate(note, (0.99, 0.01), xycoords="axes fraction", ha="right", fontsize=8, color=SOFT)


def _entry(number: str, net: str, parents: Parents, first: First, sites: dict[str, str], says: str) -> Figure:
    def measure(fast: bool) -> Found:
        crossing = sum(sites[parent] != sites[node] for node, held in parents.items() for parent in held)
        rows = (
            lost("arcs", "The drawing is lost, and the text names none.", float(sum(map(len, parents.values())))),
            lost("probabilities", "The drawing is lost with its tables.", float(sum(map(len, first.values())))),
            beside("arcs between the two sites in our stand-in", float(crossing)),
        )
        return Found(rows)

    return Figure(
        f"ma06_fig{number.replace('.', '_')}",
        f"figure {number}",
        f"the network of {net}",
        says,
        measure,
        lambda figure, found: draw_network(figure, parents, sites, "our stand-in: the paper's drawing is lost"),
        (Setting("arcs and probabilities", "in the drawing", "ours, chosen before any result was looked at"),),
        size=(4.6, 3.4),
    )


FIGURE5_3 = _entry(
    "5.3",
    "experiment 2",
    PARENTS_5_3,
    FIRST_5_3,
    {n: "1" if n in "ABC" else "2" for n in PARENTS_5_3},
    "Six binary variables: A, B and C at site 1, D, E and F at site 2. D has parents at the other site.",
)
FIGURE5_6 = _entry(
    "5.6",
    "experiment 3",
    PARENTS_5_6,
    FIRST_5_6,
    {n: "1" if n in "ABC" else "2" for n in PARENTS_5_6},
    "Binary variables over two sites; nodes C, D and F are typical.",
)
