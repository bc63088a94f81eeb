"""Ma06 figure 7.3: gamma of a group of items, randomized together against one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.channels import product, symmetric
from sfumato.papers.curves import Curve, legend, lines, panels
from sfumato.papers.figure import Figure, Found, Row, Setting, claimed, printed

P = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)


def gammas(size: int, p: float) -> tuple[float, float]:
    """Together, and one by one with the same change of each item."""
    together = symmetric((2,) * size, p)
    return together.gamma, product([together.marginal([0])] * size).gamma


def formulas(size: int, p: float) -> tuple[float, float]:
    """As printed: (2^|G| - 1)(1 - p)/p, and ((1 - q)/q)^|G| with q = p 2^(|G| - 1) / (2^|G| - 1)."""
    q = p * 2 ** (size - 1) / (2**size - 1)
    return (2**size - 1) * (1 - p) / p, ((1 - q) / q) ** size


def measure(fast: bool) -> Found:
    rows: list[Row] = []
    curves = []
    for size in (2, 3):
        found = np.array([gammas(size, p) for p in P])
        ratio = found[:, 1] / found[:, 0]
        rows.append(
            claimed(f"|G| = {size}: least of one by one / together over p", float(ratio.min()), bool((ratio > 1).all()))
        )
        for p, (together, apart) in zip(P, found, strict=True):
            one, other = formulas(size, p)
            rows.append(printed(f"|G| = {size}, p = {p:g}: together", one, together, within=1e-5 * one, runs=None))
            rows.append(printed(f"|G| = {size}, p = {p:g}: one by one", other, apart, within=1e-5 * other, runs=None))
        curves += [Curve(f"{size} items together", P, found[:, :1]), Curve(f"{size} items one by one", P, found[:, 1:])]
    return Found(tuple(rows), curves)


def draw(figure: Any, found: Found) -> None:
    (axes,) = panels(figure, 1)
    lines(axes, found.data, log="y")
    axes.set(xlabel="p, the probability of changing the group", ylabel="gamma")
    legend(figure, axes, 2)


FIGURE7_3 = Figure(
    "ma06_fig7_3",
    "figure 7.3",
    "gamma of a group of items",
    "Randomizing a group of items together reduces their simultaneous gamma significantly.",
    measure,
    draw,
    (Setting("p", "not printed", ".1 to .6"), Setting("the paper's values", "its closed forms, evaluated")),
)
