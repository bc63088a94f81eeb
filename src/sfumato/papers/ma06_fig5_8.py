"""Ma06 Fig. 5.8: conditional Kullback-Leibler distance against the number of records, N = 2500 x 2^k."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.papers import ma06_panels
from sfumato.papers.ma06_curves import Curve
from sfumato.papers.ma06_exp3 import NODES, distances

POWERS = range(1, 9)
PS = (0.1, 0.2, 0.3, 0.4)


def curves(runs: int, powers: Sequence[int], p: float) -> list[Curve]:
    """A curve per node."""
    sizes = tuple(2500 * 2**k for k in powers)
    found = np.stack([distances(p, n, runs) for n in sizes])
    return [Curve(f"node {node}", sizes, found[:, :, i]) for i, node in enumerate(NODES)]


def report(runs: int = 10, powers: Sequence[int] = POWERS, ps: Sequence[float] = PS) -> str:
    """The mean distance falls like 1 / N at every p, as section 5.4 of the paper says; its curves are lost."""
    lines = ["Ma06 Fig. 5.8: mean conditional KL distance of C, D, F, our stand-in network"]
    for p in ps:
        lines.append(f"p = {p}:  N          " + "         ".join(NODES))
        found = curves(runs, powers, p)
        for i, n in enumerate(found[0].p):
            lines.append(f"        {n:7d}   " + "  ".join(f"{curve.mean[i]:.6f}" for curve in found))
    return "\n".join(lines)


def draw(path: str | Path, runs: int = 10, powers: Sequence[int] = POWERS, ps: Sequence[float] = PS) -> Any:
    """The figure, a panel per p."""
    panels = [
        ma06_panels.Panel(
            f"p = {p}", "N", "conditional KL distance" if p == ps[0] else "", curves(runs, powers, p), ("log", "log")
        )
        for p in ps
    ]
    return ma06_panels.draw(path, panels)
