"""Ma06 Fig. 5.5: p*, the least p at which the mean absolute error of node D's probabilities exceeds c, against N."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.papers import ma06_panels
from sfumato.papers.ma06_curves import Curve
from sfumato.papers.ma06_exp2 import FIRST, node_d

NS = (1000, 2000, 5000, 10_000, 20_000, 50_000)
BOUNDS = (0.02, 0.04)
PS = tuple(round(0.02 * i, 2) for i in range(1, 24))


def limit(n: int, bound: float, runs: int = 10) -> float:
    """p*, by halving the range in which the error crosses the bound."""
    low, high = 0, len(PS)
    while low < high:
        middle = (low + high) // 2
        error = np.abs(node_d(PS[middle], n, runs, seed=n) - np.array(FIRST["D"])).mean()
        low, high = (low, middle) if error > bound else (middle + 1, high)
    return PS[low] if low < len(PS) else 0.5


def curves(runs: int = 10, ns: Sequence[int] = NS) -> list[Curve]:
    """p* against N for both bounds."""
    return [Curve(f"c = {bound:.0%}", tuple(ns), np.array([[limit(n, bound, runs)] for n in ns])) for bound in BOUNDS]


def report(runs: int = 10, ns: Sequence[int] = NS) -> str:
    """p* grows with N and with c, towards 0.5, as the paper says of its figure; the printed curves are lost."""
    found = curves(runs, ns)
    lines = ["Ma06 Fig. 5.5: p* against N, our stand-in network", "     N   c = 2 %   c = 4 %"]
    lines += [f"{n:6d}    {found[0].mean[i]:5.2f}     {found[1].mean[i]:5.2f}" for i, n in enumerate(ns)]
    return "\n".join(lines)


def draw(path: str | Path, runs: int = 10, ns: Sequence[int] = NS) -> Any:
    """The figure."""
    panel = ma06_panels.Panel("the most randomization for an error of at most c", "N", "p*", curves(runs, ns))
    drawn = ma06_panels.draw(path, [panel])
    drawn.axes[0].set(xscale="log", ylim=(0, 0.5))
    drawn.savefig(str(path), dpi=150)
    return drawn
