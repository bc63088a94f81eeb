"""Ma06 Fig. 5.8: conditional Kullback-Leibler distance against the number of records, N = 2500 x 2^k."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sfumato.papers.ma06_exp3 import NODES, distances

POWERS = range(1, 9)
PS = (0.1, 0.2, 0.3, 0.4)


def report(runs: int = 10, powers: Sequence[int] = POWERS, ps: Sequence[float] = PS) -> str:
    """The mean distance falls like 1 / N at every p."""
    lines = ["Ma06 Fig. 5.8: mean conditional KL distance of C, D, F, our stand-in network"]
    for p in ps:
        lines.append(f"p = {p}:  N          " + "         ".join(NODES))
        for k in powers:
            mean = distances(p, 2500 * 2**k, runs).mean(0)
            lines.append(f"        {2500 * 2**k:7d}   " + "  ".join(f"{value:.6f}" for value in mean))
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(report() + "\n")
