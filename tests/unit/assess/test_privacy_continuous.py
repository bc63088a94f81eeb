"""Additive noise through the same doors: privacy_loss, mutual_information, interval_privacy, information_loss."""

from __future__ import annotations

import math

import pytest

from sfumato.assess import accuracy, privacy
from sfumato.channels import additive
from sfumato.errors import ChannelError


def test_aa01_example_1():
    # the paper prints 0.5796: nats taken for bits
    x = additive.tabulated([0, 1, 4, 5], [0.5, 0, 0.5])
    assert privacy.privacy_loss(additive.uniform(1), x) == pytest.approx(1 - math.exp(-0.25) / 2, abs=1e-6)
    assert privacy.mutual_information(additive.uniform(1), x) == pytest.approx(1 + 0.25 / math.log(2), abs=1e-6)


@pytest.mark.parametrize(("variance", "printed"), [(1.0, 0.09987), (0.8, 0.12049)])
def test_gaussian_under_gaussian(variance, printed):
    own = 2 / (math.pi * math.e)
    found = privacy.privacy_loss(additive.gaussian(math.sqrt(variance)), additive.gaussian(math.sqrt(own)))
    assert found == pytest.approx(1 - (1 + own / variance) ** -0.5, abs=1e-6)
    assert found == pytest.approx(printed, abs=5e-6)


def test_uniform_under_uniform():
    found = privacy.privacy_loss(additive.uniform(1), additive.tabulated([2, 4], [1.0]))
    assert found == pytest.approx(1 - math.exp(-0.5), abs=1e-6)


def test_interval_of_uniform_noise():
    assert privacy.interval_privacy(additive.uniform(2), 0.95) == pytest.approx(3.8, abs=1e-6)


def test_noise_has_no_gamma_and_no_finite_matrix():
    assert privacy.gamma(additive.gaussian(1)) == math.inf
    with pytest.raises(ChannelError, match="has no finite matrix: cut it into intervals"):
        privacy.map_success(additive.gaussian(1))


def test_information_loss_of_densities():
    assert accuracy.information_loss(additive.uniform(1), additive.uniform(2)) == pytest.approx(0.5, abs=1e-6)


def test_the_interval_of_laplace_noise_warns_of_nothing() -> None:
    """A share p of it lies within scale ln(1 / (1 - p)) of 0."""
    assert privacy.interval_privacy(additive.laplace(2), 0.9) == pytest.approx(4 * math.log(10), rel=1e-4)
