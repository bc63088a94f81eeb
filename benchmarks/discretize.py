"""MGAS against sorting the same numbers, which it cannot do without."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.owner.discretize import mgas

from .harness import Case, benchmark


@benchmark
def line() -> Iterator[Case]:
    """A million distinct values: normal ones, and ones with growing gaps (the slowest order to merge)."""
    drawn = np.random.default_rng(1).normal(size=1_000_000)
    growing = np.cumsum(np.arange(1_000_000, dtype=np.float64))
    yield Case(
        "mgas of 10^6 values, normal",
        ours=lambda: mgas(drawn, 1500, 1e-3),
        reference=lambda: np.sort(drawn),
        against="numpy.sort",
        goal=12,
        peak_goal=250,
    )
    yield Case(
        "mgas of 10^6 values, growing gaps",
        ours=lambda: mgas(growing, 1500, 1e3),
        reference=lambda: np.sort(growing),
        against="numpy.sort",
        goal=60,
    )


@benchmark
def space() -> Iterator[Case]:
    """Ten thousand points of the plane."""
    points = np.random.default_rng(1).normal(size=(10_000, 2))
    yield Case("mgas of 10^4 points", ours=lambda: mgas(points, 100, 0.25), goal=3, repeat=3)
