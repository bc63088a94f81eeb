"""Zhang04 Theorem 1: the effective sample size r and its bound 1 - sum_y min_x p[x -> y], operator by operator."""

from __future__ import annotations

import numpy as np

from sfumato.assess.effective import effective_sample_bound, effective_sample_size, simulate_sample_size
from sfumato.channels import Channel, binary, matrix, subset, symmetric, windows
from sfumato.papers.zhang04 import R2


def erasure(k: int, keep: float) -> Channel:
    """Report the value, or nothing at all: the one operator that meets the bound."""
    return matrix(np.hstack((keep * np.eye(k), np.full((k, 1), 1 - keep))))


OPERATORS: dict[str, Channel] = {
    "Warner, keep .9": binary(0.1, 0.1),
    "Warner, keep .7 (R1)": binary(0.3, 0.3),
    "Warner, keep .6": binary(0.4, 0.4),
    "R2 of Example 1": R2,
    "erasure, keep .4": erasure(2, 0.4),
    "erasure of 6, keep .4": erasure(6, 0.4),
    "symmetric 6, p = .3": symmetric(6, 0.3),
    "symmetric 6, gamma 3": symmetric(6, gamma=3),
    "subset 6, gamma 3": subset(6, 3),
    "windows 6, gamma 3": windows(6, 3),
}


def table(n: int = 2000, trials: int = 300, rng: int = 2004) -> list[tuple[str, float, float, float, float]]:
    """For each operator: the bound, the Fisher value for the cdf, and Definition 1 by simulation with its error."""
    rows = []
    generator = np.random.default_rng(rng)
    for name, channel in OPERATORS.items():
        found = simulate_sample_size(channel, n, trials=trials, rng=generator)
        fisher = effective_sample_size(channel, target="cdf")
        rows.append((name, effective_sample_bound(channel), fisher, found.value, found.se))
    return rows


def report(n: int = 2000, trials: int = 1500) -> str:
    """The paper proves the bound and asks when it is met: only by erasure."""
    rows = [
        f"Zhang04 Theorem 1: effective sample size r against its bound, uniform x, n = {n}",
        f"{'operator':24s}{'bound':>9s}{'Fisher r':>10s}{'Definition 1':>18s}",
    ]
    for name, bound, fisher, value, se in table(n, trials):
        rows.append(f"{name:24s}{bound:9.4f}{fisher:10.4f}{value:11.4f} ± {se:.4f}")
    return "\n".join(rows)
