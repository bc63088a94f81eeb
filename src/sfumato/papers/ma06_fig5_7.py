"""Ma06 Fig. 5.7: conditional Kullback-Leibler distance of nodes C, D and F against p, N = 10 000, 10 runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sfumato.papers.ma06_exp3 import NODES, distances

PS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4)


def report(runs: int = 10, ps: Sequence[float] = PS) -> str:
    """Mean and sd of the distance. The paper: still small at p = .3."""
    lines = ["Ma06 Fig. 5.7: conditional KL distance, our stand-in network, N = 10 000"]
    lines.append("p         " + "            ".join(NODES))
    for p in ps:
        found = distances(p, 10_000, runs)
        pairs = zip(found.mean(0), found.std(0, ddof=1), strict=True)
        lines.append(f"{p:<5} " + "  ".join(f"{mean:.5f} ({sd:.5f})" for mean, sd in pairs))
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(report() + "\n")
