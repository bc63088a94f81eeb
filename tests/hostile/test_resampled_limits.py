"""Rows that are cut off at a limit show the limit, and a limit that was computed from the records shows them.

Once every value beyond six units was released as middle + 6 units, with both taken from the records without noise.
"""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.assess.resample_study import quietly
from sfumato.membership import Shadows, loneliest, shadow_risk
from sfumato.owner.resample import calibrate, columns
from sfumato.owner.resample.model import FORMS
from sfumato.owner.resample.setting import Setting
from sfumato.randomness import normals, source

BENT = next(form for form in FORMS if form.scaled)


def skewed(n, d, seed):
    """Two classes of long-tailed columns, of unlike spread: powers are undone far out."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return np.exp(np.where(y[:, None] == 0, 0.5, 1.0) * rng.normal(size=(n, d)) + y[:, None] * 0.8), y


def most_repeated(X):
    return max(int(np.unique(column, return_counts=True)[1].max()) for column in X.T)


@pytest.mark.parametrize("sign", [1, -1])
def test_no_value_repeats_that_does_not_repeat_in_the_records(sign):
    X, y = skewed(400, 8, 5)
    R, _ = Setting(BENT, 2.0).release(4.0)(sign * X, y, source(1))
    assert most_repeated(X) == 1 and most_repeated(R) == 1


def test_the_extremes_are_no_statistic_of_the_records():
    """The same records released again: their limit would come out the same, drawn rows do not."""
    X, y = skewed(400, 8, 5)
    ends = np.array([Setting(BENT, 2.0).release(4.0)(X, y, source(seed))[0].max(axis=0) for seed in range(6)])
    assert all(len(np.unique(column)) == 6 for column in ends.T)


def test_a_held_bound_holds_against_the_attack_on_extremes(monkeypatch):
    monkeypatch.setattr(calibrate, "SHADOWS", 32)
    pool, labels = skewed(480, 12, 8)
    half = np.arange(480) < 240
    out = quietly(pool[half], labels[half], np.random.default_rng(1), max_risk=0.55)
    assert out.worst.held
    found = shadow_risk(pool, labels, out.again, source(3), 48)
    assert found.auc - 4.9 * found.error < 0.55 and found.auc < 0.575
    assert found.attacks["extremes that repeat"] == (0.5, 0.5)


def test_the_attack_finds_members_through_a_limit_and_nothing_else():
    """Rows that ignore the records, cut off at a limit that does not. Not cut off, they leave the attack blind."""
    pool, labels = skewed(160, 6, 9)
    lonely = loneliest(pool, labels)

    def cut(X, y, src):
        inner = np.clip(X, *np.quantile(X, (0.05, 0.95), axis=0))
        limit = inner.mean(axis=0) + 6 * 1.187 * inner.std(axis=0)
        return np.minimum(20 * normals(src, *X.shape), limit), y

    def whole(X, y, src):
        return 20 * normals(src, *X.shape), y

    found, blind = (Shadows.draw(pool, labels, method, source(2), 80).judge(lonely) for method in (cut, whole))
    assert found.attacks["extremes that repeat"][0] > 0.55 and found.auc - 4.9 * found.error > 0.52
    assert abs(blind.auc - 0.5) < 4.9 * blind.error


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 1.5, 2.0])
def test_far_values_go_on_without_a_step_or_an_edge(power):
    z = columns.bend(np.linspace(-9, 9, 3601), power)
    x = columns._unbend_near(z, power)
    near = np.abs(columns.unbend(z, power)) <= 6
    assert (np.diff(x) > 0).all() and x[near] == pytest.approx(columns.unbend(z, power)[near])
    slope = np.diff(x) / np.diff(z)
    assert np.abs(np.diff(slope) / slope[1:]).max() < 0.02
    assert np.isfinite(columns._unbend_near(np.array([-1e6, 1e6]), power)).all()
