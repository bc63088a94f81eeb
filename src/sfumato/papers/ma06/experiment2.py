"""Ma06 figures 5.4 and 5.5: the probabilities of node D as randomization grows, and how much of it a bound allows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.papers.curves import STYLES, Curve, legend, lines, panels
from sfumato.papers.figure import Figure, Found, Row, Setting, beside, claimed
from sfumato.papers.ma06.networks import FIRST_5_3, STAND_IN, fitted, network_5_3
from sfumato.printable import percentage

N = 5000
PS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)
TRUTH = np.array(FIRST_5_3["D"])
SIZES = (1000, 2000, 5000, 10_000, 20_000, 50_000)
BOUNDS = (0.02, 0.04)
GRID = tuple(round(0.02 * i, 2) for i in range(1, 24))


def node_d(p: float, n: int, runs: int, seed: int = 0) -> Array:
    """The raw estimates of Pr(D = 1 | B, C), runs by configurations."""
    nets = [fitted(network_5_3(), p, n, seed + 10 * run) for run in range(runs)]
    return np.stack([net.cpt("D").raw[..., 0].reshape(-1) for net in nets])


def measure(fast: bool) -> Found:
    runs = 10
    found = {p: node_d(p, N, runs) for p in PS}
    error = {p: np.abs(found[p].mean(0) - TRUTH).mean() for p in PS}
    rows: list[Row] = [
        claimed(
            "p = .25: mean |mean of ten runs - truth| (almost no error)",
            error[0.25],
            bool(error[0.25] < 0.03),
            differs=STAND_IN,
        ),
        claimed("p = .3: the same (reasonably good)", error[0.3], bool(error[0.3] < 0.06), differs=STAND_IN),
        beside(
            "p = .25: mean |estimate - truth| of a single run",
            np.abs(found[0.25] - TRUTH).mean(1),
            "A single run errs more than the mean of ten, which the paper draws.",
        ),
        beside("p = .3: the same", np.abs(found[0.3] - TRUTH).mean(1)),
    ]
    rows += [
        beside(f"p = {p:g}: Pr(D = 1 | B, C) in configuration {i + 1} (truth {TRUTH[i]:g})", found[p][:, i])
        for p in (0.1, 0.25, 0.4)
        for i in range(4)
    ]
    curves = [Curve(f"configuration {i + 1}", PS, np.stack([found[p][:, i] for p in PS])) for i in range(4)]
    return Found(tuple(rows), curves, runs)


def draw(figure: Any, found: Found) -> None:
    (axes,) = panels(figure, 1)
    lines(axes, found.data)
    for truth, (colour, _, _) in zip(TRUTH, STYLES, strict=False):
        axes.axhline(truth, color=colour, linewidth=0.6, linestyle=":")
    axes.set(xlabel="p, the probability of changing a value", ylabel="Pr(D = 1 | B, C)", ylim=(-0.1, 1.1))
    axes.set_title("mean ± sd of ten runs; dotted: truth", fontsize=8.5)
    legend(figure, axes, 4)


def limit(n: int, bound: float, runs: int = 10) -> float:
    """p*, by halving the range in which the mean absolute error crosses the bound."""
    low, high = 0, len(GRID)
    while low < high:
        middle = (low + high) // 2
        error = np.abs(node_d(GRID[middle], n, runs, seed=n) - TRUTH).mean()
        low, high = (low, middle) if error > bound else (middle + 1, high)
    return GRID[low] if low < len(GRID) else 0.5


def measure_limits(fast: bool, sizes: Sequence[int] | None = None) -> Found:
    runs = 3 if fast else 10
    sizes = sizes or (SIZES[::2] if fast else SIZES)
    curves = [
        Curve(f"c = {percentage(bound)}", tuple(map(float, sizes)), np.array([[limit(n, bound, runs)] for n in sizes]))
        for bound in BOUNDS
    ]
    rows: list[Row] = []
    for curve in curves:
        rise = float(curve.mean[-1] - curve.mean[0])
        rows.append(
            claimed(
                f"{curve.label}: p* at N = {sizes[-1]} minus p* at N = {sizes[0]}", rise, rise > 0, differs=STAND_IN
            )
        )
        rows += [beside(f"{curve.label}: p* at N = {n}", curve.mean[i]) for i, n in enumerate(sizes)]
    gap = float((curves[1].mean - curves[0].mean).min())
    rows.insert(
        0, claimed("smallest p*(4 %) - p*(2 %) over N", gap, gap >= 0, "The larger bound allows less.", STAND_IN)
    )
    return Found(tuple(rows), curves, runs)


def draw_limits(figure: Any, found: Found) -> None:
    (axes,) = panels(figure, 1)
    lines(axes, found.data, log="x")
    axes.set(xlabel="records N", ylabel="p*", ylim=(0, 0.5))
    axes.legend(frameon=False)


_NETWORK = Setting("network", "figure 5.3, lost", "our stand-in")
FIGURE5_4 = Figure(
    "ma06_fig5_4",
    "figure 5.4",
    "the probabilities of node D against p",
    "For p up to .25 the parameters are estimated with almost no error; up to .3 the estimates are reasonably good.",
    measure,
    draw,
    (_NETWORK, Setting("records", "5000"), Setting("runs", "10")),
)
FIGURE5_5 = Figure(
    "ma06_fig5_5",
    "figure 5.5",
    "the most randomization for a given error",
    "p*, the smallest p at which the error exceeds c, grows with the sample size towards .5.",
    measure_limits,
    draw_limits,
    (
        _NETWORK,
        Setting("c", "2 % and 4 %"),
        Setting("error", "absolute, which of the probabilities is not said", "mean over the four probabilities of D"),
        Setting("sizes N", "not printed", "1000 to 50 000"),
        Setting("runs", "10", "see below"),
    ),
    heavy=True,
)
