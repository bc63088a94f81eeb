"""The attack on membership: it finds who was there, it is blind where there is nothing to find, and it says how sure it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sfumato.membership import FEATURES, Risk, Shadows, auc, loneliest, shadow_risk
from sfumato.membership.features import Pool
from sfumato.membership.shadow import Learned, halve
from sfumato.randomness import normals, source

X = np.random.default_rng(0).normal(size=(90, 3)) + np.repeat([0, 2], [60, 30])[:, None]
Y = np.repeat(["a", "b"], [60, 30])


def blind(A, y, src):
    """Rows that have nothing to do with the records."""
    return normals(src, len(A), A.shape[1]), y


def copies(A, y, src):
    return A, y


def test_rows_that_ignore_the_records_leave_the_attack_blind():
    found = shadow_risk(X, Y, blind, source(1), 160)
    assert abs(found.auc - 0.5) < 4.9 * found.error and abs(found.outliers - 0.5) < 4.9 * found.outliers_error
    assert found.error < 0.01 and found.shadows == 160 and len(found.attacks) == len(FEATURES) == 24


def test_copies_are_found_for_certain():
    found = shadow_risk(X, Y, copies, source(1), 40)
    assert found.auc > 0.97 and found.outliers > 0.97
    assert found.auc > max(pair[0] for pair in found.attacks.values()) - 0.02


def test_moments_alone_give_members_away():
    """Fresh normals with the moments of the members: no row comes from a record, and the attack sees them all the same."""

    def moments(A, y, src):
        out = []
        for label in np.unique(y):
            part = A[y == label]
            root = np.linalg.cholesky(np.cov(part.T) + 1e-9 * np.eye(A.shape[1]))
            out.append(part.mean(axis=0) + normals(src, 4 * len(part), A.shape[1]) @ root.T)
        return np.vstack(out), np.repeat(np.unique(y), [4 * (y == label).sum() for label in np.unique(y)])

    found = shadow_risk(X, Y, moments, source(1), 80)
    assert found.auc - 4.9 * found.error > 0.55 and found.outliers > 0.65
    rows = [found.attacks[name][0] for name in FEATURES if "row" in name]
    assert max(rows) < max(found.attacks[name][0] for name in FEATURES if "row" not in name)


def test_every_record_is_in_half_of_the_shadows_of_its_class():
    masks = np.array([halve(Y, source(seed)) for seed in range(60)])
    assert (masks[:, :60].sum(axis=1) == 30).all() and (masks[:, 60:].sum(axis=1) == 15).all()
    odd = np.array([halve(np.zeros(7), source(seed)).sum() for seed in range(60)])
    assert set(odd) == {3, 4}


def test_a_class_that_the_release_lacks_is_survived():
    pool = Pool(X, Y)
    found = pool.features(X[:60], Y[:60])
    assert found.shape == (24, 90) and np.isfinite(found).all()
    assert np.isfinite(pool.features(X, np.full(90, "c"))).all()


def test_the_certainty_of_a_class_is_the_log_odds_of_normal_classes():
    from scipy.stats import multivariate_normal

    wide = Pool(X, Y)
    found = wide.features(X, Y)[FEATURES.index("certainty of the class, model of each class")]
    Z = X / X.std(axis=0)
    logs = []
    for label in ("a", "b"):
        part = Z[label == Y]
        spread = np.cov(part.T, bias=True) + 0.02 * np.eye(3)
        logs.append(np.log(len(part)) + multivariate_normal(part.mean(axis=0), spread).logpdf(Z))
    assert found == pytest.approx((logs[0] - logs[1]) * np.where(Y == "a", 1, -1))
    alone = Pool(X[:60], Y[:60]).features(X[:60], Y[:60])
    assert (alone[FEATURES.index("certainty of the class, common model")] == 0).all()  # one class is no choice


def test_what_is_learned_is_a_likelihood_ratio():
    """One informative feature among noise: the score rises with it, and constant features add nothing."""
    rng = np.random.default_rng(0)
    member = rng.random((400, 20)) < 0.5
    features = rng.normal(size=(400, 3, 20))
    features[:, 0] += member
    features[:, 2] = 7.0
    learned = Learned.fit(features, member)
    score = learned.score(features)
    assert auc(score[member], score[~member]) == pytest.approx(0.76, abs=0.02)  # Phi(1 / sqrt 2)
    assert learned.weights[2] == 0 and np.isfinite(score).all()


def test_gaps_are_learned_from_candidates_of_like_deviation():
    """Who pulls more varies more: 40 releases then teach what each candidate alone would take hundreds to teach."""
    rng = np.random.default_rng(0)
    pull = rng.exponential(size=100)

    def game(n):
        member = rng.random((n, 100)) < 0.5
        features = 0.3 * pull**2 * member + pull * rng.normal(size=(n, 100))
        return np.stack([features, rng.normal(size=(n, 100))], axis=1), member

    learned = Learned.fit(*game(40))
    assert np.corrcoef(learned.gap[0], pull)[0, 1] > 0.9
    features, member = game(400)
    score = learned.score(features)
    best = 0.3 * pull * (features[:, 0] - 0.15 * pull**2) / pull
    reached, possible = (auc(one[member], one[~member]) for one in (score, best))
    assert reached > possible - 0.02 > 0.58


def test_features_of_noise_do_not_drown_the_one_that_tells():
    """Twenty of them, and few releases: weights are rated on releases that taught nothing of the gaps."""
    rng = np.random.default_rng(0)
    member = rng.random((440, 80)) < 0.5
    features = rng.normal(size=(440, 21, 80))
    features[:, 0] += 0.3 * member
    score = Learned.fit(features[:40], member[:40]).score(features[40:])
    there = member[40:]
    assert auc(score[there], score[~there]) == pytest.approx(0.584, abs=0.015)  # Phi(.3 / sqrt 2)


def test_a_bound_is_held_with_two_standard_errors():
    risk = Risk(0.549, 0.002, 0.58, 0.01, 0.55, 0.6)
    assert not risk.held and replace(risk, error=0.0005).held and not replace(risk, outliers=0.595).held
    assert (
        not replace(risk, error=0.0007).held and not replace(risk, auc=0.5, outliers=0.585).held
    )  # two errors, not one
    assert risk.nearest == (0.56, 0.6) and replace(risk, asked=0.56, outliers_asked=0.6).held
    assert Risk(0.9, 0.0, 0.9, 0.0).held  # nothing was asked


def test_the_loneliest_are_those_far_from_their_class():
    far = X.copy()
    far[[3, 70]] += 30
    lonely = loneliest(far, Y)
    assert lonely[3] and lonely[70] and lonely.sum() == 9
    assert loneliest(X[:8], np.repeat([0, 1], 4)).all()  # nobody has five others


def test_more_shadows_teach_more():
    done: list[int] = []
    few, many = (Shadows.draw(X, Y, copies, source(1), n, done.append).learn() for n in (8, 64))
    assert done == [1] * 72
    assert few.gap.shape == many.gap.shape == (24, 90)
