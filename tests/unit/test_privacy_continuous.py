"""Additive noise through the same doors: privacy_loss, mutual_information, interval_privacy, information_loss."""

from __future__ import annotations

import math

import pytest

from sfumato.assess import accuracy, privacy
from sfumato.errors import ChannelError

additive = pytest.importorskip("sfumato.channels.additive")
pytest.importorskip("sfumato.assess.continuous")


def test_aa01_example_1():
    x = additive.tabulated([0, 1, 4, 5], [0.5, 0, 0.5])
    assert privacy.privacy_loss(additive.uniform(1), x) == pytest.approx(1 - math.exp(-0.25) / 2, abs=1e-6)
    assert privacy.mutual_information(additive.uniform(1), x) == pytest.approx(1.36067, abs=1e-5)


@pytest.mark.parametrize(("variance", "loss"), [(1.0, 0.09987), (0.8, 0.12049)])
def test_gaussian_under_gaussian(variance, loss):
    x = additive.gaussian(math.sqrt(2 / (math.pi * math.e)))
    assert privacy.privacy_loss(additive.gaussian(math.sqrt(variance)), x) == pytest.approx(loss, abs=1e-5)


def test_interval_of_uniform_noise():
    assert privacy.interval_privacy(additive.uniform(2), 0.95) == pytest.approx(3.8, abs=1e-6)


def test_noise_has_no_gamma_and_no_finite_matrix():
    assert privacy.gamma(additive.gaussian(1)) == math.inf
    with pytest.raises(ChannelError, match="has no finite matrix: cut it into intervals"):
        privacy.map_success(additive.gaussian(1))


def test_information_loss_of_densities():
    assert accuracy.information_loss(additive.uniform(1), additive.uniform(2)) == pytest.approx(0.5, abs=1e-6)
