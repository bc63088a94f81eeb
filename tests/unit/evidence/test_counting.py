"""Counting on any engine, from few scans, kept per release, and tables with very many cells."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from gallery import rest_clear
from sfumato import channels as c
from sfumato.errors import SfumatoError
from sfumato.evidence import counting, spark_counting

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.errors.NegativeCountsWarning")

NAMES = list("abcdef")
SCHEMA = sf.Schema({name: sf.Categorical((0, 1, 2)) for name in NAMES})
SCHEME = sf.Scheme(SCHEMA, {name: c.symmetric(3, 0.2) for name in NAMES})


def rows(n: int = 3000) -> pa.Table:
    rng = np.random.default_rng(0)
    return pa.table({name: pa.array(rng.integers(0, 3, n), pa.uint8()) for name in NAMES})


def brute(table: pa.Table, names: list[str]) -> np.ndarray:
    out = np.zeros([3] * len(names), dtype=np.int64)
    np.add.at(out, tuple(table.column(name).to_numpy() for name in names), 1)
    return out.reshape(-1)


def engines(tmp_path: Path) -> dict[str, object]:
    table = rows()
    release = sf.Release(table, SCHEME)
    return {
        "arrow": table,
        "chunks": pa.concat_tables([table.slice(0, 1000), table.slice(1000)]),
        "pandas": table.to_pandas(),
        "polars": pl.from_arrow(table),
        "polars-lazy": pl.from_arrow(table).lazy(),
        "duckdb": duckdb.connect().from_arrow(table),
        "parquet": release.save(tmp_path / "rows.parquet"),
        "csv": release.save(tmp_path / "rows.csv"),
    }


@pytest.mark.parametrize("engine", ["arrow", "chunks", "pandas", "polars", "polars-lazy", "duckdb", "parquet", "csv"])
def test_every_engine_counts_the_same(engine: str, tmp_path: Path) -> None:
    release = sf.Release(engines(tmp_path)[engine], SCHEME)
    for names in (["a"], ["c", "a"], NAMES):
        np.testing.assert_array_equal(sf.evidence(release).released_counts(names), brute(rows(), names))


def test_dask_counts_the_same() -> None:
    import dask.dataframe as dd

    release = sf.Release(dd.from_pandas(rows().to_pandas(), npartitions=3), SCHEME)
    np.testing.assert_array_equal(sf.evidence(release).released_counts(["b", "f"]), brute(rows(), ["b", "f"]))


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_spark_counts_the_same(spark_session: object, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql.types import ShortType, StructField, StructType

    kinds = StructType([StructField(name, ShortType()) for name in NAMES])
    frame = spark_session.createDataFrame([tuple(row.values()) for row in rows().to_pylist()], kinds)
    jobs: list[object] = []
    original = spark_counting._collected
    monkeypatch.setattr(spark_counting, "_collected", lambda *a: jobs.append(a) or original(*a))
    release = sf.Release(frame, SCHEME)
    monkeypatch.setattr(counting, "JOINT_CELLS", 27)  # so that no table holds all the others
    pairs = [[x, y] for i, x in enumerate(NAMES) for y in NAMES[i + 1 :]]
    for names, found in zip(pairs, sf.evidence(release).counts_many(pairs, quiet=True), strict=True):
        np.testing.assert_array_equal(found.seen[0].counts, brute(rows(), names))
    assert len(jobs) == 1  # all from one pass over the rows
    every = sf.Release(frame, SCHEME)
    counting.counter(every.parts[0]).count_pairs()
    np.testing.assert_array_equal(sf.evidence(every).released_counts(["f", "b"]), brute(rows(), ["f", "b"]))
    assert len(jobs) == 2 and len(every) == 3000
    bad = sf.Release(frame.selectExpr("a + 1 as a", *NAMES[1:]), SCHEME)
    with pytest.raises(SfumatoError, match="column 'a' of the release holds 3, outside the codes 0 .. 2"):
        sf.evidence(bad).released_counts(["a"])


def test_many_tables_come_from_one_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    scans: list[tuple[str, ...]] = []
    original = counting.Counter._count
    monkeypatch.setattr(
        counting.Counter, "_count", lambda self, columns: scans.append(columns) or original(self, columns)
    )
    release = sf.Release(rows(), SCHEME)
    pairs = [[x, y] for i, x in enumerate(NAMES) for y in NAMES[i + 1 :]]
    found = sf.evidence(release).counts_many(pairs)
    assert scans == [tuple(NAMES)]
    for names, estimate in zip(pairs, found, strict=True):
        np.testing.assert_allclose(estimate.seen[0].counts, brute(rows(), names))
    sf.evidence(release, method="mle").counts(["f", "a", "c"])
    assert len(scans) == 1  # kept with the release, also for other evidence of it


def test_scans_are_split_when_the_joint_table_would_be_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "JOINT_CELLS", 27)
    release = sf.Release(rows(), SCHEME)
    requests = [["a", "b"], ["b", "c"], ["d", "e"], ["f"]]
    counter = counting.counter(release.parts[0])
    counter.plan(requests)
    for names in requests:
        np.testing.assert_array_equal(counter.counts(names), brute(rows(), names))


def test_too_many_cells_are_refused_with_their_number() -> None:
    names = [f"x{i}" for i in range(20)]
    schema = sf.Schema({name: sf.Categorical((0, 1, 2)) for name in names})
    release = sf.randomize({name: [0, 1, 2] for name in names}, rest_clear(schema))
    with pytest.raises(SfumatoError, match=r"3,486,784,401 combinations.*at once, or in Python"):
        sf.evidence(release).counts(names)


@pytest.mark.parametrize("engine", ["arrow", "polars", "parquet"])
def test_named_cells_of_a_huge_table_are_estimated(engine: str, tmp_path: Path) -> None:
    """3^18 cells cannot be listed, but any of them can be asked for; on a small table both ways must agree."""
    cells = [[0, 0, 0, 0, 0, 0], [1, 2, 0, 1, 1, 0], [2, 2, 2, 2, 2, 2]]
    release = sf.Release(engines(tmp_path)[engine], SCHEME)
    dense = sf.evidence(release).counts(NAMES)
    asked = sf.evidence(release).cells(NAMES, cells)
    flat = [int(np.ravel_multi_index(cell, [3] * 6)) for cell in cells]
    np.testing.assert_allclose(asked.value, dense.value[flat], atol=1e-8)
    np.testing.assert_allclose(asked.sd, dense.sd[flat], atol=1e-8)
    for mine, theirs in zip(asked.interval(), dense.interval(), strict=True):
        np.testing.assert_allclose(mine, theirs[flat], rtol=1e-6, atol=1e-6)

    names = [f"x{i}" for i in range(18)]
    schema = sf.Schema({name: sf.Categorical((0, 1, 2)) for name in names})
    scheme = sf.Scheme(schema, {name: c.symmetric(3, 0.02) for name in names})
    table = {name: np.zeros(2000, dtype=int) for name in names}
    one = sf.evidence(sf.randomize(table, scheme, rng=1)).cells(names, [[0] * 18])
    low, high = one.interval(0.999999)
    assert low[0] <= 2000 <= high[0]
    assert one.sd[0] > 0


def test_a_million_cells_work_without_a_big_matrix() -> None:
    names = [f"x{i}" for i in range(20)]
    schema = sf.Schema({name: sf.Categorical((0, 1)) for name in names})
    scheme = sf.Scheme(schema, {name: c.binary(0.02, 0.01) for name in names})
    n = 20_000
    rng = np.random.default_rng(0)
    table = {name: (rng.random(n) < 0.1).astype(int) for name in names}
    evidence = sf.evidence(sf.randomize(table, scheme, rng=2))
    found = evidence.counts(names)
    assert found.value.shape == (2**20,)
    assert found.value.sum() == pytest.approx(n)
    none = sum(int(all(table[name][i] == 0 for name in names)) for i in range(n))
    low, high = found.interval(0.999999)
    assert low[0] <= none <= high[0]
    with pytest.raises(SfumatoError, match=r"1048576\^2 entries"):
        _ = found.cov
    margin = evidence.counts([names[3]])
    np.testing.assert_allclose(found.table.sum(axis=tuple(i for i in range(20) if i != 3)), margin.value, atol=1e-6)


def test_log_likelihood_prefers_the_truth() -> None:
    rng = np.random.default_rng(4)
    table = {name: rng.choice(3, 4000, p=[0.6, 0.3, 0.1]) for name in NAMES}
    evidence = sf.evidence(sf.randomize(table, SCHEME, rng=5), method="mle")
    best = evidence.counts(["a", "b"]).population().value
    assert evidence.log_likelihood(["a", "b"], best) > evidence.log_likelihood(["a", "b"], np.full(9, 1 / 9))
    swapped = best.reshape(3, 3).T.reshape(-1)
    assert evidence.log_likelihood(["b", "a"], swapped) == pytest.approx(evidence.log_likelihood(["a", "b"], best))
    with pytest.raises(SfumatoError, match="theta must sum to 1, got 2"):
        evidence.log_likelihood("a", [1, 1, 0])


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda e: e.counts([]), "at least one"),
        (lambda e: e.counts(["a", "a"]), "name each attribute once"),
        (lambda e: e.counts("nope"), "there is no attribute 'nope'"),
        (lambda e: e.counts("a").interval(1.5), r"level must lie in \(0, 1\), got 1.5"),
        (lambda e: e.cells(["a"], [[7]]), r"cell \[7\] lies outside"),
        (lambda e: sf.evidence(e.release, method="guess"), "method must be one of moment, project, mle"),
        (lambda e: sf.evidence(rows()), "a raw table needs its schema"),
        (lambda e: sf.evidence(e.release, SCHEMA), "a release carries its own schema"),
    ],
)
def test_bad_questions_get_one_line(call: object, line: str) -> None:
    with pytest.raises(SfumatoError, match=line):
        call(sf.evidence(sf.Release(rows(), SCHEME)))


def test_a_singular_channel_is_named() -> None:
    schema = sf.Schema({"a": sf.Categorical((0, 1, 2))})
    flat = c.matrix(np.full((3, 3), 1 / 3))
    release = sf.Release(pa.table({"a": pa.array([0, 1, 2], pa.uint8())}), sf.Scheme(schema, {"a": flat}))
    with pytest.raises(SfumatoError, match=r"a: the channel matrix\(3\) is not invertible"):
        sf.evidence(release).counts("a")


def test_frames_for_pandas_and_polars_users() -> None:
    found = sf.evidence(sf.Release(rows(), SCHEME)).counts(["a", "b"])
    assert isinstance(found.frame(backend="pandas"), pd.DataFrame)
    assert isinstance(found.frame(backend="polars"), pl.DataFrame)
    assert found.frame().column_names == ["a", "b", "estimate", "sd", "low", "high"]
    assert found.frame().num_rows == 9


def test_many_pairs_come_from_one_product(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read off joint tables, 19 900 pairs of 200 attributes took minutes."""
    monkeypatch.setattr(counting, "MANY_PAIRS", 3)
    monkeypatch.setattr(counting.Counter, "_count", lambda *_: pytest.fail("counted one by one"))
    sizes = [2, 3, 1, 5, 2]
    names = [f"x{i}" for i in range(len(sizes))]
    rng = np.random.default_rng(5)
    table = pa.table(
        {name: pa.array(rng.integers(0, k, 70_000), pa.uint8()) for name, k in zip(names, sizes, strict=True)}
    )
    schema = sf.Schema({name: sf.Categorical(tuple(range(k))) for name, k in zip(names, sizes, strict=True)})
    counter = counting.counter((release := sf.Release(table, sf.Scheme.identity(schema))).parts[0])
    pairs = [[x, y] for i, x in enumerate(names) for y in names[i + 1 :]]
    counter.plan(pairs)
    for x, y in pairs:
        expected = np.zeros((sizes[names.index(x)], sizes[names.index(y)]))
        np.add.at(expected, (table.column(x).to_numpy(), table.column(y).to_numpy()), 1)
        np.testing.assert_array_equal(counter.counts([x, y]), expected.reshape(-1))
        np.testing.assert_array_equal(counter.counts([y, x]), expected.T.reshape(-1))
    assert len(release) == 70_000


def test_a_column_of_one_value_may_stand_before_one_of_256() -> None:
    schema = sf.Schema({"one": sf.Categorical(("only",)), "many": sf.Ordinal(tuple(range(256)))})
    release = sf.Release.raw({"one": ["only"] * 257, "many": [*range(256), 7]}, schema)
    assert counting.counter(release.parts[0]).read() is not None
    assert sf.evidence(release).counts(["one", "many"]).value[[6, 7, 8]].tolist() == [1, 2, 1]


@pytest.mark.parametrize("cells", [[["a"]], [[0.5]], [[True]], [0], [[0, 1]]])
def test_cells_are_codes(cells: list) -> None:
    with pytest.raises(SfumatoError, match="cells must list a code for each of the 1 attributes"):
        sf.evidence(rows(), SCHEMA).cells("a", cells)


@pytest.mark.parametrize("n", [0, 2.5, "3", True])
def test_a_sample_has_a_whole_number_of_records(n: object) -> None:
    with pytest.raises(SfumatoError, match="n must be a whole number of at least 1"):
        sf.evidence(rows(), SCHEMA).sample(n)


def test_nothing_is_drawn_from_no_records() -> None:
    with pytest.raises(SfumatoError, match="the release holds no rows"):
        sf.evidence(rows().slice(0, 0), SCHEMA).sample(3)


def test_an_attribute_may_be_called_as_a_column_of_numbers() -> None:
    schema = sf.Schema({name: sf.Categorical((0, 1)) for name in ("estimate", "estimate_", "sd")})
    found = sf.evidence({name: [0, 1] for name in schema}, schema).counts(list(schema))
    assert found.frame().column_names == ["estimate", "estimate_", "sd", "estimate__", "sd_", "low", "high"]
    assert "sd_" not in repr(found)
