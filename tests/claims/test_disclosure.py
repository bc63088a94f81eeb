"""Claims about spreads and attacks that only repetition can test."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from sfumato import channels as c
from sfumato.assess import accuracy, attacks
from sfumato.papers.ma06 import odds


def test_the_delta_method_gives_the_spread_of_the_odds_ratio():
    rng = np.random.default_rng(5)
    channel, n, runs = c.symmetric(2, 0.2), 20_000, 2000
    pair = c.product([channel, channel])
    truth = rng.multinomial(n, np.full(4, 0.25), size=runs)
    released = sum(rng.multinomial(truth[:, x], pair.matrix[x]) for x in range(4))
    counts = released @ pair.inverse.dense().T
    logs = np.log(counts[:, 0] * counts[:, 3] / (counts[:, 1] * counts[:, 2]))
    expected = accuracy.odds_ratio_spread(channel, channel, n).log_sd
    ratio = logs.std(ddof=1) / expected
    # the deviation of 2000 runs is known to 1.6 %; five of those, and the control fails by far
    assert abs(ratio - 1) < 5 / np.sqrt(2 * runs)
    naive = accuracy.odds_ratio_spread(c.identity(2), c.identity(2), n).log_sd
    assert logs.std(ddof=1) / naive > 2


def test_figure_3_3_spreads_25_times():
    plain, randomized = odds.simulate(runs=500)
    wide = np.nanstd(np.log(randomized[np.isfinite(randomized)]))
    narrow = np.nanstd(np.log(plain[np.isfinite(plain)]))
    assert 20 < wide / narrow < 35


def test_dapl_is_the_expected_distance():
    rng = np.random.default_rng(6)
    n, runs = 250, 400
    h = accuracy.scott_bandwidth(n)
    x = np.linspace(-5, 5, 501)
    density = scipy.stats.norm.pdf(x)
    found = []
    for _ in range(runs):
        u = (x[:, None] - rng.normal(size=n)) / h
        kernel = 0.75 * np.clip(1 - u * u, 0, None)
        found.append(0.5 * np.trapezoid(np.abs(kernel.mean(axis=1) / h - density), x))
    exact = accuracy.dapl(scipy.stats.norm(), n)
    se = np.std(found, ddof=1) / np.sqrt(runs)
    assert abs(np.mean(found) - exact) < 5 * se
    # the control: the value of another sample size is told apart
    assert abs(np.mean(found) - accuracy.dapl(scipy.stats.norm(), 2 * n)) > 5 * se


def test_repeated_releases_raise_the_success_as_predicted():
    rng = np.random.default_rng(7)
    channel, n = c.symmetric(4, gamma=3), 40_000
    truth = rng.integers(0, 4, n)
    released = np.column_stack([channel.randomize(truth, rng) for _ in range(10)])
    found = attacks.bayes(released, channel, truth=truth)
    expected = 1 - attacks.repeated(channel, 10).error
    assert expected == pytest.approx(0.815, abs=5e-4)
    assert abs(1 - found.error - expected) < 5 * np.sqrt(0.815 * 0.185 / n)
    once = attacks.bayes(released[:, 0], channel, truth=truth)
    assert abs(1 - once.error - 0.5) < 5 * np.sqrt(0.25 / n)
