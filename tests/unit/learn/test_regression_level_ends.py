"""Ends of levels of an ordinal response: their limits hold where hardly anybody lies beyond, and are open where perhaps
nobody does."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import sfumato as sf
from sfumato import channels as c
from sfumato.learn import Regression
from sfumato.learn.regression.level_ends import LevelEnds

SCHEMA = sf.Schema({"x": sf.Categorical(("a", "b")), "y": sf.Ordinal(("low", "mid", "high", "top"))})
SCHEME = sf.Scheme(SCHEMA, {"x": c.symmetric(2, gamma=9), "y": c.symmetric(4, gamma=9)})


def people(top: int, n: int = 2000) -> object:
    """Of whom so many hold the top value."""
    rng = np.random.default_rng(top)
    x = rng.integers(0, 2, n)
    y = np.minimum(rng.integers(0, 3, n) + (rng.random(n) < 0.3 * x), 2)
    y[:top] = 3
    return SCHEMA.decode({"x": x, "y": y})


@pytest.mark.parametrize("through", ["scores", "model"])
def test_the_end_below_a_rare_value_lies_within_its_limits(through: str) -> None:
    table = people(1)
    true = Regression("ordinal").fit(sf.evidence(table, SCHEMA), target="y").coef_[-1]
    held, by_errors = [], []
    for seed in range(60):
        release = sf.randomize(table, SCHEME, rng=sf.experiment(seed))
        found = Regression("ordinal", through=through).fit(release, target="y")
        if found.terms_[-1] == "high/top":
            low, high = (one[-1] for one in found.interval())
            held.append(low <= true <= high)
            by_errors.append(abs(found.coef_[-1] - true) <= 1.96 * found.sd_[-1])
    assert len(held) > 15 and np.mean(held) > 0.8
    assert np.mean(by_errors) < 0.7  # the negative control


def test_an_end_beyond_which_perhaps_nobody_lies_is_open_and_said_to_be() -> None:
    found = Regression("ordinal").fit(sf.randomize(people(20), SCHEME, rng=sf.experiment(1)), target="y")
    low, high = found.interval()
    assert found.terms_[-1] == "high/top" and np.isinf(high[-1]) and np.isfinite(low).all()
    text = found.summary()
    assert "Open:         perhaps nobody lies beyond high/top: on that side there is no limit" in text
    assert text.splitlines()[-2].split()[-1] == "open"
    assert found.frame().to_pylist()[-1]["high"] == np.inf
    known = Regression("ordinal").fit(sf.randomize(people(400), SCHEME, rng=sf.experiment(1)), target="y")
    assert "open" not in known.summary().lower() and np.isfinite(known.interval()).all()


def test_limits_are_those_of_the_share_below_and_agree_with_the_p_value() -> None:
    ends = LevelEnds(np.array([0.02, 0.5, 0.98]), np.array([0.015, 0.01, 0.015]))
    coef, sd = np.array([-3.8, 0.05, 3.6]), np.array([0.9, 0.1, 0.9])
    low, high = ends.limits(coef, sd, 1.96)
    assert low[0] == -np.inf and high[2] == np.inf
    np.testing.assert_allclose([high[1] - coef[1], coef[1] - low[1]], 1.96 * sd[1], rtol=0.01)
    z = ends.distance(coef, sd)
    for side in (0, 1, 2):
        at = np.array(ends.limits(coef, sd, float(z[side])))[:, side]
        assert np.abs(at).min() < 1e-9
    mirrored = LevelEnds(1 - ends.below, ends.error).limits(-coef, sd, 1.96)
    np.testing.assert_allclose([-mirrored[1], -mirrored[0]], [low, high])


def test_raw_records_have_the_limits_of_their_standard_errors() -> None:
    found = Regression("ordinal").fit(sf.evidence(people(5), SCHEMA), target="y")
    low, high = found.interval(0.9)
    np.testing.assert_allclose((high - low) / 2, norm.ppf(0.95) * found.sd_)
    np.testing.assert_allclose(found.p_, 2 * norm.sf(np.abs(found.coef_ / found.sd_)))
