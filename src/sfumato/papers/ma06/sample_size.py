"""Ma06 figure 3.4: accuracy against privacy for several sample sizes; two five-valued variables, and two triangles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.assess.distances import kl
from sfumato.channels import product, symmetric
from sfumato.evidence import mle
from sfumato.papers.curves import Curve, lines, panels
from sfumato.papers.figure import Figure, Found, Row, Setting, beside, claimed
from sfumato.papers.ma06.joint import TABLE
from sfumato.papers.ma06.triangles import BASE

KEEPS_A, SIZES_A = (0.25, 0.35, 0.5, 0.65, 0.8, 0.95), (1000, 4000, 16_000, 32_000)
KEEPS_B, SIZES_B = (0.1, 0.2, 0.3, 0.5, 0.75, 1.0), (25_000, 100_000, 400_000)
CELLS = 39  # the thesis' own discretization of 100,000 values ends with 39 groups


def distances_a(
    keeps: Sequence[float] = KEEPS_A, sizes: Sequence[int] = SIZES_A, runs: int = 5, rng: int = 34
) -> Array:
    """The KL distance in bits from the true to the estimated joint distribution, sizes by keeps by runs.

    The likelihood often puts cells at zero, where the distance would be infinite: they are held at 1e-6.
    """
    generator = np.random.default_rng(rng)
    truth = TABLE.reshape(-1)
    out = np.zeros((len(sizes), len(keeps), runs))
    for j, keep in enumerate(keeps):
        operator = product([symmetric(5, 1 - keep)] * 2).transition
        released = operator.T.apply(truth)
        for i, n in enumerate(sizes):
            found = []
            for _ in range(runs):
                seen = generator.multinomial(n, released).astype(np.float64)
                fitted = np.maximum(mle.fit(operator, seen, tolerance=1e-5, most=2000).theta, 1e-6)
                found.append(kl(truth, fitted / fitted.sum()))
            out[i, j] = found
    return out


def two_triangles(x: Array) -> Array:
    """Two triangles of equal weight side by side, as in figure 2.3."""
    height = 1 / BASE
    left, right = (1 - np.abs(x - centre) / (BASE / 2) for centre in (BASE / 2, 3 * BASE / 2))
    return height * (np.maximum(left, 0) + np.maximum(right, 0))


def distances_b(
    keeps: Sequence[float] = KEEPS_B, sizes: Sequence[int] = SIZES_B, runs: int = 3, rng: int = 35
) -> Array:
    """int |f - f^| for the two triangles in equal cells, heights divided by the cell width: sizes by keeps by runs."""
    generator = np.random.default_rng(rng)
    edges = np.linspace(0, 2 * BASE, CELLS + 1)
    fine = np.linspace(0, 2 * BASE, CELLS * 50 + 1)
    middle = (fine[1:] + fine[:-1]) / 2
    density = two_triangles(middle)
    mass = density.reshape(CELLS, 50).sum(axis=1)
    mass = mass / mass.sum()
    width, step = edges[1] - edges[0], fine[1] - fine[0]
    out = np.zeros((len(sizes), len(keeps), runs))
    for j, keep in enumerate(keeps):
        operator = symmetric(CELLS, 1 - keep).transition
        released = operator.T.apply(mass)
        for i, n in enumerate(sizes):
            found = []
            for _ in range(runs):
                fitted = mle.fit(operator, generator.multinomial(n, released).astype(np.float64)).theta
                found.append(float(np.abs(density - np.repeat(fitted / width, 50)).sum() * step))
            out[i, j] = found
    return out


def measure(fast: bool) -> Found:
    runs = 3 if fast else 10
    left, right = distances_a(runs=runs), distances_b(runs=runs)
    rows: list[Row] = []
    for name, sizes, keeps, found in (
        ("(a) KL distance, bits", SIZES_A, KEEPS_A, left),
        ("(b) ∫ |f - f^|", SIZES_B, KEEPS_B, right),
    ):
        ratio = found[0].mean(-1) / found[-1].mean(-1)
        few, many = sizes[0], sizes[-1]
        rows.append(
            claimed(
                f"{name}: least ratio of N = {few} to N = {many} over p",
                float(ratio[:-1].min()),
                bool((ratio[:-1] > 1).all()),
            )
        )
        rows += [
            beside(f"{name}: N = {n}, kept {keep:g}", found[i, j])
            for i, n in enumerate(sizes)
            for j, keep in enumerate(keeps)
            if j in (1, 3)
        ]
    curves = [
        [Curve(f"N = {n:,}", keeps, found[i]) for i, n in enumerate(sizes)]
        for sizes, keeps, found in ((SIZES_A, KEEPS_A, left), (SIZES_B, KEEPS_B, right))
    ]
    return Found(tuple(rows), curves, runs)


def draw(figure: Any, found: Found) -> None:
    left, right = panels(figure, 2)
    for axes, curves in zip((left, right), found.data, strict=True):
        lines(axes, curves, log="y")
        axes.set(xlabel="1 - p, the probability of keeping")
        axes.legend(frameon=False, fontsize=8)
    left.set(title="(a) two variables of five values", ylabel="KL distance, bits")
    right.set(title="(b) two triangles", ylabel="∫ |f - f^|")


FIGURE3_4 = Figure(
    "ma06_fig3_4",
    "figure 3.4",
    "accuracy and privacy for several sample sizes",
    "Sample size is the key to the trade-off: if it is large enough, both accuracy and privacy can be achieved.",
    measure,
    draw,
    (
        Setting(
            "(a)",
            "table 2.1, 1 - p from .25 to .95, N from 1000 to 32 000",
            "cells at zero are held at 1e-6, or KL is infinite",
        ),
        Setting("(b)", "two triangles, 1 - p from .1 to 1, N from 25 000 to 400 000, cells by MGAS", "39 equal cells"),
        Setting("runs", "not printed", "see below"),
    ),
    size=(7.6, 3.4),
    heavy=True,
)
