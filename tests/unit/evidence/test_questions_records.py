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
from sfumato.evidence.questions import gather
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


def _sites(n: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(3)
    site, age = rng.integers(0, 17, n) // 8 * 8, rng.integers(0, 12, n)
    return {"site": site, "age": age, "x": rng.beta(2, 6, n) * 14 + site / 8}


SITES = sf.Schema(
    {
        "site": sf.Categorical(tuple(range(17))),
        "age": sf.Ordinal(tuple(range(12))),
        "x": sf.Numeric(0, 16, bins=16),
    }
)


def test_groups_of_many_released_values_are_told_from_the_records() -> None:
    """Sets of 6 of 17 values by stretches by stretches: tens of millions of released cells, and 20,000 records."""
    table = _sites(20_000)
    told = {"site": c.subset(17, gamma=9, size=6), "age": c.windows(12, gamma=9), "x": c.windows(16, gamma=9)}
    scheme = sf.Scheme(SITES, told)
    assert np.prod([float(size) for size in scheme.output_sizes.values()]) > 1 << 25
    ask = sf.evidence(sf.randomize(table, scheme, rng=sf.experiment(4)))
    found = ask.mean("x", by="site", where={"age": [0, 1, 2, 3, 4, 5]})
    for site in (0, 8):
        held = (table["site"] == site) & (table["age"] < 6)
        low, high = (limits[site] for limits in found.interval(0.9999))
        assert low <= table["x"][held].mean() <= high < low + 8


@pytest.mark.parametrize("gamma", [6, 50])
def test_records_and_tables_tell_the_same(gamma: float, monkeypatch: pytest.MonkeyPatch) -> None:
    table = _sites(500)
    release = sf.randomize(table, sf.Scheme.for_gamma(SITES, gamma=gamma), rng=sf.experiment(5))

    def asked() -> list[np.ndarray]:
        ask = sf.evidence(release)
        found = [ask.mean("x", by="age"), ask.quantile("x", [0.5], by="age"), ask.correlation("x", "age")]
        return [each for one in found for each in (one.value, one.cov, *one.interval())]

    tables = asked()
    monkeypatch.setattr(gather, "MOST", 1)
    for one, other in zip(tables, asked(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
