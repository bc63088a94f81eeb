"""Draws are what they claim to be, from the secure source and from a seeded one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sfumato import randomness
from sfumato.errors import SfumatoError
from sfumato.owner.resample import kernel
from sfumato.randomness import source

N = 400_000


def epanechnikov_cdf(u):
    return 0.5 + 0.75 * (u - u**3 / 3)


@pytest.mark.parametrize("rng", [7, None])
def test_epanechnikov_draws_follow_their_density(rng):
    drawn = kernel.epanechnikov(source(rng), N)
    assert np.abs(drawn).max() <= 1
    assert stats.kstest(drawn, epanechnikov_cdf).statistic < 2.7 / np.sqrt(N)  # beyond 1 in a million


def test_a_uniform_draw_would_be_told_from_epanechnikov():
    drawn = 2 * randomness.uniforms(source(7), N) - 1
    assert stats.kstest(drawn, epanechnikov_cdf).statistic > 2.7 / np.sqrt(N)


def test_epanechnikov_moments():
    drawn = kernel.epanechnikov(source(1), 2_000_000)
    assert abs(drawn.mean()) < 5 * np.sqrt(0.2 / len(drawn))
    assert drawn.var() == pytest.approx(1 / 5, abs=1e-3)
    assert (drawn**4).mean() / drawn.var() ** 2 == pytest.approx(15 / 7, abs=0.01)


@pytest.mark.parametrize("rng", [3, None])
def test_normal_draws_follow_their_density(rng):
    drawn = randomness.normals(source(rng), N + 1)
    assert len(drawn) == N + 1
    assert stats.kstest(drawn, "norm").statistic < 2.7 / np.sqrt(N)
    assert stats.kstest(1.02 * drawn, "norm").statistic > 2.7 / np.sqrt(N)


def test_uniforms_never_reach_the_ends():
    class Extreme:
        def __init__(self, byte):
            self.byte = byte

        def fill(self, buffer):
            buffer[:] = self.byte

    assert randomness.uniforms(Extreme(0), 3).min() > 0
    assert randomness.uniforms(Extreme(255), 3).max() < 1
    assert randomness.integers(Extreme(255), 10, 3).max() == 9
    assert np.isfinite(randomness.normals(Extreme(0), 4)).all()
    assert np.isfinite(randomness.normals(Extreme(255), 4)).all()


def test_integers_are_uniform():
    counts = np.bincount(randomness.integers(source(5), 7, 70_000), minlength=7)
    assert stats.chisquare(counts).pvalue > 1e-6
    assert stats.chisquare(counts + np.array([1500, 0, 0, 0, 0, 0, 0])).pvalue < 1e-6


def test_scott_is_the_papers_bandwidth():
    assert kernel.scott(576, 8) == pytest.approx(0.5455, abs=5e-5)
    assert kernel.scott(263, 34) == pytest.approx(0.8151, abs=5e-5)
    with pytest.raises(SfumatoError, match="at least one row"):
        kernel.scott(0, 3)
