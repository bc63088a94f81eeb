"""The test of honest answers keeps its level, and finds false ones where the channel leaves room to."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from sfumato import channels as c
from sfumato.assess.goodness_of_fit import goodness_of_fit

RUNS, LEVEL = 120, 0.05
CASES = {
    "symmetric": c.symmetric(5, gamma=3),
    "subset": c.subset(8, 2),
    "windows": c.windows(12, 3),
    "one-sided": c.binary(0.3, 0.0),
}


def rejected(channel, shares, false, n, rng, runs=RUNS) -> int:
    """How often the test refuses n answers, of which some are all the one that most favours the first value."""
    honest = shares / shares.sum() @ channel.matrix
    lie = np.eye(channel.m, dtype=int)[int(channel.inverse.dense()[0].argmax())]
    tables = rng.multinomial(n - round(n * false), honest, runs) + round(n * false) * lie
    return sum(goodness_of_fit(table, channel, rng=rng).p <= LEVEL for table in tables)


@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.parametrize("kind", ["even", "one"])
def test_honest_answers_are_refused_no_more_often_than_said(name, kind):
    channel = CASES[name]
    shares = np.ones(channel.k) if kind == "even" else np.eye(channel.k)[0]
    assert rejected(channel, shares, 0.0, 1000, np.random.default_rng(61)) <= binom.isf(1e-6, RUNS, LEVEL)


@pytest.mark.parametrize("name", ["subset", "windows"])
def test_one_tenth_of_like_lies_is_found_where_there_are_more_answers_than_values(name):
    """The control: a test that never refuses would pass the other one."""
    channel = CASES[name]
    assert rejected(channel, np.ones(channel.k), 0.1, 1000, np.random.default_rng(62), 12) == 12
