"""The smooth distribution of ordered values through any channel."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato import channels as c
from sfumato.channels import Channel
from sfumato.errors import EstimationError
from sfumato.evidence import mle
from sfumato.evidence.density.smooth import Smooth, smooth


def skewed(k: int) -> np.ndarray:
    x = (np.arange(k) + 0.5) / k
    shares = x * (1 - x) ** 4
    return shares / shares.sum()


def seen(channel: Channel, shares: np.ndarray, n: int, seed: int) -> np.ndarray:
    released = channel.transition.T.apply(shares)
    return np.random.default_rng(seed).multinomial(n, released / released.sum())


@pytest.mark.parametrize(
    "channel",
    [c.windows(40, 6), c.windows(12, 6), c.subset(40, 6), c.symmetric(40, 0.5), c.average(11, 6), c.identity(40)],
    ids=str,
)
def test_it_works_through_any_channel(channel: Channel) -> None:
    k = channel.k
    shares = skewed(k)
    found = smooth(seen(channel, shares, 40_000, 1), channel)
    assert found.shares.sum() == pytest.approx(1)
    assert (found.shares >= 0).all()
    assert np.abs(found.cdf - np.cumsum(shares)).max() < 0.06
    mean, sd = found.mean(np.arange(k))
    assert abs(mean - shares @ np.arange(k)) < 5 * sd
    low, high = found.band()
    assert (low <= found.cdf + 1e-12).all()
    assert (high >= found.cdf - 1e-12).all()
    assert (np.diff(low) >= -1e-12).all()
    assert (np.diff(high) >= -1e-12).all()


def test_it_is_nearer_to_the_truth_than_the_most_likely_counts() -> None:
    channel, shares = c.windows(60, 3), skewed(60)
    ours, theirs = [], []
    for seed in range(5):
        counts = seen(channel, shares, 5000, seed)
        likely = mle.fit(channel.transition, counts.astype(float), most=300).theta
        ours.append(np.abs(smooth(counts, channel).cdf - np.cumsum(shares)).mean())
        theirs.append(np.abs(np.cumsum(likely) - np.cumsum(shares)).mean())
    assert np.mean(ours) < np.mean(theirs)


def test_many_values_are_gathered_into_cells() -> None:
    k = 10_000
    channel, shares = c.windows(k, 4), skewed(k)
    found = smooth(seen(channel, shares, 50_000, 2), channel)
    assert found.shares.shape == found.sd.shape == found.cdf_sd.shape == (k,)
    middle, low, high = found.quantile(0.5, np.linspace(0, 1, k + 1))
    truth = (np.searchsorted(np.cumsum(shares), 0.5) + 0.5) / k
    assert low < truth < high
    assert low <= middle <= high
    assert high - low < 0.1
    with pytest.raises(EstimationError, match="too large: ask for sums"):
        _ = found.cov


def test_sums_carry_the_covariance_of_the_shares() -> None:
    channel = c.windows(200, 5)
    found = smooth(seen(channel, skewed(200), 20_000, 3), channel)
    weights = np.random.default_rng(4).normal(size=(3, 200))
    value, covariance = found.linear(weights)
    np.testing.assert_allclose(value, weights @ found.shares)
    np.testing.assert_allclose(covariance, weights @ found.cov @ weights.T, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(np.diag(found.cov), found.sd**2, rtol=1e-6, atol=1e-15)
    last = found.first[1:] - 1
    running = np.cumsum(np.cumsum(found.cov, axis=0), axis=1)[last, last]
    np.testing.assert_allclose(found.cdf_sd[last] ** 2, running, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(found.linear(np.ones(200))[1], 0.0, atol=1e-12)  # the whole is known


@pytest.mark.parametrize(
    "channel", [c.windows(50, 5, nullable=True), c.average(8, 5, nullable=True), c.subset(21, 5)], ids=str
)
def test_missing_answers_are_told_and_left_out(channel: Channel) -> None:
    k = channel.k - 1
    shares = skewed(k)
    found = smooth(seen(channel, np.append(0.7 * shares, 0.3), 40_000, 5), channel, nullable=True)
    assert abs(found.missing - 0.3) < 5 * found.missing_sd
    mean, sd = found.mean(np.arange(k))
    assert abs(mean - shares @ np.arange(k)) < 5 * sd
    assert found.shares.shape == (k,)


def test_one_value_and_strange_input() -> None:
    assert smooth([5, 3], c.symmetric(2, 0.2), nullable=True).shares.tolist() == [1.0]
    for counts in ([1, 2], [1, -1, 0], [0, 0, 0], [1, np.nan, 0], np.ones((3, 1))):
        with pytest.raises(EstimationError, match=r"counts must hold|no records"):
            smooth(counts, c.symmetric(3, 0.2))
    found = smooth([50, 30, 40], c.symmetric(3, 0.2))
    assert isinstance(found, Smooth)
    for q in (0, 1, -1, np.nan):
        with pytest.raises(EstimationError, match="q must lie in"):
            found.quantile(q, [0, 1, 2, 3])
    with pytest.raises(EstimationError, match="edges must have 4"):
        found.quantile(0.5, [0, 1, 2])
    with pytest.raises(EstimationError, match="level must lie in"):
        found.band(2)
    with pytest.raises(EstimationError, match="weights must have 3"):
        found.linear([1, 2])


def test_several_channels_tell_one_distribution() -> None:
    shares = skewed(40)
    channels = [c.windows(40, 3), c.subset(40, 6)]
    parts = [seen(channel, shares, 15_000, number) for number, channel in enumerate(channels)]
    together = smooth(parts, channels)
    alone = [smooth(part, channel) for part, channel in zip(parts, channels, strict=True)]
    assert together.n == 30_000
    x = np.arange(40)
    assert together.mean(x)[1] < min(one.mean(x)[1] for one in alone)
    assert abs(together.mean(x)[0] - shares @ x) < 5 * together.mean(x)[1]
    empty = smooth([parts[0], np.zeros(channels[1].m)], channels)
    np.testing.assert_allclose(empty.shares, alone[0].shares, atol=1e-9)
    nullable = [c.windows(39, 3, nullable=True), c.subset(40, 6)]
    mixed = np.append(0.8 * skewed(39), 0.2)
    found = smooth([seen(one, mixed, 20_000, 7) for one in nullable], nullable, nullable=True)
    assert abs(found.missing - 0.2) < 5 * found.missing_sd
    for counts, given in (([parts[0]], channels), ([], []), (parts, [channels[0], c.subset(9, 3)])):
        with pytest.raises(EstimationError, match="as many lists of counts as channels"):
            smooth(counts, given)
