"""Ma06 Fig. 5.4: the estimated probabilities of node D against p, mean and mean plus one sd of 10 runs, N = 5000."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.pages.picture import empty_picture, saved
from sfumato.papers.ma06_exp2 import FIRST, node_d

N = 5000
PS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)


def report(runs: int = 10, ps: Sequence[float] = PS) -> str:
    """Means and sds. The paper: almost no error up to p = .25, reasonable up to .3."""
    lines = ["Ma06 Fig. 5.4: Pr(D = 1 | B, C), our stand-in network, N = 5000", f"true   {FIRST['D']}"]
    for p in ps:
        found = node_d(p, N, runs)
        pairs = zip(found.mean(0), found.std(0, ddof=1), strict=True)
        lines.append(f"p = {p:<4} " + "  ".join(f"{mean:6.3f} ({sd:.3f})" for mean, sd in pairs))
    return "\n".join(lines)


def draw(path: str | Path, runs: int = 10) -> Any:
    """The figure."""
    found = np.stack([node_d(p, N, runs) for p in PS])
    figure, axes = empty_picture(5.6, 3.8)
    for i, truth in enumerate(FIRST["D"]):
        color = f"C{i}"
        mean, sd = found[:, :, i].mean(1), found[:, :, i].std(1, ddof=1)
        axes.axhline(truth, color=color, linewidth=0.6, linestyle=":")
        axes.plot(PS, mean, "o-", color=color, markersize=4)
        axes.fill_between(PS, mean - sd, mean + sd, color=color, alpha=0.15, linewidth=0)
    axes.set_ylim(-0.1, 1.1)
    axes.set_xlabel("p")
    axes.set_ylabel("Pr(D = 1 | B, C)")
    axes.set_title(f"estimates, mean ± sd of {runs} runs; dotted: truth", loc="left", fontsize=10)
    return saved(figure, path)
