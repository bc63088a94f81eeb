"""Ma06 figure 7.3: gamma of a group of items, randomized together against one by one.

together  γ = (2^|G| - 1)(1 - p) / p,        one by one with the same change of each item  γ = (γ of one item)^|G|
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sfumato.channels import product, symmetric
from sfumato.papers.ma06_curves import Curve, plot

P = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)


def gammas(size: int, p: float) -> tuple[float, float]:
    """Together and one by one."""
    together = symmetric((2,) * size, p)
    return together.gamma, product([together.marginal([0])] * size).gamma


def figure() -> list[Curve]:
    """The four curves."""
    out = []
    for size in (2, 3):
        found = np.array([gammas(size, p) for p in P])
        out.append(Curve(f"{size} items together", P, found[:, :1]))
        out.append(Curve(f"{size} items one by one", P, found[:, 1:]))
    return out


def draw(path: str | Path) -> Any:
    """The picture, with a logarithmic axis."""
    drawn = plot(figure(), None, "Gamma of a group of items", "gamma")
    drawn.axes[0].set_yscale("log")
    drawn.savefig(str(path), dpi=150)
    return drawn


def report() -> str:
    """Exact values; the paper's closed forms are right here."""
    lines = ["Ma06 figure 7.3: gamma of a group of items, together / one by one"]
    for size in (2, 3):
        cells = "  ".join(f"p={p:g}: {gammas(size, p)[0]:.2f} / {gammas(size, p)[1]:.2f}" for p in P)
        lines.append(f"  |G| = {size}   {cells}")
    return "\n".join(lines)
