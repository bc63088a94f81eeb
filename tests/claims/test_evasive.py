"""Limits of the sensitive share and of the evasive share hold as often as they say; ignoring evasion does not."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.evasive_answers import DEVICES, coverage
from scipy.stats import binom

from sfumato import channels as c

RUNS = 100


@pytest.mark.parametrize("cheating", [0.05, 0.2])
def test_limits_hold_as_often_as_they_say(cheating):
    found = coverage(DEVICES["crosswise .2 and .35"], 0.2, cheating, 4000, RUNS, np.random.default_rng(91))
    assert min(found) * RUNS >= binom.ppf(1e-6, RUNS, 0.95)


def test_whoever_ignores_evasive_people_is_wrong():
    """The control: the ordinary estimate from one group, one person in five evading."""
    channel, rng, n = c.crosswise(0.2), np.random.default_rng(92), 4000
    yes = 0.8 * float(np.array([0.8, 0.2]) @ channel.matrix[:, 1])
    told = rng.binomial(n, yes, RUNS) / n
    plain = channel.inverse.dense()[1] @ np.array([1 - told, told])
    sd = np.sqrt(told * (1 - told) / n) * np.ptp(channel.inverse.dense()[1])
    assert np.mean(np.abs(plain - 0.2) < 1.96 * sd) < 0.5
