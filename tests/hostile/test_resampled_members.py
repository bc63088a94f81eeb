"""An attacker who knows the method draws shadow releases: what an owner is told must be what the attacker finds.

The attack here is written from scratch, on two features only, so that a fault in the product's own attack shows.
"""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.assess.resample_study import quietly
from sfumato.membership import FEATURES, Filtered, Shadows, loneliest
from sfumato.membership.features import Pool
from sfumato.owner.resample import calibrate
from sfumato.owner.resample.model import FORMS
from sfumato.owner.resample.setting import Setting
from sfumato.randomness import normals, source

SHADOWS = 120


def auc(inside, outside):
    return float((inside[:, None] > outside).mean() + (inside[:, None] == outside).mean() / 2)


def features(R, r, pool, labels):
    """For each candidate how far the release leans towards it: in the mean of its class, and in the covariance."""
    out = np.empty((2, len(pool)))
    for label in np.unique(labels):
        rows = labels == label
        near, part = R[r == label], pool[rows]
        whiten = np.linalg.inv(np.linalg.cholesky(np.cov(part.T) + 0.02 * np.eye(pool.shape[1])))
        e = (part - part.mean(axis=0)) @ whiten.T
        out[0, rows] = e @ (whiten @ (near.mean(axis=0) - part.mean(axis=0)))
        gap = whiten @ (np.cov(near.T) - np.cov(part.T)) @ whiten.T
        out[1, rows] = ((e @ gap) * e).sum(axis=1)
    return out


def attack(pool, labels, method, seed):
    """The mean AUC over the last third of the releases, each candidate scored by what the others taught."""
    rng, src = np.random.default_rng(seed), source(seed)
    seen, member = [], []
    for _ in range(SHADOWS):
        half = np.zeros(len(pool), dtype=bool)
        for label in np.unique(labels):
            rows = rng.permutation(np.flatnonzero(labels == label))
            half[rows[: len(rows) // 2]] = True
        seen.append(features(*method(pool[half], labels[half], src), pool, labels))
        member.append(half)
    seen, member = np.array(seen), np.array(member)
    learn = 2 * SHADOWS // 3
    inside = member[:learn, None, :]
    means = [(seen[:learn] * kind).sum(axis=0) / kind.sum(axis=0) for kind in (inside, ~inside)]
    spread = seen[:learn].std(axis=0)
    gap = ((means[0] - means[1]) / spread).mean(axis=1)[:, None]
    scores = (gap * (seen[learn:] - (means[0] + means[1]) / 2) / spread).sum(axis=1)
    found = [auc(score[half], score[~half]) for score, half in zip(scores, member[learn:], strict=True)]
    return np.mean(found), np.std(found) / np.sqrt(len(found))


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(7)
    labels = np.repeat([0, 1], 90)
    return rng.standard_t(5, size=(180, 5)) @ rng.normal(size=(5, 5)) + labels[:, None], labels


def test_a_held_bound_holds_against_an_attack_that_the_product_does_not_know(people, monkeypatch):
    monkeypatch.setattr(calibrate, "SHADOWS", 64)
    pool, labels = people
    half = np.arange(180) % 2 == 0
    out = quietly(pool[half], labels[half], np.random.default_rng(1), max_risk=0.55)
    assert out.worst.held
    found, error = attack(pool, labels, out.again, 3)
    assert found - 4.9 * error < 0.55 and found < 0.575


def test_the_attack_finds_members_through_moments_that_are_not_blurred(people):
    """As every release did that drew normals, or mixed rows, with the moments of its members."""
    pool, labels = people

    def moments(X, y, src):
        root = [np.linalg.cholesky(np.cov(X[y == c].T)) for c in (0, 1)]
        rows = [X[y == c].mean(axis=0) + normals(src, 180, 5) @ root[c].T for c in (0, 1)]
        return np.vstack(rows), np.repeat([0, 1], 180)

    found, error = attack(pool, labels, moments, 3)
    assert found - 4.9 * error > 0.57


def test_a_proof_holds_far_below_its_bound(people):
    pool, labels = people
    half = np.arange(180) % 2 == 0
    low, high = np.array([-60.0] * 5), np.array([60.0] * 5)
    out = quietly(pool[half], labels[half], 1, epsilon=1, ranges=np.column_stack([low, high]))
    found, error = attack(pool, labels, out.again, 3)
    assert found - 4.9 * error < out.guarantee.auc


def test_what_travels_names_no_record(people, tmp_path):
    pool, labels = people
    out = quietly(pool, labels, 1, epsilon=1, ranges=(-60, 60))
    assert out.centres is None
    said = str(out.description)
    assert "centre" not in said and not any(f"{value:.6f}" in said for value in pool.reshape(-1))


def heavy_tails():
    """Columns with long tails and unlike units, where the pool's units are not the model's own."""
    rng = np.random.default_rng(11)
    labels = np.repeat([0, 1], 80)
    return np.exp(rng.standard_t(4, size=(160, 4)) * [0.3, 0.6, 0.9, 1.2]) + labels[:, None], labels


def test_the_judge_is_no_weaker_than_the_closed_form_used_as_an_attack():
    """The closed form that sets the noise also says where to look. Once it found more than the attack that judged."""
    X, y = heavy_tails()
    method, lonely = Setting(FORMS[0], 1.0).game(4.0), loneliest(X, y)
    games = Shadows.draw(X, y, method, source(1), 240)
    score = games.features[:, games.pool.names.index("matched filter")]
    found = [[auc(s[m], s[~m]), auc(s[m & lonely], s[~m & lonely])] for s, m in zip(score, games.member, strict=True)]
    whole, outer = np.mean(found, axis=0)
    judged = games.judge(lonely)
    assert whole > 0.53 and judged.auc > whole - 0.003 and judged.outliers > outer - 0.01
    blind = Shadows(Pool(X, y), games.features[:, : len(FEATURES)], games.member).judge(lonely)
    assert blind.auc < judged.auc and blind.outliers < judged.outliers


def test_the_attack_from_outside_uses_the_filter_too(monkeypatch):
    monkeypatch.setattr(calibrate, "SHADOWS", 8)
    X, y = heavy_tails()
    half = np.arange(160) % 2 == 0
    out = quietly(X[half], y[half], np.random.default_rng(1), max_risk=0.7)
    assert isinstance(out.again, Filtered)
    names = Shadows.draw(X, y, out.again, source(1), 8).pool.names
    assert names[: len(FEATURES)] == FEATURES and "matched filter" in names
