"""Estimates from one round of a longitudinal study: unbiased, and intervals that hold."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato import channels as c


@pytest.mark.filterwarnings("ignore::sfumato.errors.NegativeCountsWarning")
def test_intervals_of_a_round_cover() -> None:
    """120 draws of 8 counts each: fewer than .91 or more than .985 held would be a chance of one in a million."""
    rng, held, away = np.random.default_rng(8), [], []
    values = tuple("abcdefgh")
    schema = sf.Schema({"v": sf.Categorical(values)})
    scheme = sf.Scheme(schema, {"v": c.longitudinal(8, 3, 100)})
    for draw in range(120):
        codes = rng.choice(8, 1200, p=np.arange(1, 9) / 36)
        truth = np.bincount(codes, minlength=8)
        release = sf.randomize({"v": [values[code] for code in codes]}, scheme, rng=sf.experiment(draw))
        estimate = sf.evidence(release).counts("v")
        low, high = estimate.interval(0.95)
        held.append((low <= truth) & (truth <= high))
        away.append((estimate.value - truth) / np.sqrt(np.diag(estimate.cov)))
    assert 0.91 < np.mean(held) < 0.985
    assert np.abs(np.mean(away, axis=0)).max() < 5.5 / np.sqrt(120)
    assert 0.8 < np.std(away) < 1.2


def test_the_wrong_collisions_would_show() -> None:
    """The negative control: as if values never shared a class, counts would be far off."""
    channel = c.longitudinal(8, 3, 100)
    codes = np.full(20_000, 3)
    released = channel.randomize(codes, np.random.default_rng(9))
    inside = channel.transition.dense() > channel.transition.off
    hits = inside[:, released].sum(axis=1)
    a, b = float(channel._stay), float(channel._move)
    wrong = (hits - 20_000 * b) / (a - b)
    right = channel.inverse.apply(np.bincount(released, minlength=channel.m).astype(float)[:, None])[:, 0]
    assert abs(right[0]) < 1500 < wrong[0]
