"""A file larger than memory: the same law, batch by batch, whole or not there."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

from sfumato.errors import DisclosureWarning, SfumatoError
from sfumato.owner.resample import calibrate, plan, resample, resample_file
from sfumato.owner.resample.kernel import scott
from sfumato.owner.resample.moments import Moments
from sfumato.randomness import experiment, source
from sfumato.reading import tables


@pytest.fixture
def raw(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "BATCH", 1000)
    monkeypatch.setattr(calibrate, "RECORDS", 200)
    monkeypatch.setattr(plan, "FITTED", 400)
    monkeypatch.setattr(calibrate, "SHADOWS", 40)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 9000)
    table = pa.table({"a": rng.normal(3 * y, 1), "b": rng.normal(0, 5, 9000), "y": y})
    path = tmp_path / "raw.parquet"
    pq.write_table(table, path)
    return path, table


@pytest.mark.parametrize("options", [{}, {"max_risk": 0.7}, {"epsilon": 4, "ranges": {"a": (-5, 8), "b": (-25, 25)}}])
def test_a_file_keeps_its_law(raw, tmp_path, options):
    path, table = raw
    seen = []
    about = resample_file(path, tmp_path / "out.parquet", "y", rng=experiment(1), progress=seen.append, **options)
    out = pq.read_table(tmp_path / "out.parquet")
    rows = 20_000 if options else 9000
    assert sum(seen) == out.num_rows == rows and out.column_names == ["a", "b", "y"]
    assert out.schema.field("y").type == table.schema.field("y").type
    assert json.loads(pq.read_metadata(tmp_path / "out.parquet").metadata[b"sfumato"]) == about
    counts = np.bincount(np.asarray(table["y"])) * rows / 9000
    assert [entry["rows"] for entry in about["proportions"]] == pytest.approx(counts.tolist(), abs=1)
    widening = 1 if options else np.sqrt(1 + scott(4500, 2) ** 2 / 5)
    for label in (0, 1):
        was, now = (np.asarray(t.filter(pa.compute.equal(t["y"], label))["b"]) for t in (table, out))
        assert now.std() == pytest.approx(was.std() * widening, rel=0.06 if not options else 0.25)
        assert abs(now.mean() - was.mean()) < (5 * np.sqrt(2 / len(was)) if not options else 0.4) * was.std()
    assert bool(about["risk"]) == ("max_risk" in options) and ("proved" in about) == ("epsilon" in options)


def test_centres_come_from_the_whole_table_with_replacement(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "BATCH", 500)
    table = pa.table({"x": np.arange(20_000.0)})
    resample_file(table, tmp_path / "out.parquet", bandwidth=1e-9, rng=1)
    drawn = np.rint(np.asarray(pq.read_table(tmp_path / "out.parquet")["x"])).astype(int)
    used = len(np.unique(drawn)) / 20_000
    assert used == pytest.approx(1 - np.exp(-1), abs=0.02)
    assert len(drawn) == 20_000


def test_sites_and_csv_with_a_description_beside(raw, tmp_path):
    _, table = raw
    table = table.append_column("place", pa.array(np.arange(9000) % 2))
    about = resample_file(table, tmp_path / "out.csv", "y", site_column="place", rng=1)
    assert about.items() <= json.loads((tmp_path / "out.csv.json").read_text()).items()
    assert {(e["site"], e["class"]) for e in about["proportions"]} == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_a_fault_leaves_no_file(raw, tmp_path):
    _, table = raw
    bad = pa.concat_tables([table, table.slice(0, 1).set_column(0, "a", pa.array([np.nan]))])
    with pytest.raises(SfumatoError, match="column 'a' holds 1 values that are NaN"):
        resample_file(bad, tmp_path / "out.parquet", "y", rng=1)
    alone = pa.concat_tables([table, table.slice(0, 1).set_column(2, "y", pa.array([7]))])
    with pytest.raises(SfumatoError, match="a class has one row"):
        resample_file(alone, tmp_path / "out.parquet", "y", rng=1)
    with pytest.raises(SfumatoError, match="the bound is not held"):
        resample_file(
            pa.table({"x": np.random.default_rng(0).standard_t(2, 30)}),
            tmp_path / "out.parquet",
            max_risk=0.5001,
            max_outlier_risk=0.5001,
            strict=True,
            rng=experiment(1),
        )
    assert [p.name for p in tmp_path.iterdir()] == ["raw.parquet"]
    with pytest.raises(SfumatoError, match="empty"):
        resample_file(pa.table({"x": pa.array([], pa.float64())}), tmp_path / "out.parquet")


def test_moments_merge_as_if_seen_at_once():
    rng = np.random.default_rng(0)
    X = rng.normal(1e5, [1, 0.0], size=(5000, 2))
    merged, src = Moments(2, 10, 100), source(1)
    for part in np.array_split(X, 7):
        merged.add(part, None, src)
    assert merged.first == pytest.approx(X[:10])
    assert merged.mean == pytest.approx(X.mean(axis=0), rel=1e-12)
    assert merged.sd[0] == pytest.approx(X[:, 0].std(ddof=1), rel=1e-6) and merged.sd[1] == 0
    assert merged.sample.shape == (100, 2)
    places = [int(np.flatnonzero(X[:, 0] == value)[0]) for value in merged.sample[:, 0]]
    assert len(set(places)) == 100 and abs(np.mean(places) - 2500) < 5 * 5000 / np.sqrt(12 * 100)


def test_text_files_are_read_as_numbers_and_columns_dropped(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "BATCH", 1000)
    x = np.arange(4_000_000) // 100
    whole = pa.table({"x": x, "id": np.full(len(x), "someone")})
    path = tmp_path / "raw.csv"
    csv.write_csv(whole, path)
    with path.open("a") as file:
        file.write('0.5,"last"\n')  # after 16 MB of whole numbers
    with pytest.warns(DisclosureWarning, match="distinct"):
        about = resample_file(path, tmp_path / "out.parquet", drop=["id"], rng=1)
    assert about["proportions"] == [{"rows": len(x) + 1}]
    assert pq.read_schema(tmp_path / "out.parquet").names == ["x"]
    with pytest.raises(SfumatoError, match="drop names a column that is not there"):
        resample_file(path, tmp_path / "other.parquet", drop=["no"])


def test_classes_can_be_pooled_and_a_stream_cannot_be_read_twice(raw, tmp_path):
    _, table = raw
    plain = table
    about = resample_file(plain, tmp_path / "out.parquet", "y", per_class=False, bandwidth=0.01, rng=1)
    out = pq.read_table(tmp_path / "out.parquet")
    assert about["proportions"] == [{"rows": 9000}]
    # each row keeps the label of its centre: a is near 3 y
    assert np.mean((np.asarray(out["a"]) > 1.5) == np.asarray(out["y"])) == pytest.approx(0.933, abs=0.02)
    with pytest.raises(SfumatoError, match="keeps classes apart"):
        resample_file(plain, tmp_path / "no.parquet", "y", per_class=False, max_risk=0.6)
    with pytest.raises(SfumatoError, match="only once"):
        resample_file(plain.to_reader(), tmp_path / "no.parquet", "y")


def test_reading_a_long_parquet_file_keeps_memory_flat(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "BATCH", 200_000)
    rng = np.random.default_rng(0)
    path = tmp_path / "long.parquet"
    with pq.ParquetWriter(path, pa.schema({"x": pa.float64(), "z": pa.float64()})) as writer:
        for _ in range(24):
            writer.write_table(pa.table({"x": rng.normal(size=100_000), "z": rng.normal(size=100_000)}))
    held, rows = [], 0
    before = pa.total_allocated_bytes()
    for batch in tables.batches(path):
        rows += batch.num_rows
        held.append(pa.total_allocated_bytes() - before)
    assert rows == 2_400_000 and len(held) == 12
    assert max(held) < 20e6  # a batch is 3.2 MB; one iterator over the whole file holds 38 to 53 MB


@pytest.mark.parametrize("label", [lambda i: date(2020, 1, 1 + i), lambda i: Decimal(i), lambda i: bytes([65 + i])])
def test_labels_and_sites_of_any_kind_are_described(tmp_path, label):
    rows = {"x": np.random.default_rng(0).normal(size=40), "y": [label(i % 2) for i in range(40)]}
    table = pa.table({**rows, "s": [label(i // 20) for i in range(40)]})
    kept = resample(table, "y", "s", rng=1)
    saved = pq.read_table(kept.save(tmp_path / "rows.parquet"))
    assert set(saved.column("y").to_pylist()) == {label(0), label(1)}
    about = resample_file(table, tmp_path / "stream.parquet", "y", site_column="s", rng=1)
    assert [entry["class"] for entry in about["proportions"]] == [str(label(i)) for i in (0, 1, 0, 1)]
    assert about["proportions"] == kept.description["proportions"]


def test_options_that_contradict_each_other_are_refused_as_in_memory(raw, tmp_path):
    for match, options in (
        ("max_risk draws from a model", {"max_risk": 0.9, "bandwidth": 2.0}),
        ("max_risk draws from a model", {"max_risk": 0.9, "shrink": True}),
        ("epsilon needs ranges", {"epsilon": 1}),
        ("max_outlier_risk goes with max_risk", {"max_outlier_risk": 0.6}),
        ('bandwidth must be "scott" or', {"bandwidth": -1.0}),
        ('bandwidth must be "scott" or', {"bandwidth": "wide"}),
    ):
        with pytest.raises(SfumatoError, match=match):
            resample_file(raw[0], tmp_path / "out.parquet", "y", **options)
    about = resample_file(raw[0], tmp_path / "out.parquet", "y", bandwidth=2, shrink=True, rng=1)
    assert about["method"] == "kernel, 2 times Scott's bandwidth, variance shrunk"
