"""Ma06 Fig. 3.2: the pairs (rho1, rho2*) that gamma-amplification allows, for several gammas."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.assess.breach import rho2
from sfumato.pages.picture import empty_picture, saved

GAMMAS = (1.5, 3.0, 9.0, 19.0, 49.0)


def draw(path: Any) -> None:
    """One curve per gamma."""
    drawing, axes = empty_picture(4.8, 3.6)
    prior = np.linspace(0, 1, 201)
    axes.plot(prior, prior, color="#8b867d", ls=":", label="γ = 1")
    for shade, gamma in zip(np.linspace(0.35, 1.0, len(GAMMAS)), GAMMAS, strict=True):
        axes.plot(prior, rho2(gamma, prior), color=(0.18, 0.42, 0.56, shade), label=f"γ = {gamma:g}")
    axes.set(xlabel="prior belief ρ₁", ylabel="highest posterior belief ρ₂*", xlim=(0, 1), ylim=(0, 1.01))
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    saved(drawing, path)


def report() -> str:
    """rho2* on a grid of prior beliefs."""
    beliefs = (0.01, 0.05, 0.1, 0.25, 0.5)
    rows = ["Ma06 Fig. 3.2: highest posterior belief rho2*", "gamma    " + "".join(f"rho1={b:<7g}" for b in beliefs)]
    rows += [f"{gamma:<9g}" + "".join(f"{rho2(gamma, b):<12.4f}" for b in beliefs) for gamma in GAMMAS]
    return "\n".join(rows)
