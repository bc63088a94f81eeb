"""The test whether answers came through the channel: what it takes, and that it finds plain lies."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.gallery import CHANNELS

import sfumato as sf
from sfumato import channels as c
from sfumato.assess.goodness_of_fit import _least_favourable, goodness_of_fit
from sfumato.errors import SfumatoError


@pytest.mark.parametrize("name", ["symmetric", "subset", "rectangular", "windows", "binary"])
def test_the_distance_is_the_least_there_is(name):
    channel, rng = CHANNELS[name], np.random.default_rng(8)
    counts = rng.multinomial(500, rng.dirichlet(np.ones(channel.m)))
    found = goodness_of_fit(counts, channel, rng=1)
    assert found.shares.sum() == pytest.approx(1) and (found.shares >= 0).all()
    # the distance weighs by the fitted released shares, values that may be absent set to 0; a general optimiser agrees
    w = np.maximum(_least_favourable(channel, found.shares, counts.astype(float)) @ channel.matrix, 0.5 / 500)
    start = np.full(channel.k, 1 / channel.k)
    best = minimize(
        lambda theta: float(((counts - 500 * theta @ channel.matrix) ** 2 / (500 * w)).sum()),
        start,
        bounds=[(0, None)] * channel.k,
        method="L-BFGS-B",
        options={"maxiter": 5000, "maxfun": 10**6, "ftol": 1e-14, "gtol": 1e-8},
    )
    assert found.statistic == pytest.approx(best.fun, rel=1e-3, abs=1e-3)


def test_answers_that_nobody_can_give_have_no_chance():
    never = c.matrix([[0.5, 0.5, 0.0], [0.2, 0.8, 0.0]])
    assert goodness_of_fit([10, 10, 1], never).p == 0
    assert goodness_of_fit([10, 10, 0], never, rng=1).p > 0.1


def test_honest_answers_pass_where_there_are_more_sets_than_records_fill():
    channel, rng = c.subset(17, gamma=9, size=4), np.random.default_rng(11)
    shares = np.array([5705, 745, 567, 245, 200, 90, 70, 60, 50, 40, 30, 25, 20, 15, 6, 3, 3.0])
    honest = [rng.multinomial(4000, shares / shares.sum() @ channel.matrix) for _ in range(12)]
    assert sum(goodness_of_fit(counts, channel, rng=1).p < 0.05 for counts in honest) <= 2
    lies = honest[0].copy()
    lies[100] += 40  # negative control: forty people said the same set of four
    assert goodness_of_fit(lies, channel, rng=1).p < 0.01


def release() -> sf.Release:
    schema = sf.Schema({"sex": sf.Categorical(("F", "M")), "vote": sf.Categorical(tuple("abcdefgh"))})
    scheme = sf.Scheme(schema, {"sex": c.binary(0.2, 0.2), "vote": c.subset(8, 2)})
    rng = np.random.default_rng(3)
    table = {"sex": rng.choice(["F", "M"], 3000), "vote": rng.choice(list("abcdefgh"), 3000)}
    return sf.randomize(table, scheme, rng=4)


def test_a_release_is_tested_by_attribute():
    found = goodness_of_fit(release(), "vote", rng=5)
    assert found.p > 0.01 and "could have come" in str(found)
    assert goodness_of_fit(release(), attribute="vote", rng=5).p == found.p


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([1, 2], "releases 3 different values, got 2 counts"),
        ([1, 2, -1], "whole numbers"),
        ([1, 2, 0.5], "whole numbers"),
        ([0, 0, 0], "whole numbers"),
        (["a", "b", "c"], "must be numbers"),
    ],
)
def test_counts_that_are_none_are_refused(given, words):
    with pytest.raises(SfumatoError, match=words):
        goodness_of_fit(given, c.symmetric(3, 0.3))


def test_what_is_missing_is_named():
    with pytest.raises(SfumatoError, match="name an attribute"):
        goodness_of_fit(release())
    with pytest.raises(SfumatoError, match="give the channel"):
        goodness_of_fit([1, 2])
    with pytest.raises(SfumatoError, match="too many for this test"):
        goodness_of_fit(np.ones(600), c.symmetric(600, 0.3))
