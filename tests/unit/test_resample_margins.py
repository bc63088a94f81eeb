"""The shape of released columns: closer to the records', and no record's own."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.owner.resample import resample
from sfumato.owner.resample.blend import Setting, fit
from sfumato.owner.resample.calibrate import blend_method, calibrate, play
from sfumato.owner.resample.closeness import blend_insider
from sfumato.owner.resample.envelope import Envelope
from sfumato.owner.resample.margins import CROWD, FEWEST, Margins
from sfumato.randomness import source


def skewed(n=407, seed=0):
    """A lognormal column, one that is zero for four records in ten, a normal one that follows the first, a constant."""
    rng = np.random.default_rng(seed)
    first = rng.lognormal(size=n)
    second = np.where(rng.random(n) < 0.4, 0.0, rng.normal(30, 8, n))
    return np.column_stack([first, second, np.log(first) + rng.normal(size=n) / 2, np.full(n, 0.1)])


def distance(a, b):
    """Kolmogorov and Smirnov's."""
    at = np.concatenate([a, b])
    return np.abs(
        np.searchsorted(np.sort(a), at, "right") / len(a) - np.searchsorted(np.sort(b), at, "right") / len(b)
    ).max()


def drawn(X, setting, times=10):
    (model,) = fit([X], setting)
    return np.vstack([model.draw(len(X), source(seed))[0] for seed in range(times)])


@pytest.mark.parametrize("sources", [40.0, np.inf])
def test_columns_get_the_shape_of_the_records(sources):
    X = skewed()
    plain, shaped = drawn(X, Setting(sources)), drawn(X, Setting(sources, margins=True))
    for column in (0, 1):
        assert distance(shaped[:, column], X[:, column]) < 0.05 < 0.09 < distance(plain[:, column], X[:, column])
    assert (shaped[:, 1] == 0).mean() == pytest.approx(0.4, abs=0.05) and not (plain[:, 1] == 0).any()
    assert distance(shaped[:, 2], X[:, 2]) < 0.05
    assert np.corrcoef(np.log(np.maximum(shaped[:, 0], 1e-3)), shaped[:, 2])[0, 1] > 0.6  # of .89
    assert (shaped[:, 3] == 0.1).all()


def test_no_knot_is_a_record_and_extremes_move_none():
    X = skewed()[:, [0, 2]]
    model = drawn(X, Setting(np.inf))
    margins = Margins.fit(X, model)
    assert not np.isin(margins.shown, X).any()
    shaped = margins.apply(model)
    assert not np.isin(shaped, X).any()
    far = X.copy()
    far[X.argmax(axis=0), [0, 1]] *= 1000
    assert Margins.fit(far, model).shown == pytest.approx(margins.shown, rel=1e-9)
    near = X.copy()
    near[np.argsort(X[:, 0])[190:220], 0] += 0.2  # thirty in the middle do move one
    assert Margins.fit(near, model).shown != pytest.approx(margins.shown, rel=1e-3)


def test_the_map_is_monotone_and_can_be_undone():
    X = skewed()[:, [0, 2]]
    model = drawn(X, Setting(np.inf), 2)
    margins = Margins.fit(X, model)
    order = np.argsort(model[:, 0])
    assert (np.diff(margins.apply(model)[order, 0]) >= 0).all()
    assert margins.undo(margins.apply(model)) == pytest.approx(model, abs=0.05)


def test_a_small_class_and_a_column_that_hardly_varies_are_left_alone():
    X = skewed(CROWD * FEWEST)
    assert Margins.fit(X[1:], X) is None and Margins.fit(X, X) is not None
    rare = np.zeros((400, 1))
    rare[0] = 1
    model = np.random.default_rng(0).normal(size=(4000, 1))
    assert Margins.fit(rare, model).apply(model) == pytest.approx(model)


def test_a_table_drawn_through_the_envelope_is_shaped_too():
    X = skewed(800)
    (model,) = fit([X[:400]], Setting(40, margins=True))
    released = Envelope.fit(model).draw(X, source(1))[0]
    assert distance(released[:, 0], X[:, 0]) < 0.08 and (released[:, 1] == 0).mean() > 0.3


def test_games_are_played_on_shaped_and_unshaped_rows_and_the_bound_is_held():
    X, y = skewed(500), np.repeat([0, 1], 250)
    X = X[:, :3]
    risk = calibrate(X, y, 0.55, 0.60, source(1))
    assert risk.held and risk.setting.margins
    assert {"knows the model, margins undone", "knows the method, unshaped rows", "knows the method"} <= set(
        risk.attacks
    )
    mild = Setting(1.5, margins=True)
    assert play(X, y, blend_method(mild), blend_insider(mild), source(1)).achieved > 0.58


def test_a_release_says_whether_it_was_shaped():
    X = skewed(300)[:, :3]
    shaped = resample(X, np.repeat([0, 1], 150), max_risk=0.55, rng=1)
    assert shaped.worst.setting.margins and "columns shaped" in shaped.worst.setting.words
    small = resample(X[:160], np.repeat([0, 1], 80), max_risk=0.6, rng=1)
    assert not small.worst.setting.margins
