"""What is disclosed: measures against settings where the answer is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato import Categorical, Schema, Scheme
from sfumato.assess.comparison import compare, known_rows
from sfumato.assess.disclosure import dapl_scores, disclosure, ind, mean_risk, membership
from sfumato.assess.resample_page import page
from sfumato.errors import DisclosureWarning, EstimationError
from sfumato.owner import project
from sfumato.owner.resample import Risk, Setting, resample, resample_file
from sfumato.randomness import source

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


def test_membership_finds_copies_and_not_fresh_rows():
    members, strangers = X[:200], X[200:]
    marks = (Y[:200], Y[:200], Y[:200])
    assert membership(members, strangers, members, marks).achieved == 1
    fresh = np.random.default_rng(5).normal(size=(200, 3))
    found = membership(members, strangers, fresh)
    assert found.achieved < 0.62 and len(found.attacks) >= 6
    together = mean_risk([found, membership(members, strangers, members)])
    assert 0.7 < together.achieved < 0.85


def test_known_rows_undo_rotation_and_projection():
    for _, M in (project.rotation(X, rng=1), project.projection(X, 2, rng=1)):
        assert known_rows(X, M, source(1)) > 0.95


def test_all_methods_stand_in_one_table_at_equal_risk():
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    data = rng.normal(size=(80, 3)) + 2 * y[:, None]
    test = rng.normal(size=(60, 3)) + 2 * np.repeat([0, 1], 30)[:, None]
    rows = compare(data, y, test, np.repeat([0, 1], 30), asked=0.6, repeats=1, rng=1)
    found = {row.method: row for row in rows}
    assert len(found) == 8
    for name in ("recommended", "kernel, widened", "kernel, widened and shrunk", "additive noise"):
        assert found[name].risk <= 0.6
    assert found["plain bootstrap"].risk > 0.75 and found["random rotation"].risk > 0.95
    assert all(set(row.phi) == {"kNN", "naive Bayes", "network", "forest"} for row in rows)
    assert all(row.error >= 0 for row in rows) and found["recommended"].outliers <= 0.65
    out = resample(data, y, max_risk=0.6, rng=1)
    text = page(data, y, out, disclosure(data, out), rows, "a <table>")
    assert "The bound is held" in text and "&lt;table&gt;" in text and text.count("<svg") == 2
    text = page(data, y, resample(data, y, rng=1), disclosure(data, out))
    assert "No bound was asked for" in text


def test_the_page_names_every_site_and_says_which_bound_is_not_held():
    loud = Risk(0.7, 0.9, "euclidean", "chebyshev", 0.55, 0.6, {"euclidean": (0.7, 0.9)}, Setting(4))
    quiet = Risk(0.52, 0.55, "euclidean", "chebyshev", 0.55, 0.6, {"euclidean": (0.52, 0.55)}, Setting(64))
    out = replace(resample(X, Y, sites=2, rng=1), risk={"north": quiet, "south": loud})
    text = page(X, Y, out, disclosure(X, out))
    assert "The bound is not held" in text and text.count("NOT HELD") == 1 and "64 plausible sources" in text
    text = page(X, Y, replace(out, risk={"north": quiet}), disclosure(X, out))
    assert "The bound is held" in text and "NOT HELD" not in text


def test_shapes_must_fit():
    with pytest.raises(EstimationError, match="own must name"):
        disclosure(X, X)
    with pytest.raises(EstimationError, match="do not fit"):
        disclosure(X, X, [1, 2])
    with pytest.raises(EstimationError, match="same columns"):
        dapl_scores(X, X[:, :2])


def test_no_dictionary_carries_the_values_of_records_that_are_not_released(tmp_path):
    names = pa.array([f"person {i}" for i in range(60)]).dictionary_encode()
    table = pa.table({"x": np.random.default_rng(0).normal(size=60), "who": names})
    with pytest.warns(DisclosureWarning):
        released = resample(table, ride=["who"], rows=4, rng=1)
        resample_file(table, tmp_path / "stream.parquet", ride=["who"], rng=1)
    kept = pq.read_table(released.save(tmp_path / "rows.parquet")).column("who")
    assert kept.type == pa.string() and len(set(kept.to_pylist())) <= 4
    assert pq.read_table(tmp_path / "stream.parquet").column("who").type == pa.string()


def test_a_record_answers_a_channel_once_however_many_rows_start_from_it():
    """Twenty fresh answers under gamma = 3 would be nearly the truth to whoever tells the rows of a record."""
    sick = np.random.default_rng(0).integers(0, 2, 300)
    scheme = Scheme.for_gamma(Schema({"sick": Categorical((0, 1))}), gamma=3)
    table = pa.table({"x": np.arange(300.0), "sick": sick})
    released = resample(table, bandwidth=0.01, scheme=scheme, rows=6000, rng=1)
    answers = released.table().column("sick").to_numpy()
    assert all(len(set(answers[released.centres == i])) <= 1 for i in range(300))
    found = np.array([answers[released.centres == i].mean() > 0.5 for i in range(300)])
    assert abs((found == sick).mean() - 0.75) < 0.12  # what one answer tells; twenty tell .99
