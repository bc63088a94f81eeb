"""The resolution of a density: how far apart hills must lie to be told apart."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import scipy.stats as st

from sfumato.channels.additive import gaussian, laplace, uniform
from sfumato.evidence.density import Density, density
from sfumato.evidence.density.deconvolution import as_noise
from sfumato.evidence.density.resolution import resolution


@pytest.mark.parametrize("n", [100, 3000, 10**6])
def test_it_is_where_too_little_is_left_of_a_wave(n: int) -> None:
    assert resolution(gaussian(2), n) == pytest.approx(2 * math.pi * 2 / math.sqrt(math.log(n / 25)), rel=0.01)
    t = math.sqrt(2) * math.sqrt(math.sqrt(n / 25) - 1)  # of sd 1, |phi| = 1 / (1 + t² / 2)
    assert resolution(laplace(1 / math.sqrt(2)), n) == pytest.approx(2 * math.pi / t, rel=0.03)
    assert resolution(uniform(1), n) >= 2  # whose transform has zeros


def test_shift_changes_nothing_scale_scales_and_values_sharpen() -> None:
    assert resolution(as_noise(st.norm(5, 1)), 500) == pytest.approx(resolution(gaussian(1), 500), rel=1e-3)
    assert resolution(laplace(30), 500) == pytest.approx(30 * resolution(laplace(1), 500), rel=1e-6)
    for noise in (gaussian(1), uniform(1), laplace(1), as_noise(st.expon()), as_noise(st.cauchy())):
        told = [resolution(noise, n) for n in (30, 100, 1000, 10_000)]
        assert (np.diff(told) < 0).all()
        assert resolution(noise, 20) == math.inf


def three_blocks(n: int) -> Density:
    rng = np.random.default_rng([41, n])
    return density(gaussian(7 / 6).randomize(3 * rng.integers(0, 3, n) + rng.random(n), rng), gaussian(7 / 6))


def test_three_blocks_that_do_not_show_are_nearer_than_is_told_apart() -> None:
    """Of 300 values they make one hill, and nothing said that they might; of 20 000 they show."""
    for n, show in ((300, False), (20_000, True)):
        found = three_blocks(n)
        first, gap, second = (float(np.diff(found.cdf([low, low + 1]))[0]) for low in (0, 1.5, 3))
        assert (gap < 0.75 * min(first, second)) == show
        assert (found.resolution < 3) == show


def test_it_stands_in_every_form_of_the_estimate() -> None:
    found = three_blocks(300)
    assert f"resolution {found.resolution:.3g}" in repr(found)
    assert json.loads(json.dumps(found.to_dict()))["resolution"] == found.resolution
    few = density(np.linspace(0, 3, 20), gaussian(0.5), method="em", stop=5)
    assert few.resolution == math.inf and few.to_dict()["resolution"] is None
    fine = density(np.linspace(0, 3, 20_000), uniform(0.01), support=(-0.1, 3.1), bins=10)
    assert fine.resolution == pytest.approx(2 * 0.32)
