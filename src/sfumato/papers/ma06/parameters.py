"""Ma06 figure 5.1: the approximate density of an estimated probability, for several p and several N."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sfumato import channels as c
from sfumato.evidence import evidence
from sfumato.learn.bayesnet.parameters import CPT, fit_cpt
from sfumato.papers.curves import STYLES, panels
from sfumato.papers.figure import Figure, Found, Row, Setting, beside, claimed, misprint
from sfumato.release import Release
from sfumato.schema import Categorical, Schema
from sfumato.scheme import Scheme

PS, NS = (0.1, 0.2, 0.25, 0.3, 0.35), (2000, 4000, 8000, 16000)


def table(p: float, n: int) -> CPT:
    """Pr(X₁ | X₂) when all four true counts are n / 4 and the released counts are what they are expected to be."""
    schema = Schema({"X2": Categorical(("1", "2")), "X1": Categorical(("1", "2"))})
    scheme = Scheme(schema, {name: c.symmetric(2, p) for name in schema})
    codes = np.arange(n) % 4
    release = Release(pa.table({"X2": (codes // 2).astype(np.uint8), "X1": (codes % 2).astype(np.uint8)}), scheme)
    return fit_cpt(evidence(release).counts(["X2", "X1"], quiet=True))


def given(p: float, n: int) -> float:
    """The sd of the estimate given the table."""
    return float(table(p, n).sd(population=False)[0, 0])


def measure(fast: bool) -> Found:
    by_p, by_n = [given(p, 8000) for p in PS], [given(0.25, n) for n in NS]
    asked = given(0.25, 8000)
    rows: list[Row] = [
        claimed("sd at p = .35 over sd at p = .1, N = 8000", by_p[-1] / by_p[0], bool((np.diff(by_p) > 0).all())),
        claimed("sd at N = 2000 over sd at N = 16 000, p = .25", by_n[0] / by_n[-1], bool((np.diff(by_n) < 0).all())),
        misprint(
            "sd at p = .25, N = 8000; the printed formula gives twice that",
            2 * asked,
            asked,
            "The printed variance divides by N_ijk², where N_ij² is right: here N_ij = 2 N_ijk.",
        ),
        beside("the same, unconditional", float(table(0.25, 8000).sd()[0, 0])),
        *(beside(f"sd at p = {p:g}, N = 8000", sd) for p, sd in zip(PS, by_p, strict=True)),
        *(beside(f"sd at p = .25, N = {n}", sd) for n, sd in zip(NS, by_n, strict=True)),
    ]
    return Found(tuple(rows))


def draw(figure: Any, found: Found) -> None:
    left, right = panels(figure, 2)
    w = np.linspace(0.38, 0.62, 300)
    for axes, settings, title in (
        (left, [(p, 8000, f"p = {p}") for p in PS], "(a) N = 8000"),
        (right, [(0.25, n, f"N = {n}") for n in NS], "(b) p = 0.25"),
    ):
        for (p, n, label), (colour, dash, _) in zip(settings, STYLES, strict=False):
            density = table(p, n).density((0, 0), population=False).pdf(w)
            axes.plot(w, density, dash, color=colour, label=label, linewidth=1.3)
        axes.set(title=title, xlabel="estimate of θ = 0.5")
        axes.legend(frameon=False, fontsize=8)
    left.set_ylabel("density")


FIGURE5_1 = Figure(
    "ma06_fig5_1",
    "figure 5.1",
    "the approximate distribution of an estimated probability",
    "The variance of the estimator grows with p and falls with the sample size.",
    measure,
    draw,
    (
        Setting("network", "X2 → X1, binary, all four counts equal"),
        Setting("values of p and N", "not printed, but N = 8000 in (a) and p = .25 in (b)", "those of the picture"),
    ),
    size=(7.6, 3.4),
)
