"""Maximum likelihood through windows, on the few values that have a share."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from sfumato import channels as c
from sfumato.channels.windows import Windows
from sfumato.evidence import mle


def seen(channel: Windows, n: int = 5000) -> np.ndarray:
    values = channel.values
    x = np.random.default_rng(1).binomial(values - 1, 0.3, n)
    if channel.nullable:
        x[::7] = values
    return np.bincount(channel.randomize(x, rng=2), minlength=channel.m).astype(float)


@pytest.mark.parametrize(
    "channel", [c.windows(6, 3), c.windows(6, 3, nullable=True), c.windows(15, 20), c.windows(9, 4, [3, 9])], ids=str
)
def test_it_reaches_the_maximum_that_em_reaches(channel: Windows) -> None:
    counts = seen(channel)
    found = mle.fit(channel.transition, counts)
    assert found.gap < 1e-7
    assert found.theta.sum() == pytest.approx(1)
    assert (found.theta >= 0).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        slow = mle._squarem(channel.transition, counts, 1e-8, 5000)
    best = mle.log_likelihood(channel.transition, counts, slow.theta)
    assert mle.log_likelihood(channel.transition, counts, found.theta) > best - 1e-3
    wrong = np.roll(found.theta, 1)
    assert mle.log_likelihood(channel.transition, counts, wrong) < best - 1


def test_many_values_converge() -> None:
    """EM stopped here after 10 000 steps, far from the maximum."""
    for channel in (
        c.windows(300, 3),
        c.windows(300, 3, [1 << i for i in range(9)]),
        c.windows(8000, 4, nullable=True),
    ):
        found = mle.fit(channel.transition, seen(channel))
        assert found.gap < 1e-7
        assert found.iterations < 60
        assert (found.theta > 0).sum() < 200
