"""The mode with a proof: sensitivities on neighbouring tables, the size of the noise, and the accounting."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from sfumato.owner.resample import Guarantee, resample
from sfumato.owner.resample import proved as module
from sfumato.owner.resample.proved import (
    SHARES,
    Proved,
    check_ranges,
    mean_noise,
    moment_noise,
    mu_of,
    shorten,
)
from sfumato.randomness import experiment, source

X = np.random.default_rng(0).normal(size=(200, 3))
Y = np.repeat([0, 1], 100)
RANGES = np.array([[-5.0, 5.0]] * 3)


@pytest.mark.parametrize(("epsilon", "bound"), [(1, 0.588), (2, 0.658), (4, 0.770)])
def test_the_bound_on_every_auc(epsilon, bound):
    assert Guarantee.of(epsilon, 1e-4).auc == pytest.approx(bound, abs=5e-4)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1, 1e-4), (5, 1e-3), (50, 1e-9), (1e-7, 1e-9)])
def test_mu_is_that_of_the_analytic_gaussian_mechanism(epsilon, delta):
    mu = mu_of(epsilon, delta)
    spent = ndtr(mu / 2 - epsilon / mu) - np.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)
    assert spent == pytest.approx(delta, rel=1e-3)


def neighbours(rng, n, d):
    """Two tables in the box that differ in one record, as far as the box allows."""
    one = rng.uniform(-1, 1, size=(n, d))
    two = one.copy()
    one[0], two[0] = 1.0, -1.0
    if rng.random() < 0.5:
        one[0], two[0] = np.eye(d)[0] * 9, np.eye(d)[min(1, d - 1)] * 9
    return one, two


def test_no_neighbour_moves_a_statistic_farther_than_the_noise_is_made_for():
    rng = np.random.default_rng(1)
    worst = 0.0
    for _ in range(300):
        n, d, radius = int(rng.integers(2, 9)), int(rng.integers(1, 6)), float(rng.uniform(0.2, 2))
        one, two = (shorten(part, radius) for part in neighbours(rng, n, d))
        mean = np.linalg.norm(one.mean(axis=0) - two.mean(axis=0))
        moment = np.linalg.norm(one.T @ one - two.T @ two) / n
        assert mean <= mean_noise(radius, n, 1.0) * (1 + 1e-9)
        assert moment <= moment_noise(radius, n, 1.0) * (1 + 1e-9)
        worst = max(worst, moment / moment_noise(radius, n, 1.0))
    assert worst > 0.99  # the bound is reached, so it is not wasteful either


def released(table, monkeypatch, scale):
    """Means and moment of the mechanism with its normals replaced by ``scale`` times fixed ones."""
    rng = np.random.default_rng(5)
    monkeypatch.setattr(module, "normals", lambda src, *shape: scale * rng.normal(size=shape))
    kept = {}
    monkeypatch.setattr(module, "_without_noise", lambda moment, width, error: kept.setdefault("moment", moment))
    found = Proved.fit(table, Y, RANGES, 0.3145, source(1))
    return found.means, kept["moment"]


def test_the_whole_mechanism_is_private_on_neighbouring_tables(monkeypatch):
    """Its four statistics, each in units of its own noise, differ by a vector shorter than mu.

    With every normal at 0 the released statistics are the ones that noise is added to. One record jumps from corner to
    corner of the box; later steps see what earlier ones released, so both tables get the same releases.
    """
    other = X.copy()
    mine = X.copy()
    mine[0], other[0] = 5.0, -5.0
    mu, d = 0.3145, 3
    spend = mu * np.sqrt(SHARES)
    centre = np.zeros(d)
    total = 0.0
    reach = module._FAR * np.sqrt(d)
    Z = [np.clip(part / 5, -1, 1) for part in (mine, other)]
    for share in spend[:2]:
        width = mean_noise(reach, 200, share)
        sums = [shorten(part - centre, reach).mean(axis=0) for part in Z]
        total += (np.linalg.norm(sums[0] - sums[1]) / width) ** 2
        centre = centre + sums[0]
        reach = module._reach(d, width)
    width = mean_noise(reach, 100, spend[2])
    means = [np.array([shorten(part - centre, reach)[c == Y].mean(axis=0) for c in (0, 1)]) for part in Z]
    total += (np.linalg.norm(means[0] - means[1]) / width) ** 2
    around = centre + means[0]
    reach = module._reach(d, width)
    rest = [shorten(part - around[Y], reach) for part in Z]
    width = moment_noise(reach, 200, spend[3])
    total += (np.linalg.norm(rest[0].T @ rest[0] - rest[1].T @ rest[1]) / 200 / width) ** 2
    assert 0.3 * mu < np.sqrt(total) <= mu * (1 + 1e-9)
    assert np.sum(np.square(spend)) == pytest.approx(mu**2)
    # and these are the statistics that the mechanism computes
    got_means, got_moment = released(mine, monkeypatch, 0.0)
    assert got_means == pytest.approx(around)
    assert got_moment == pytest.approx(rest[0].T @ rest[0] / 200)


def test_the_noise_has_the_deviation_that_the_proof_asks_for(monkeypatch):
    still = released(X, monkeypatch, 0.0)
    spend = 0.3145 * np.sqrt(SHARES)
    one = mean_noise(module._FAR * np.sqrt(3), 200, spend[0])
    two = mean_noise(module._reach(3, one), 200, spend[1])
    three = mean_noise(module._reach(3, two), 100, spend[2])
    small = 1e-3  # so small that clipping does not change
    gaps, moments = [], []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        monkeypatch.setattr(module, "normals", lambda src, *shape, rng=rng: small * rng.normal(size=shape))
        kept = []
        monkeypatch.setattr(module, "_without_noise", lambda moment, *rest, kept=kept: kept.append(moment) or moment)
        found = Proved.fit(X, Y, RANGES, 0.3145, source(1))
        gaps.append((found.means[0] - found.means[1] - still[0][0] + still[0][1]) / small)
        moments.append((kept[0] - still[1]) / small)
    assert np.std(gaps) == pytest.approx(three * np.sqrt(2), rel=0.06)  # the centre drops out of a difference
    width = moment_noise(module._reach(3, three), 200, spend[3])
    diagonal, beside = np.array(moments)[:, [0, 1, 2], [0, 1, 2]], np.array(moments)[:, [0, 0, 1], [1, 2, 2]]
    assert np.std(beside) == pytest.approx(width / np.sqrt(2), rel=0.1)
    assert np.std(diagonal) == pytest.approx(width, rel=0.1)


def test_ranges_by_name_in_order_or_one_for_all():
    names = ("a", "b")
    for ranges in ({"b": (2, 3), "a": (0, 1)}, [(0, 1), (2, 3)], np.array([[0, 1], [2, 3]])):
        assert check_ranges(ranges, names).tolist() == [[0, 1], [2, 3]]
    assert check_ranges((0, 1), names).tolist() == [[0, 1], [0, 1]]


def test_released_rows_stay_in_the_declared_ranges_and_keep_the_classes_apart():
    rng = np.random.default_rng(0)
    data = np.clip(rng.normal(size=(2000, 3)) + 2 * np.repeat([0, 1], 1000)[:, None], -4, 6)
    out = resample(data, np.repeat(["u", "v"], 1000), epsilon=1, ranges=(-4, 6), rng=experiment(1))
    assert out.X.min() >= -4 and out.X.max() <= 6 and len(out) == 8000
    gap = out.X[out.y == "v"].mean(axis=0) - out.X[out.y == "u"].mean(axis=0)
    assert gap == pytest.approx([2, 2, 2], abs=0.5)
    assert out.worst is None and out.guarantee.auc < 0.59 and "proved" in repr(out)


def test_values_beyond_the_ranges_cannot_break_the_proof():
    wild = X.copy()
    wild[0] = 1e100
    calm, loud = (Proved.fit(data, Y, RANGES, 1e6, source(1)) for data in (np.clip(wild, -5, 5), wild))
    assert calm.means == pytest.approx(loud.means)
