"""Continuous privacy measures against closed forms (and not against the misprints of AA01)."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats as st

from sfumato.assess import continuous as co
from sfumato.assess.quadrature import entropy
from sfumato.channels.additive import gaussian, laplace, tabulated, uniform
from sfumato.errors import ConvergenceWarning, EstimationError

SD = math.sqrt(2 / (math.pi * math.e))
EXAMPLE = tabulated([0, 1, 4, 5], [0.5, 0.0, 0.5])


def test_example_1_in_bits() -> None:
    assert co.differential_entropy(EXAMPLE) == pytest.approx(1.0, abs=1e-12)
    assert co.mutual_information(EXAMPLE, uniform(1)) == pytest.approx(1 + 1 / (4 * math.log(2)), abs=1e-5)
    assert co.privacy_loss(EXAMPLE, uniform(1)) == pytest.approx(1 - math.exp(-0.25) / 2, abs=1e-5)
    assert co.conditional_privacy(EXAMPLE, uniform(1)) == pytest.approx(math.exp(-0.25), abs=1e-5)
    assert abs(co.privacy_loss(EXAMPLE, uniform(1)) - 0.5796) > 0.03  # the printed value is wrong


def test_example_1_shows_the_pitfall_of_the_interval_measure() -> None:
    assert co.interval_privacy(uniform(1), 1.0) == pytest.approx(2.0)
    assert co.informed_interval(EXAMPLE, uniform(1), 1.0) == pytest.approx(5 / 6, abs=2e-3)


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (1.0, 2.0), (0.5, 3.0)])
def test_uniform_under_uniform_has_its_closed_form(a: float, b: float) -> None:
    assert co.privacy_loss(uniform(a), uniform(b)) == pytest.approx(1 - math.exp(-a / (2 * b)), abs=1e-6)


def test_shift_does_not_matter() -> None:
    assert co.privacy_loss(st.uniform(2, 2), uniform(1)) == pytest.approx(0.39347, abs=1e-5)


@pytest.mark.parametrize(("v", "loss"), [(1.0, 0.09987), (0.8, 0.12049)])
def test_gaussian_under_gaussian(v: float, loss: float) -> None:
    assert co.privacy_loss(gaussian(SD), gaussian(math.sqrt(v))) == pytest.approx(loss, abs=1e-5)
    # the same without the closed form: hide from `law` that both are normal
    numeric = entropy(*co.released(_veiled(st.norm(0, SD)), _veiled(st.norm(0, math.sqrt(v)))))
    information = numeric - co.differential_entropy(gaussian(math.sqrt(v)))
    assert 1 - 2**-information == pytest.approx(loss, abs=2e-5)


def _veiled(dist: object) -> co.Law:
    return co.Law(dist.pdf, dist.cdf, dist.ppf)  # type: ignore[attr-defined]


@pytest.mark.parametrize("dist", [st.expon(), st.t(3), st.gamma(0.5), st.gamma(4), st.laplace(1, 2), st.beta(2, 5)])
def test_entropy_of_scipy_distributions(dist: object) -> None:
    assert co.differential_entropy(dist) == pytest.approx(float(dist.entropy()) / math.log(2), abs=1e-5)  # type: ignore[attr-defined]


def test_privacy_of_equal_entropy_is_equal() -> None:
    assert co.inherent_privacy(uniform(1)) == pytest.approx(2)
    assert co.inherent_privacy(gaussian(SD)) == pytest.approx(2)
    assert co.inherent_privacy(laplace(1)) == pytest.approx(2 * math.e)


def test_mixed_pairs_against_brute_force() -> None:
    x = np.linspace(-14, 14, 28_001)
    f, g = st.norm(0, 1).pdf(x), st.laplace(0, 1).pdf(x)
    h = np.convolve(f, g, mode="same") * (x[1] - x[0])
    brute = float(-np.sum(h[h > 0] * np.log2(h[h > 0])) * (x[1] - x[0])) - math.log2(2 * math.e)
    assert co.mutual_information(gaussian(1), laplace(1)) == pytest.approx(brute, abs=1e-4)
    assert co.mutual_information(gaussian(1), laplace(1.1)) != pytest.approx(brute, abs=1e-4)


def test_interval_privacy_is_the_shortest() -> None:
    assert co.interval_privacy(uniform(1), 0.5) == pytest.approx(1.0)
    assert co.interval_privacy(gaussian(1), 0.95) == pytest.approx(3.919928, abs=1e-4)
    assert co.interval_privacy(st.expon(), 0.5) == pytest.approx(math.log(2), abs=1e-4)


@pytest.mark.parametrize(("cells", "percent"), [(20, 5.206), (50, 2.065), (100, 1.031)])
def test_discretisation_floors(cells: int, percent: float) -> None:
    assert 100 * co.floor(gaussian(SD), np.linspace(-2.5, 2.5, cells + 1)) == pytest.approx(percent, abs=1e-3)


def test_information_loss_runs_over_the_whole_line() -> None:
    assert co.information_loss(st.norm(), st.norm(0.1)) == pytest.approx(2 * st.norm.cdf(0.05) - 1, abs=1e-5)
    assert co.information_loss(st.uniform(0, 1), st.uniform(0.3, 1)) == pytest.approx(0.3, abs=1e-5)
    assert co.information_loss(st.uniform(0, 1), st.uniform(7, 1)) == pytest.approx(1.0, abs=1e-5)
    assert co.information_loss(st.norm(), tabulated([-1, 0, 1], [0.5, 0.5])) > 1 - 0.683


def test_bad_input_is_named() -> None:
    with pytest.raises(EstimationError, match="confidence"):
        co.interval_privacy(uniform(1), 1.5)
    with pytest.raises(EstimationError, match="pdf, cdf and ppf"):
        co.differential_entropy(3.0)


class Mixture:
    """0.7 t(3) + 0.3 t(3, 20, 0.5), with quantiles by bisection."""

    first, second = st.t(3), st.t(3, 20, 0.5)

    def pdf(self, t: object) -> object:
        return 0.7 * self.first.pdf(t) + 0.3 * self.second.pdf(t)

    def cdf(self, t: object) -> object:
        return 0.7 * self.first.cdf(t) + 0.3 * self.second.cdf(t)

    def ppf(self, q: object) -> object:
        ends = np.array([self.first.ppf(q), self.second.ppf(q)])
        low, high = ends.min(axis=0), ends.max(axis=0)
        for _ in range(60):
            middle = (low + high) / 2
            up = self.cdf(middle) < q  # type: ignore[operator]
            low, high = np.where(up, middle, low), np.where(up, high, middle)
        return (low + high) / 2


def test_a_gap_between_heavy_tailed_modes_is_resolved() -> None:
    assert co.mutual_information(Mixture(), gaussian(1)) == pytest.approx(1.57798, abs=1e-4)  # reference by FFT


def test_sums_of_skew_laws_have_their_closed_forms() -> None:
    exact = float(st.gamma(2).entropy() - 1) / math.log(2)
    assert co.mutual_information(st.expon(), st.expon()) == pytest.approx(exact, abs=1e-4)
    assert co.mutual_information(st.expon(), st.expon(0, 1.01)) != pytest.approx(exact, abs=1e-4)


@pytest.mark.parametrize(
    "dist", [st.gamma(0.1), st.beta(0.1, 3), st.beta(0.5, 0.5), st.arcsine(), st.cauchy(), st.levy(), st.lognorm(2.5)]
)
def test_entropy_of_singular_and_heavy_laws(dist: object) -> None:
    assert co.differential_entropy(dist) == pytest.approx(float(dist.entropy()) / math.log(2), abs=1e-5)  # type: ignore[attr-defined]


def test_what_doubles_cannot_resolve_is_said() -> None:
    with pytest.warns(ConvergenceWarning, match="of the mass"):
        co.differential_entropy(st.beta(3, 0.1))
