"""Ma06 figure 3.2: the pairs of prior and posterior belief that gamma-amplification allows."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.assess.breach import rho2
from sfumato.pages.chart import SOFT
from sfumato.papers.curves import STYLES, panels
from sfumato.papers.figure import Figure, Found, Setting, printed

GAMMAS = (1.5, 3.0, 9.0, 19.0, 49.0)
BELIEFS = (0.01, 0.05, 0.1, 0.25, 0.5)


def measure(fast: bool) -> Found:
    """rho2* solves rho2 (1 - rho1) / (rho1 (1 - rho2)) = gamma, the printed equation."""
    rows = []
    for gamma in GAMMAS:
        for prior in BELIEFS:
            odds = gamma * prior / (1 - prior)
            rows.append(
                printed(
                    f"γ = {gamma:g}, ρ1 = {prior:g}: ρ2*",
                    odds / (1 + odds),
                    float(rho2(gamma, prior)),
                    within=1e-9,
                    runs=None,
                )
            )
    return Found(tuple(rows))


def draw(figure: Any, found: Found) -> None:
    (axes,) = panels(figure, 1)
    prior = np.linspace(0, 1, 201)
    axes.plot(prior, prior, color=SOFT, ls=":", label="γ = 1")
    for gamma, (colour, dash, _) in zip(GAMMAS, STYLES, strict=False):
        axes.plot(prior, rho2(gamma, prior), dash, color=colour, label=f"γ = {gamma:g}")
    axes.set(xlabel="prior belief ρ1", ylabel="highest posterior belief ρ2*", xlim=(0, 1), ylim=(0, 1.01))
    axes.legend(frameon=False, fontsize=8, loc="lower right")


FIGURE3_2 = Figure(
    "ma06_fig3_2",
    "figure 3.2",
    "pairs of prior and highest posterior belief",
    "For a given γ and prior belief ρ1 no posterior belief above ρ2* is possible: ρ2*(1 - ρ1) / (ρ1(1 - ρ2*)) = γ.",
    measure,
    draw,
    (Setting("values of γ", "several, not printed", "1.5, 3, 9, 19, 49"),),
    size=(5.2, 3.8),
)
