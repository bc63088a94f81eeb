"""Ma06 Fig. 5.5: p*, the least p at which the mean absolute error of node D's probabilities exceeds c, against N."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from sfumato.papers.ma06_exp2 import FIRST, node_d

NS = (1000, 2000, 5000, 10_000, 20_000, 50_000)
PS = tuple(round(0.02 * i, 2) for i in range(1, 24))


def limit(n: int, bound: float, runs: int = 10) -> float:
    """p*, by doubling the resolution where the error crosses the bound."""
    low, high = 0, len(PS)
    while low < high:
        middle = (low + high) // 2
        error = np.abs(node_d(PS[middle], n, runs, seed=n) - np.array(FIRST["D"])).mean()
        low, high = (low, middle) if error > bound else (middle + 1, high)
    return PS[low] if low < len(PS) else 0.5


def report(runs: int = 10, ns: Sequence[int] = NS) -> str:
    """p* grows with N and with c, towards 0.5."""
    lines = ["Ma06 Fig. 5.5: p* against N, our stand-in network", "     N   c = 2 %   c = 4 %"]
    lines += [f"{n:6d}    {limit(n, 0.02, runs):5.2f}     {limit(n, 0.04, runs):5.2f}" for n in ns]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(report() + "\n")
