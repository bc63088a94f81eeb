"""Estimates that allow for false answers: their range against brute force, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import SfumatoError


def identified(channel, q, share):
    """The least and the most of each share over all θ that q allows, one linear programme each."""
    P, out = channel.matrix, []
    for x in range(channel.k):
        goal = np.eye(channel.k)[x]
        sides = [
            sign * linprog(sign * goal, (1 - share) * P.T, q, np.ones((1, channel.k)), [1.0], (0, None)).fun
            for sign in (1, -1)
        ]
        out.append(sides)
    return np.array(out).T


@pytest.mark.parametrize("channel", [c.symmetric(4, gamma=5), c.subset(5, 4), c.binary(0.1, 0.25)], ids=str)
def test_with_very_many_answers_the_range_is_that_of_the_linear_programme(channel):
    theta, share = np.random.default_rng(2).dirichlet(np.full(channel.k, 2.0)), 0.05
    lies = np.eye(channel.m)[int(channel.inverse.dense()[0].argmax())]
    q = (1 - share) * theta @ channel.matrix + share * lies
    counts = np.round(q * 10**12)
    found = sf.accuracy.robust(counts, share, channel)
    least, most = identified(channel, q + 1e-9, share)
    assert found.least == pytest.approx(least, abs=1e-4) and found.most == pytest.approx(most, abs=1e-4)
    assert (found.low <= theta + 1e-6).all() and (theta <= found.high + 1e-6).all()


def test_a_matrix_gets_the_limits_of_the_closed_form():
    counts = [600, 200, 100, 100]
    one = sf.accuracy.robust(counts, 0.05, c.symmetric(4, gamma=9))
    other = sf.accuracy.robust(counts, 0.05, c.symmetric(4, gamma=9).matrix)
    assert one.low == pytest.approx(other.low) and one.high == pytest.approx(other.high)


def test_hardly_any_lies_leave_the_ordinary_estimate():
    channel, rng = c.symmetric(4, gamma=9), np.random.default_rng(5)
    counts = rng.multinomial(20_000, [0.4, 0.3, 0.2, 0.1] @ channel.matrix)
    found = sf.accuracy.robust(counts, 1e-6, channel)
    assert found.value == pytest.approx(channel.inverse.apply(counts / 20_000), abs=1e-4)


def test_a_release_is_asked_by_attribute_and_shown_by_value():
    schema = sf.Schema({"sex": sf.Categorical(("F", "M")), "vote": sf.Categorical(tuple("abc"))})
    rng = np.random.default_rng(1)
    table = {"sex": rng.choice(["F", "M"], 900), "vote": rng.choice(list("abc"), 900)}
    release = sf.randomize(table, sf.Scheme.for_gamma(schema, gamma=9), rng=2)
    found = sf.accuracy.robust(release, 0.05, "vote")
    assert found.labels == ("a", "b", "c") and "5 % of the answers are false" in repr(found)
    assert (found.low <= found.value).all() and (found.value <= found.high).all() and "<table" in found._repr_html_()


def test_nonsense_is_refused():
    with pytest.raises(SfumatoError, match="share must lie"):
        sf.accuracy.robust([1, 2], 1.0, c.binary(0.1, 0.1))
    with pytest.raises(SfumatoError, match="level must lie"):
        sf.accuracy.robust([1, 2], 0.1, c.binary(0.1, 0.1), level=95)
    with pytest.raises(SfumatoError, match="too many"):
        sf.accuracy.robust(np.ones(600), 0.1, c.symmetric(600, 0.3))
    with pytest.raises(SfumatoError, match="not invertible"):
        sf.accuracy.robust([3, 4], 0.1, [[0.5, 0.5], [0.5, 0.5]])


def test_limits_hold_where_many_answers_are_rare() -> None:
    """400 people, windows over 12 values: answers that nobody happened to give are not taken for impossible."""
    channel, n, share, rng = c.windows(12, 3), 400, 0.05, np.random.default_rng(5)
    theta = np.array([30, 20, 15, 10, 8, 5, 4, 3, 2, 1, 1, 1]) / 100
    missed = 0
    for _ in range(12):
        counts = rng.multinomial(n, theta @ channel.matrix)
        found = sf.accuracy.robust(counts, share, channel)
        missed += int(((found.low > theta) | (found.high < theta)).sum())
    assert missed <= 4  # of 144; 7 % were missed before
