"""Intervals of conditional probabilities cover the truth 95 % of the time, also at rare parents."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.learn.bayesnet.parameters import fit_cpt

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "evidence"))
from test_independence import family_of

CONFIGURATIONS = np.array([0.03, 0.07, 0.3, 0.6])
THETA = np.array([[0.05, 0.25, 0.7], [0.3, 0.3, 0.4], [0.5, 0.1, 0.4], [0.9, 0.08, 0.02]])
SCHEMA = sf.Schema({"j": sf.Categorical(tuple(range(4))), "x": sf.Categorical(tuple(range(3)))})


SKEW = (
    c.matrix([[0.8, 0.1, 0.1, 0.0], [0.05, 0.8, 0.1, 0.05], [0.0, 0.1, 0.85, 0.05], [0.1, 0.0, 0.1, 0.8]]),
    c.matrix([[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.05, 0.2, 0.75]]),
)


def coverage(p: float | None, n: int, method: str, runs: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    chans = SKEW if p is None else [c.symmetric(4, p), c.symmetric(3, p)]
    joint = CONFIGURATIONS[:, None] * THETA
    hits = np.zeros(THETA.shape)
    for _ in range(runs):
        low, high = fit_cpt(family_of(("j", "x"), chans, joint, n, rng)).interval(method=method)
        hits += (low <= THETA) & (high >= THETA)
    return hits / runs


@pytest.mark.parametrize("p, n", [(0.0, 2000), (0.2, 4000), (None, 4000)])
def test_score_intervals_cover(p, n) -> None:
    runs = 400
    found = coverage(p, n, "score", runs, 1)
    noise = np.sqrt(0.95 * 0.05 / runs)
    assert abs(found.mean() - 0.95) < 0.015 + 2 * noise
    assert (np.abs(found - 0.95) < 0.015 + 5 * noise).all()


def test_the_delta_method_fails_where_the_score_interval_holds() -> None:
    """The negative control: at a rare parent and a small probability estimate ± 2 sd covers too rarely."""
    assert coverage(0.0, 2000, "delta", 1500, 2)[0, 0] < 0.90
