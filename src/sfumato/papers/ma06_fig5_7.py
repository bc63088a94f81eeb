"""Ma06 Fig. 5.7: conditional Kullback-Leibler distance of nodes C, D and F against p, N = 10 000, 10 runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.papers import ma06_panels
from sfumato.papers.ma06_curves import Curve
from sfumato.papers.ma06_exp3 import NODES, distances

PS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)


def curves(runs: int = 10, ps: Sequence[float] = PS) -> list[Curve]:
    """A curve per node."""
    found = np.stack([distances(p, 10_000, runs) for p in ps])
    return [Curve(f"node {node}", tuple(ps), found[:, :, i]) for i, node in enumerate(NODES)]


def report(runs: int = 10, ps: Sequence[float] = PS) -> str:
    """Mean and sd of the distance. The paper: good accuracy still at p = .3; its curves are lost."""
    found = curves(runs, ps)
    lines = ["Ma06 Fig. 5.7: conditional KL distance, our stand-in network, N = 10 000"]
    lines.append("p         " + "            ".join(NODES))
    for i, p in enumerate(ps):
        lines.append(f"{p:<5} " + "  ".join(f"{curve.mean[i]:.5f} ({curve.sd[i]:.5f})" for curve in found))
    return "\n".join(lines)


def draw(path: str | Path, runs: int = 10, ps: Sequence[float] = PS) -> Any:
    """The figure."""
    title = f"N = 10 000, mean ± sd of {runs} runs"
    panel = ma06_panels.Panel(title, "p", "conditional KL distance", curves(runs, ps), ("linear", "log"))
    return ma06_panels.draw(path, [panel])
