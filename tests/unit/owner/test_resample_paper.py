"""The paper's method: what is kept, what is moved, and by how much."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import SfumatoError
from sfumato.owner.resample import resample
from sfumato.owner.resample.kernel import scott
from sfumato.owner.resample.moments import moments
from sfumato.owner.resample.paper import Kernel
from sfumato.randomness import experiment


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0], [0, 0, 4.0]]) + [5, 0, -3]
    return X, np.repeat(["a", "b"], [400, 200])


def test_rows_stay_within_the_kernel_around_their_centre(data):
    X, y = data
    out = resample(X, y, rng=1)
    for label in "ab":
        mine = y == label
        h = scott(mine.sum(), 3) * X[mine].std(axis=0, ddof=1)
        step = (out.X - X[out.centres])[out.y == label] / h
        assert np.abs(step).max() <= 1
        assert step.var(axis=0) == pytest.approx(0.2, abs=0.04)


def test_labels_are_those_of_the_centres(data):
    X, y = data
    for per_class in (True, False):
        out = resample(X, y, per_class=per_class, rng=1)
        assert (out.y == y[out.centres]).all()
    assert (np.unique(resample(X, y, rng=1).y, return_counts=True)[1] == [400, 200]).all()


def test_shrinking_keeps_the_variance_that_the_kernel_adds():
    X = np.random.default_rng(0).normal(size=(20_000, 2)) * [1, 5]
    wide = resample(X, bandwidth=3.0, rng=1).X
    kept = resample(X, bandwidth=3.0, shrink=True, rng=1).X
    h = 3 * scott(20_000, 2)
    assert (wide.var(axis=0) / X.var(axis=0)) == pytest.approx(1 + h**2 / 5, rel=0.05)
    assert (kept.var(axis=0) / X.var(axis=0)) == pytest.approx(1, rel=0.05)
    assert (wide.var(axis=0) / X.var(axis=0)).min() > 1.05


def test_a_constant_column_keeps_its_value(data):
    X, y = data
    X = np.column_stack([X, np.full(len(X), 0.1)])
    out = resample(X, y, rng=1)
    assert (out.X[:, 3] == 0.1).all()


def test_moments_over_some_rows():
    X = np.random.default_rng(0).normal(1e6, 2, size=(100_000, 3))
    rows = np.arange(0, 100_000, 3)
    mean, sd = moments(X, rows)
    assert mean == pytest.approx(X[rows].mean(axis=0), rel=1e-12)
    assert sd == pytest.approx(X[rows].std(axis=0, ddof=1), rel=1e-9)


def test_any_number_of_rows_in_proportion(data):
    X, y = data
    for rows in (2, 30, 601, 5000):
        out = resample(X, y, rows=rows, rng=1)
        assert len(out) == rows
        assert (out.y == "a").sum() == pytest.approx(rows * 2 / 3, abs=1)


def test_sites_are_resampled_apart(data):
    X, y = data
    out = resample(X, y, sites=4, rng=1)
    assert np.unique(out.site).tolist() == [0, 1, 2, 3]
    assert len(out.proportions) == 8 and sum(entry["rows"] for entry in out.proportions) == 600
    site = np.repeat(["north", "south"], [450, 150])
    out = resample(X, y, sites=site, rng=1)
    assert (out.site == site[out.centres]).all()
    assert set(out.description) == {"format", "version", "method", "target", "kernel", "proportions", "risk"}


def test_the_secure_source_never_repeats_itself_and_a_seed_always_does(data):
    X, y = data
    assert not np.array_equal(resample(X, y).X, resample(X, y).X)
    assert np.array_equal(resample(X, y, rng=5).X, resample(X, y, rng=5).X)
    for options in ({}, {"max_risk": 0.6}, {"epsilon": 1, "ranges": (-20, 20)}):
        one, two = (resample(X[::3], y[::3], rng=experiment(5), **options).X for _ in range(2))
        assert np.array_equal(one, two)


def test_a_table_comes_back_with_its_names(data):
    X, y = data
    table = pa.table({"x": X[:, 0], "hospital": np.repeat(["n", "s"], 300), "y": y})
    out = resample(table, "y", sites="hospital", rng=1)
    assert out.table().column_names == ["x", "y", "hospital"]


def test_the_centres_never_leave(data, tmp_path):
    X, y = data
    out = resample(X, y, rng=1)
    out.save(tmp_path / "rows.parquet")
    import pyarrow.parquet as pq

    assert pq.read_table(tmp_path / "rows.parquet").column_names == ["x1", "x2", "x3", "y"]
    assert "centre" not in str(out.description)


def test_kernel_draw_can_write_in_place():
    X = np.random.default_rng(0).normal(size=(50, 2))
    slot = np.empty((10, 2))
    from sfumato.randomness import source

    got = Kernel.fit(X).around(X, np.arange(10), source(1), slot)
    assert got is slot and np.isfinite(slot).all()


def test_every_site_may_release_as_many_rows_as_it_likes():
    X = np.random.default_rng(0).normal(size=(90, 2))
    site = np.repeat(["a", "b"], [60, 30])
    out = resample(X, [0, 1] * 45, sites=site, rows={"a": 6, "b": 300}, rng=1)
    assert {entry["site"]: entry["rows"] for entry in out.proportions if entry["class"] == 0} == {"a": 3, "b": 150}
    with pytest.raises(SfumatoError, match="rows must name every site"):
        resample(X, sites=site, rows={"a": 6})


def test_a_release_describes_itself_in_one_line():
    X = np.random.default_rng(0).normal(size=(60, 2))
    assert repr(resample(X, bandwidth=1.0, rng=1)).startswith("Resampled(60 rows of 2 columns at 1 site; ")
    assert "3 sites" in repr(resample(X, bandwidth=1.0, sites=3, rng=1))
