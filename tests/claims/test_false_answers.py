"""Robust limits hold the truth under every attack, ordinary ones do not; and what liars add is taken out again."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.false_answers import ATTACKS, RECORDS, false_answers, measured

from sfumato import channels as c
from sfumato.assess.robust import robust

THETA = np.array([0.31, 0.22, 0.16, 0.11, 0.08, 0.06, 0.04, 0.02])


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("share", [0.01, 0.05, 0.1])
def test_the_range_holds_the_truth_whatever_was_sent(attack, share):
    channel = c.symmetric(8, gamma=6)
    assert measured(channel, THETA, attack, share, runs=15, seed=71)[-1] > 0.9


def test_the_range_of_subsets_holds_the_truth_under_the_strongest_attack():
    assert measured(c.subset(8, 6), THETA, "maximal gain", 0.05, runs=4, seed=72)[-1] > 0.85


def test_limits_that_believe_everybody_fail():
    """The control: limits made for one false answer in a hundred thousand."""
    channel, rng = c.symmetric(8, gamma=6), np.random.default_rng(73)
    held = []
    for _ in range(10):
        honest = rng.multinomial(RECORDS - 5000, THETA @ channel.matrix)
        found = robust(honest + false_answers("maximal gain", channel, 5000, rng), 1e-5, channel)
        held.append(np.mean((found.low <= THETA) & (found.high >= THETA)))
    assert np.mean(held) < 0.5


def test_what_liars_add_is_taken_out():
    """Many small shares leave no room for a raised one: the rest would be rarer than the channel lets them be."""
    theta = np.append([0.5, 0.3, 0.1, 0.05], np.full(12, 0.05 / 12))
    plain, projected, recovered, ours, _ = measured(c.symmetric(16, gamma=9), theta, "maximal gain", 0.1, 8, seed=75)
    assert ours < 0.8 * min(plain, projected, recovered)
