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


#: Two common values and many rare ones. Lies of one tenth raise a share by a third: only the first can have been that
#: much rarer without them.
RARE = np.append([0.5, 0.3, 0.1, 0.05], np.full(12, 0.05 / 12))


def test_what_liars_add_is_taken_out_where_one_explanation_fits():
    """The first value was raised: no other is common enough to have been raised instead."""
    plain, projected, recovered, ours, _ = measured(c.symmetric(16, gamma=9), RARE, "maximal gain", 0.1, 20, 75, 0)
    assert ours < 0.02 * min(plain, projected, recovered)


def test_where_two_explanations_fit_the_estimate_lies_between_them():
    """A rare value was raised, and the first might have been as well: half of what was added to either is left.

    That is two thirds of the squared error of the best of the others (.65 in 200 runs), and no estimate from these
    counts can do better for both.
    """
    plain, projected, recovered, ours, _ = measured(c.symmetric(16, gamma=9), RARE, "maximal gain", 0.1, 60, 76, 9)
    assert 0.6 < ours / min(plain, projected, recovered) < 0.72
