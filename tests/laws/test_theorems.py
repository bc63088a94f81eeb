"""Zhang et al. (2004), Theorems 1 and 2, on thousands of random channels; each with a control that must fail."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from sfumato.assess import privacy
from sfumato.channels import matrix


def random_channels(count: int, seed: int, k: int, m: int) -> np.ndarray:
    """From nearly noiseless to nearly blind: rows drawn around a common row with random concentration."""
    rng = np.random.default_rng(seed)
    common = rng.dirichlet(np.ones(m), size=count)
    own = rng.dirichlet(np.full(m, 0.7), size=(count, k))
    honest = rng.random(count)[:, None, None] ** 0.5
    own = honest * np.eye(k, m) + (1 - honest) * own
    weight = rng.random(count)[:, None, None]
    return weight * own + (1 - weight) * common[:, None, :]


@pytest.mark.parametrize(("k", "m"), [(2, 2), (3, 3), (3, 6), (5, 5)])
def test_theorem_1_no_estimator_beats_the_bound(k, m):
    rng = np.random.default_rng(k * 10 + m)
    margins = []
    for P in random_channels(500, k * 100 + m, k, m):
        prior = rng.dirichlet(np.ones(k)) * 0.98 + 0.02 / k
        bound = privacy.effective_sample_bound(P)
        assert bound == pytest.approx(1 - P.min(axis=0).sum(), abs=1e-9)
        values = [privacy.effective_sample_size(P, prior, target) for target in ("shares", "cdf")]
        assert max(values) <= bound + 1e-9
        margins.append(max(values) / bound)
    assert max(margins) > 0.5  # the control: half of the bound is no bound


def mean_error(successes: int, low: float, high: float, p: float, n: int) -> np.ndarray:
    """E |clip((Y / n - low) / (high - low)) - p| for Y binomial: exact, the maximum likelihood estimate of p."""
    y = np.arange(n + 1)
    estimate = np.clip((y / n - low) / (high - low), 0, 1)
    return float(binom.pmf(y, n, successes) @ np.abs(estimate - p))


def test_theorem_1_holds_for_definition_1_exactly_on_binary_channels():
    """Expected distances by summation, no simulation: the randomized estimate is no better than bound * n plain records."""
    rng = np.random.default_rng(11)
    checked = broken_by_square = 0
    while checked < 2000:
        low, high = np.sort(rng.random(2))
        p, n = rng.uniform(0.02, 0.98), int(rng.integers(5, 200))
        bound = privacy.effective_sample_bound([[1 - low, low], [1 - high, high]]) if checked < 200 else high - low
        if n * bound < 1:
            continue
        randomized = mean_error(low + p * (high - low), low, high, p, n)
        plain = mean_error(p, 0.0, 1.0, p, int(np.ceil(n * bound)))
        assert plain <= randomized + 1e-9, (low, high, p, n)
        fewer = int(np.ceil(n * bound**4 / 2))
        broken_by_square += fewer >= 1 and mean_error(p, 0.0, 1.0, p, fewer) > randomized
        checked += 1
    assert broken_by_square > 100  # the control: far fewer records would not do


def test_erasure_alone_meets_the_bound():
    for k, keep in ((2, 0.4), (5, 0.7)):
        P = np.hstack((keep * np.eye(k), np.full((k, 1), 1 - keep)))
        assert privacy.effective_sample_size(P) == pytest.approx(privacy.effective_sample_bound(P), abs=1e-9)
    assert privacy.effective_sample_size([[0.7, 0.3], [0.3, 0.7]]) < 0.5 * privacy.effective_sample_bound(
        [[0.7, 0.3], [0.3, 0.7]]
    )


@pytest.mark.parametrize(("k", "m"), [(2, 2), (3, 4), (6, 6)])
def test_theorem_2_no_intrusion_below_its_gamma(k, m):
    rng = np.random.default_rng(k + m)
    sure = wrong = 0
    for P in random_channels(800, 7 * k + m, k, m):
        prior = rng.dirichlet(np.ones(k))
        channel = matrix(P)
        gamma = channel.gamma
        sigma = (1 - prior.max()) / (gamma * prior.max()) * (1 - 1e-9)
        if not 0 < sigma < np.inf:
            continue
        assert privacy.no_intrusion(channel, prior.max(), sigma)
        assert privacy.game_value(channel, prior, benefit=sigma, loss=1.0) == 0.0
        sure += 1
        # the control: a hundred times the benefit is beyond the guarantee, and often pays
        assert not privacy.no_intrusion(channel, prior.max(), 100 * sigma)
        wrong += privacy.game_value(channel, prior, benefit=100 * sigma, loss=1.0) < 0
    assert sure > 750
    assert wrong > 0.5 * sure


def test_theorem_2_is_tight_for_warner():
    for keep, top in np.random.default_rng(3).uniform((0.51, 0.5), (0.99, 0.95), size=(200, 2)):
        limit = privacy.gamma_for_no_intrusion(top, 1.0)
        sigma = limit / (keep / (1 - keep))
        channel = [[keep, 1 - keep], [1 - keep, keep]]
        assert privacy.game_value(channel, [top, 1 - top], benefit=sigma * 0.999, loss=1) == 0
        assert privacy.game_value(channel, [top, 1 - top], benefit=sigma * 1.001, loss=1) < 0


def test_columns_that_never_occur_do_not_count():
    with_ghost = [[0.6, 0.4, 0.0], [0.4, 0.6, 0.0]]
    assert privacy.no_intrusion(with_ghost, 0.5, 0.5)
    assert privacy.gamma(with_ghost) == pytest.approx(1.5)
