"""The band and the mean of smoothed distributions cover the truth as often as they say."""

from __future__ import annotations

import numpy as np
from scipy import stats

from sfumato import channels as c
from sfumato.evidence.density.smooth import smooth

RUNS = 10


def test_band_and_mean_cover() -> None:
    """On shapes that the band was not set on. The negative control: limits a third as wide must fail."""
    k, x = 48, np.arange(48)
    grid = np.linspace(0, 1, k + 1)
    shapes = [
        np.diff(stats.gamma(3, scale=0.08).cdf(grid)),
        np.diff(stats.norm(0.6, 0.15).cdf(grid)),
        np.diff(0.7 * stats.beta(2, 8).cdf(grid) + 0.3 * stats.beta(9, 3).cdf(grid)),
    ]
    inside, narrow, means = [], [], []
    for number, shares in enumerate(shapes):
        shares = shares / shares.sum()
        running = np.cumsum(shares)
        at = np.searchsorted(running, np.arange(0.1, 0.95, 0.1))
        for gamma, n in ((2.5, 4000), (6.0, 15_000)):
            channel = c.windows(k, gamma)
            released = channel.transition.T.apply(shares)
            rng = np.random.default_rng([number, n])
            for _ in range(RUNS):
                found = smooth(rng.multinomial(n, released / released.sum()), channel)
                low, high = found.band(0.95)
                inside.append(((low <= running) & (running <= high))[at].mean())
                third = (high - low) / 6
                narrow.append((np.abs(found.cdf - running) <= third)[at].mean())
                value, sd = found.mean(x)
                means.append(abs(value - shares @ x) < 1.96 * sd)
    assert np.mean(inside) > 0.92
    assert np.mean(narrow) < 0.85
    assert 0.88 < np.mean(means) <= 1
