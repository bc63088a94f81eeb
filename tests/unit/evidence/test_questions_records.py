"""Powers of numbers under additive noise, whatever the noise's mean and skew."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import sfumato as sf
from sfumato import channels as c
from sfumato.channels.additive import empirical, from_scipy, tabulated
from sfumato.channels.noise import Noise
from sfumato.errors import EstimationError
from sfumato.evidence.questions.records import power_scores

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
NOISES = [
    c.gaussian(2),
    c.laplace(1.5),
    c.uniform(3),
    tabulated([0, 1, 4], [0.25, 0.75]),
    empirical(np.random.default_rng(0).gamma(2, 1, 500)),
    from_scipy(stats.gamma(2.0, loc=1.0)),
]


@pytest.mark.parametrize("noise", NOISES, ids=lambda noise: noise.kind)
@pytest.mark.parametrize("power", [1, 2, 3, 4])
def test_the_score_of_a_power_has_its_mean(noise: Noise, power: int) -> None:
    """By the quantiles of the noise; z to the power, the control, has another mean."""
    u = (np.arange(200_000) + 0.5) / 200_000
    z = 2.5 + noise.quantile(u)
    assert power_scores(noise, z, power).mean() == pytest.approx(2.5**power, rel=2e-2)
    assert (power == 1 and noise.moment(1) == 0) or abs((z**power).mean() / 2.5**power - 1) > 0.2


def test_moments_are_those_of_the_density() -> None:
    for noise in NOISES:
        low, high = (float(noise.quantile(u)) for u in (1e-13, 1 - 1e-13))
        t = np.linspace(low, high, 400_001)
        for power in (1, 2, 3, 4):
            found = float(np.trapezoid(t**power * noise.pdf(t), t))
            assert noise.moment(power) == pytest.approx(found, rel=1e-3, abs=1e-6)


def test_a_mean_is_unbiased_though_the_noise_has_a_mean_of_its_own() -> None:
    schema = sf.Schema({"x": sf.Numeric(0, 10, bins=5), "w": sf.Numeric(0, 10, bins=5)})
    rng = np.random.default_rng(1)
    x = rng.beta(2, 3, 20_000) * 10
    noise = from_scipy(stats.gamma(2.0, loc=1.0))
    scheme = sf.Scheme(schema, {"x": noise, "w": c.gaussian(1)})
    table = {"x": x, "w": np.clip(x + rng.normal(0, 1, len(x)), 0, 10)}
    ask = sf.evidence(sf.randomize(table, scheme, rng=sf.experiment(2)))
    found = ask.mean("x")
    assert abs(found.value[0] - x.mean()) < 5 * found.sd[0] < 0.2
    r = ask.correlation("x", "w")
    assert abs(r.value[0] - np.corrcoef(x, table["w"])[0, 1]) < 5 * r.sd[0] < 0.2


def test_noise_without_a_variance_is_refused() -> None:
    with pytest.raises(EstimationError, match="has no finite moment of order 2"):
        power_scores(from_scipy(stats.cauchy()), np.zeros(3), 2)
