"""Ma06 experiment 4, figures 5.9 and 5.10: structure learned from randomized data by K2, wrong links and distance."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import UnrecoverableWarning
from sfumato.learn.bayesnet import BayesianNetwork
from sfumato.learn.bayesnet.structure import wrong_links
from sfumato.papers import ma06_panels
from sfumato.papers.ma06_curves import Curve
from sfumato.papers.ma06_exp2 import network, released

FIGURES = ("ma06_fig5_9", "ma06_fig5_10")
N, MAX_PARENTS = 10_000, 3
Rule = Callable[[float], BayesianNetwork]


def variable_eta(p: float) -> float:
    """The paper's threshold for each level of randomization; without any, none."""
    return 1.0 if p == 0 else 0.99 if p <= 0.15 else 0.98 if p <= 0.25 else 0.97


def rule(score: str, eta: float | None = 1.0, penalty: float = 1.0) -> Rule:
    """How to learn at a given level p; eta None is the paper's variable one."""
    order = list(network().schema_.names)

    def make(p: float) -> BayesianNetwork:
        chosen = variable_eta(p) if eta is None else eta
        return BayesianNetwork(
            order=order, max_parents=MAX_PARENTS, score=score, eta=chosen, penalty=penalty, prior="k2"
        )

    return make


def measure(rules: Mapping[str, Rule], p: float, runs: int, n: int = N, seed: int = 0) -> dict[str, Array]:
    """For each rule extra links, missing links and Kullback-Leibler distance, a row per run."""
    true = network()
    out: dict[str, list[list[float]]] = {name: [] for name in rules}
    for run in range(runs):
        seen = released(true, p, n, seed + 10 * run)
        for name, make in rules.items():
            with warnings.catch_warnings(action="ignore", category=UnrecoverableWarning):
                net = make(p).fit(seen)
            extra, missing = wrong_links(net.parents_, true.parents_)
            out[name].append([extra, missing, net.score(true)])
    return {name: np.array(rows) for name, rows in out.items()}


def table(title: str, rules: Mapping[str, Rule], runs: int, ps: Sequence[float]) -> str:
    """Extra + missing links and the distance at each p."""
    lines = [title, "p      " + "  ".join(f"{name:>22}" for name in rules)]
    for p in ps:
        means = (found.mean(0) for found in measure(rules, p, runs).values())
        cells = (f"{e:.1f} + {m:.1f}   KL {k:.4f}" for e, m, k in means)
        lines.append(f"{p:<5}  " + "  ".join(f"{cell:>22}" for cell in cells))
    lines.append("The paper: its wrong links were extra ones, but for one missing link; its curves are lost.")
    return "\n".join(lines)


def draw(path: str | Path, rules: Mapping[str, Rule], runs: int, ps: Sequence[float]) -> Any:
    """Both panels: (a) wrong links, (b) the distance."""
    found = [measure(rules, p, runs) for p in ps]
    links = [Curve(name, tuple(ps), np.stack([one[name][:, :2].sum(1) for one in found])) for name in rules]
    distance = [Curve(name, tuple(ps), np.stack([one[name][:, 2] for one in found])) for name in rules]
    panels = (
        ma06_panels.Panel(f"(a) extra + missing links, {runs} runs", "p", "links", links),
        ma06_panels.Panel("(b) distance from the truth", "p", "KL distance", distance, ("linear", "log")),
    )
    return ma06_panels.draw(path, panels)
