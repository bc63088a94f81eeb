"""What is disclosed: measures against settings where the answer is known."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from sfumato.assess import comparison
from sfumato.assess.comparison import ATTACKED, compare, known_rows
from sfumato.assess.disclosure import dapl_scores, disclosure, ind
from sfumato.assess.other_methods import other_methods
from sfumato.assess.resample_page import page
from sfumato.errors import EstimationError
from sfumato.owner import baselines as project
from sfumato.owner.resample import Risk, Setting, calibrate, resample
from sfumato.owner.resample.model import FORMS
from sfumato.randomness import experiment, source

X = np.random.default_rng(0).normal(size=(400, 3))
Y = np.repeat(["a", "b"], 200)


def test_a_copy_is_linked_and_fresh_rows_are_not():
    copy = disclosure(X, X, np.arange(400))
    assert copy.linked == copy.linked_outliers == 1 and copy.closest == copy.ratio == 0
    fresh = disclosure(X, np.random.default_rng(1).normal(size=X.shape), np.arange(400))
    assert fresh.linked < 0.03 and fresh.closest == pytest.approx(fresh.usual, rel=0.2)
    assert copy.ind > 0.7 and fresh.ind == 0


def test_ind_falls_as_the_kernel_widens():
    found = [ind(X, out.X, out.centres) for out in (resample(X, bandwidth=h, shrink=True, rng=1) for h in (0.3, 2, 20))]
    assert found[0] > found[1] > found[2]


def test_the_score_bound_is_sound_and_not_empty():
    import scipy.stats

    from sfumato.assess.resampling import dapl

    rng = np.random.default_rng(0)
    exact = dapl(scipy.stats.norm(), 200)
    assert dapl_scores(rng.normal(size=(200, 1)), rng.normal(size=(3000, 1)), rng=1) < exact + 0.05
    assert dapl_scores(rng.normal(size=(100, 8)), rng.normal(size=(2000, 8)), rng=1) > 0.5


def test_known_rows_undo_rotation_and_projection():
    for _, M in (project.rotation(X, rng=1), project.projection(X, 2, rng=1)):
        assert known_rows(X, M, source(1)) > 0.95


def test_all_methods_stand_in_one_table_at_equal_risk(monkeypatch):
    pytest.importorskip("sklearn")
    monkeypatch.setattr(comparison, "_SHADOWS", 24)
    monkeypatch.setattr(calibrate, "SHADOWS", 48)
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    data = rng.normal(size=(80, 3)) + 2 * y[:, None]
    test = rng.normal(size=(60, 3)) + 2 * np.repeat([0, 1], 30)[:, None]
    done: list[int] = []
    rows = compare(data, y, test, np.repeat([0, 1], 30), asked=0.6, repeats=1, rng=1, progress=done.append)
    assert sum(done) == ATTACKED / 2
    found = {row.method: row for row in rows}
    assert len(found) == 8
    for name in ("blurred model", "kernel, widened", "kernel, widened and shrunk", "additive noise"):
        assert found[name].risk <= 0.6
    assert found["plain bootstrap"].risk > 0.75 and found["random rotation"].risk > 0.95
    assert all(set(row.phi) == {"kNN", "naive Bayes", "network", "forest"} for row in rows)
    assert all(row.error >= 0 for row in rows) and found["blurred model"].outliers <= 0.65
    out = resample(data, y, max_risk=0.6, rng=experiment(1))
    text = page(data, out, disclosure(data, out), rows=rows, title="a <table>")
    assert "The bound is held" in text and 'badge fair">held, protection moderate<' in text
    assert (
        "a &lt;table&gt;" in text
        and text.count("<svg") == 1 + min(4, data.shape[1])
        and "Content-Security-Policy" in text
    )


def test_all_methods_are_attacked_on_the_same_few_records_of_a_large_table(monkeypatch):
    pytest.importorskip("sklearn")
    sizes: list[int] = []

    def attacked(X, y, method, src, count, progress=None):
        sizes.append(len(X))
        return Risk(0.5, 0.002, 0.5, 0.01)

    def calibrated(X, y, *_):
        sizes.append(len(X))
        return Setting(FORMS[0], 4.0), Risk(0.5, 0.002, 0.5, 0.01)

    monkeypatch.setattr(calibrate, "RECORDS", 60)
    monkeypatch.setattr(comparison, "shadow_risk", attacked)
    monkeypatch.setattr(comparison, "calibrate", calibrated)
    rows = compare(X, Y, X, Y, repeats=1, rng=1)
    assert set(sizes) == {60}
    assert other_methods(rows, 0.55, 0.6, chosen=True).count("0.500<br><small>±\u00a00.002</small>") == 6


ONE = {"nearest row": (0.7, 0.9), "class mean, plain": (0.51, 0.52)}


def risk(auc, outliers):
    return Risk(auc, 0.002, outliers, 0.01, 0.55, 0.6, ONE, 160)


def test_the_page_names_every_site_and_says_which_bound_is_not_held():
    out = resample(X, Y, sites=2, epsilon=1, ranges=(-5, 5), rng=experiment(1))
    bounded = replace(out.plan, request=replace(out.plan.request, guarantee=None, bounds=(0.55, 0.6)))
    found = disclosure(X, out)
    bounded.settings = {"north": Setting(FORMS[0], 4.0), "south": Setting(FORMS[1], 2.0)}
    bounded.risk = {"north": risk(0.52, 0.55), "south": risk(0.7, 0.9)}
    text = page(X, replace(out, plan=bounded), found)
    assert "The bound is not held" in text and text.count("NOT HELD") == 1 and "noise of strength 4" in text
    assert "What is held: 0.71, and 0.92 for outliers" in text and "badge good" not in text
    assert "draws 160 shadow releases" in text and "learns from 2 features" in text
    bounded.risk = {"north": risk(0.52, 0.55)}
    text = page(X, replace(out, plan=bounded), found)
    assert "The bound is held" in text and "NOT HELD" not in text and "measured against" in text.lower()


def test_no_page_is_green_where_a_class_is_too_small_for_an_average():
    """A page said "held" in green, with a class of nine people, of whom the terminal warned."""
    out = resample(X, Y, epsilon=1, ranges=(-5, 5), rng=experiment(1))
    held = replace(out.plan, request=replace(out.plan.request, guarantee=None, bounds=(0.55, 0.6)))
    held.risk = {0: risk(0.51, 0.52)}
    assert "badge good" in page(X, replace(out, plan=held), disclosure(X, out))
    held.records = {**held.records, (0, "rare"): 9}
    text = page(X, replace(out, plan=held), disclosure(X, out))
    assert "badge good" not in text and "1 class has fewer than 20 records, the smallest 9" in text


def test_no_page_is_green_while_rows_point_at_their_records():
    """A release once wore a green badge while rows were linked 160 times as often as by chance."""
    out = resample(X, Y, bandwidth=0.3, rng=1)
    found = disclosure(X, out)
    assert found.linked > 100 * found.chance
    text = page(X, out, found, measured=risk(0.8, 0.9))
    assert "No bound was asked for" in text and "badge good" not in text and "where chance would be" in text
    assert "0.800 ± 0.002" in text
    held = replace(out.plan, request=replace(out.plan.request, bounds=(0.55, 0.6)), risk={0: risk(0.51, 0.52)})
    text = page(X, replace(out, plan=held), found)
    assert "badge good" not in text and "The bound is held, but rows point at their records." in text


def test_no_page_is_green_where_its_bound_leaves_everything_open():
    """That no attack has an AUC above .996 was proved in green."""
    proved = {}
    for epsilon in (1, 20):
        out = resample(X, Y, epsilon=epsilon, ranges=(-5, 5), rng=experiment(1))
        proved[epsilon] = page(X, out, disclosure(X, out))
    assert 'badge good">proved<' in proved[1]
    assert "AUC above 0.99" in proved[20] and 'badge bad">proved, protection very weak<' in proved[20]
    lax = replace(out.plan, request=replace(out.plan.request, guarantee=None, bounds=(0.9, 0.95)))
    lax.risk = {0: Risk(0.6, 0.002, 0.75, 0.01, 0.9, 0.95, ONE, 160)}
    text = page(X, replace(out, plan=lax), disclosure(X, out))
    assert "The bound is held." in text and 'badge poor">held, protection weak<' in text


def test_the_page_begins_with_its_verdict_and_explains_its_words():
    out = resample(X, Y, epsilon=1, ranges=(-5, 5), rng=experiment(1))
    text = page(X, out, disclosure(X, out), measured=risk(0.51, 0.52))
    assert '<div class="verdict"><p>No attack on any record' in text
    for word in ("AUC", "Membership", "Shadow release", "Outlier", "Linkage", "Blind"):
        assert f"<dt>{word}</dt>" in text


def test_pictures_of_the_page_can_be_read_on_a_phone():
    """On 358 pixels text of 9 points has 13 of them."""
    out = resample(X, Y, epsilon=1, ranges=(-5, 5), rng=experiment(1))
    text = page(X, out, disclosure(X, out), measured=risk(0.51, 0.52))
    widths = [float(width) for width in re.findall(r'<svg[^>]*viewBox="0 0 ([\d.]+) ', text)]
    assert len(widths) == 4 and max(widths) < 250


def test_the_page_states_a_proof_with_its_conditions():
    out = resample(X, Y, epsilon=1, ranges=(-5, 5), rng=experiment(1))
    text = page(X, out, disclosure(X, out), measured=risk(0.51, 0.52))
    assert "No attack on any record has an AUC above 0.588" in text and "declared ranges" in text
    assert "rows are drawn from a model" in text


def test_rows_of_a_model_have_no_record_behind_them():
    out = resample(X, Y, epsilon=1, ranges=(-5, 5), rng=experiment(1))
    found = disclosure(X, out)
    assert out.centres is None and np.isnan([found.linked, found.linked_outliers, found.ind]).all()
    assert found.closest > 0 and 0 < found.ratio <= 1


def test_shapes_must_fit():
    with pytest.raises(EstimationError, match="own must name"):
        disclosure(X, X)
    with pytest.raises(EstimationError, match="do not fit"):
        disclosure(X, X, [1, 2])
    with pytest.raises(EstimationError, match="same columns"):
        dapl_scores(X, X[:, :2])
