"""The recommended method: what it keeps, whom it mixes more, and how its strength is chosen."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.owner.resample import resample
from sfumato.owner.resample.blend import Setting, fit, perplexity_mixing, squared
from sfumato.owner.resample.calibrate import blend_method, calibrate, ladder, loneliest, play
from sfumato.owner.resample.cells import cells, covariance
from sfumato.owner.resample.closeness import (
    auc,
    blend_insider,
    closeness,
    kernel_insider,
    noise_insider,
    source_score,
    without_own,
)
from sfumato.owner.resample.envelope import Envelope
from sfumato.owner.resample.relay import models
from sfumato.randomness import source


def cloud(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)) @ np.array([[2, 1, 0], [0, 1, 0.3], [0, 0, 0.5]]) + [10, -4, 0]


def test_perplexity_is_what_was_asked():
    gaps = squared(cloud(200), cloud(200, 1))
    for k in (5.0, 50.0):
        lam = perplexity_mixing(gaps, k)
        weight = np.exp(-(gaps - gaps.min(axis=1, keepdims=True)) * ((1 - lam) / lam)[:, None] / 2)
        share = weight / weight.sum(axis=1, keepdims=True)
        reached = np.exp(-(share * np.log(np.maximum(share, 1e-300))).sum(axis=1))
        assert reached == pytest.approx(k, rel=0.01)


def test_outliers_are_mixed_more():
    X = cloud()
    X[0] += 25
    (model,) = fit([X], Setting(10))
    assert model.mix[0] == 1 and model.spread > 1
    assert (model.mix == 1).mean() == pytest.approx(0.15, abs=0.01)
    assert 0 < model.mix.min() < np.median(model.mix) < 0.9
    assert model.mixing(model.Z[:1] * 3, model.own[:1]) == 1


@pytest.mark.parametrize("sources", [4.0, 40.0, np.inf])
def test_mean_and_covariance_are_kept(sources):
    X = cloud(300)
    (model,) = fit([X], Setting(sources))
    Y = np.vstack([model.draw(300, source(seed))[0] for seed in range(40)])
    sd = X.std(axis=0)
    assert np.abs((Y.mean(axis=0) - X.mean(axis=0)) / sd).max() < 0.05
    assert np.abs(np.corrcoef(Y.T) - np.corrcoef(X.T)).max() < 0.05
    assert Y.std(axis=0) == pytest.approx(sd, rel=0.06)


def test_a_release_of_the_model_alone_uses_no_record_directly():
    X = cloud()
    (model,) = fit([X], Setting(np.inf))
    one, centre = model.draw(300, source(3))
    two, other = model.draw(300, source(3))
    assert np.array_equal(one, two) and np.array_equal(centre, other)
    assert (model.mixing(model.Z, model.own) == 1).all()


def test_two_clusters_become_two_cells_and_one_cloud_stays_whole():
    X = cloud()
    assert len(cells((X - X.mean(axis=0)) / X.std(axis=0), 20)) == 1
    far = np.vstack([X, X + np.array([60, 0, 0])])
    found = cells((far - far.mean(axis=0)) / far.std(axis=0), 20)
    assert sorted(map(len, found)) == [300, 300]
    (model,) = fit([far], Setting(np.inf))
    drawn = model.draw(600, source(1))[0]
    assert ((drawn[:, 0] > 25) & (drawn[:, 0] < 55)).sum() < 6  # nothing between the clusters


def test_covariance_shrinks_to_its_target():
    X = cloud(30)
    raw = np.cov(X.T)
    assert covariance(X, 0.0) == pytest.approx(raw)
    assert covariance(X, np.inf, np.eye(3)) == pytest.approx(np.eye(3))
    off = covariance(X)[0, 1] / raw[0, 1]
    assert off == pytest.approx(30 / 34)


def test_factors_carry_the_covariance_of_many_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 20)) + 0.1 * rng.normal(size=(200, 20))
    (model,) = fit([X], Setting(np.inf, factors=3))
    assert model.Z.shape == (200, 3)
    Y = np.vstack([model.draw(200, source(seed))[0] for seed in range(20)])
    assert np.abs(np.corrcoef(Y.T) - np.corrcoef(X.T)).max() < 0.1


def test_the_ladder_climbs_from_mild_to_strong():
    steps = ladder(np.repeat([0, 1], 200), 8)
    counts = [step.sources for step in steps]
    assert counts == sorted(counts) and counts[0] == 4 and np.isinf(counts[-1]) and np.isinf(steps[-1].tie)
    assert {step.factors for step in steps} == {None}
    assert all(step.factors or step.relay < 1 for step in ladder(np.repeat([0, 1], [200, 100]), 34))
    relays = [step.relay for step in steps]
    assert relays == sorted(relays, reverse=True) and relays[-1] == 1 / 16


def test_risk_falls_along_the_ladder():
    X, y = cloud(240), np.repeat([0, 1], 120)
    mild, strong = (
        play(X, y, blend_method(step), blend_insider(step), source(1)) for step in (Setting(2), Setting(np.inf, np.inf))
    )
    assert mild.achieved > 0.65 > 0.57 > strong.achieved


def test_a_relay_hides_what_the_model_itself_shows():
    X, y = cloud(40), np.repeat([0, 1], 20)
    plain, relayed = (
        play(X, y, blend_method(step), blend_insider(step), source(1), rounds=20)
        for step in (Setting(np.inf, np.inf), Setting(np.inf, np.inf, relay=1 / 8))
    )
    assert plain.outliers > 0.65 > 0.61 > relayed.outliers and plain.achieved > relayed.achieved
    (model,) = models([X], Setting(np.inf, np.inf, relay=1 / 8), source(1))
    drawn, centre = model.draw(100, source(2))
    assert drawn.shape == (100, 3) and centre.max() < 40 and (model.mix == 1).all()


def test_more_rows_per_record_disclose_more_and_the_games_know_it():
    X, y = cloud(100), np.repeat([0, 1], 50)
    once, often = (
        play(X, y, blend_method(Setting(4), rows), blend_insider(Setting(4)), source(2), rounds=3) for rows in (1, 10)
    )
    assert often.achieved > once.achieved + 0.03
    stated = calibrate(X, y, 1.0, 1.0, source(2), per_record=10.0)
    assert stated.setting == Setting(4) and stated.achieved > once.achieved + 0.03


def test_a_game_against_fresh_rows_of_the_same_law_is_blind():
    rng = np.random.default_rng(0)

    def fresh(X, y, src):
        return rng.normal(size=X.shape), y

    found = play(rng.normal(size=(400, 3)), np.zeros(400, dtype=int), fresh, noise_insider(1.0), source(1), rounds=2)
    assert found.achieved < 0.53

    def copy(X, y, src):
        return X, y

    assert play(rng.normal(size=(400, 3)), np.zeros(400, dtype=int), copy, None, source(1)).achieved > 0.99


def test_the_insider_beats_the_outsider_on_the_papers_kernel():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    member = np.arange(400) < 200
    y = np.zeros(400, dtype=int)
    gain = []
    for seed in range(4):
        out = resample(X[member], rng=seed)
        scores = closeness(out.X, np.zeros(200, dtype=int), X, y, kernel_insider())
        found = {name: auc(score[member], score[~member]) for name, score in scores.items()}
        gain.append(found["knows the method"] - found["standardised"])
    assert np.mean(gain) > 0.01


def test_source_score_prefers_the_record_behind_a_row():
    background = without_own(np.log(np.full((3, 3), 0.1)))
    given = np.log(np.array([[5.0, 0.1, 0.1], [0.1, 0.1, 0.1]]))
    mine, other = source_score(given, background)
    assert mine > 1 and other == pytest.approx(0)


def test_loneliest_are_lonely_within_their_class():
    X, y = cloud(200), np.repeat([0, 1], 100)
    X[5] += 30
    found = loneliest(X, y, 0.05)
    assert found[5] and found.sum() == 10


def test_records_without_company_in_their_class_are_the_loneliest():
    X, y = cloud(100), np.repeat([0, 1], [97, 3])
    found = loneliest(X, y, 0.1)
    assert found[97:].all() and found.sum() == 10


def test_the_envelope_covers_what_it_was_fitted_to():
    X = cloud(1500)
    (model,) = fit([X], Setting(20))
    envelope = Envelope.fit(model)
    assert (envelope.mixing(model.Z, model.own) >= model.mix - 1e-9).mean() > 0.8
    far = model.Z[:1] * 100
    assert envelope.mixing(far, np.zeros(1, dtype=int)) == 1
    drawn, order = envelope.draw(X, source(1))
    assert drawn.shape == X.shape and sorted(order) == list(range(1500))


def test_large_classes_go_through_the_envelope(monkeypatch):
    from sfumato.owner.resample import calibrate, recommended

    monkeypatch.setattr(recommended, "FITTED", 300)
    monkeypatch.setattr(calibrate, "RECORDS", 300)
    X = cloud(2000)
    out = resample(X, max_risk=0.6, rng=1)
    assert out.worst.held
    assert out.X.std(axis=0) == pytest.approx(X.std(axis=0), rel=0.1)
    assert sorted(out.centres) == list(range(2000))
