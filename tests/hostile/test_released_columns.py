"""Columns of a release that somebody sent: ids that fill the memory, ids and codes that are none."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.command_line import run
from tests.hostile.guard import guarded, refused

import sfumato as sf
from sfumato import channels as c
from sfumato.reading.memory_limit import TooLargeError

N = 20_000
TWO = sf.Categorical(("n", "y"))


def released(name: str, **how) -> sf.Release:
    scheme = sf.Scheme(sf.Schema({name: TWO}), {name: c.symmetric(2, gamma=3)})
    table = {name: ["n", "y"] * (N // 2), "id": [str(i) for i in range(N)]}
    return sf.randomize(table, scheme, id="id", link_key=b"k" * 32, **how)


def with_columns(whole: Path, path: Path, columns: dict[str, pa.Array], arrow_types: bool = True) -> Path:
    """The release in a file, with other columns in place of its own or before them."""
    rows, about = pq.read_table(whole), pq.read_metadata(whole).metadata[b"sfumato"].decode()
    own = {name: rows.column(name) for name in rows.schema.names if name not in columns}
    table = pa.table({**{n: v for n, v in columns.items() if n not in rows.schema.names}, **own, **columns})
    with pq.ParquetWriter(path, table.schema, store_schema=arrow_types) as sink:
        sink.write_table(table)
        sink.add_key_value_metadata({"sfumato": about})
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("whole") / "a.parquet"
    released("a").save(path)
    return path


@pytest.mark.parametrize("how", [{"column_encoding": {"a": "DELTA_BYTE_ARRAY"}, "use_dictionary": False}, {}])
def test_codes_in_long_texts_are_refused_before_they_are_read(tmp_path, how) -> None:
    """They were refused once half a million rows were in memory: 15 GB, of a file of 250 kB."""
    scheme, path = sf.Scheme(sf.Schema({"a": TWO}), {"a": c.symmetric(2, gamma=3)}), tmp_path / "texts.parquet"
    good = sf.randomize({"a": ["n", "y"] * (N // 2)}, scheme).save(tmp_path / "good.parquet")
    about = pq.read_metadata(good).metadata[b"sfumato"].decode()
    table = pa.table({"a": ["0" * 30_000 + "1"] * 2000})
    with pq.ParquetWriter(path, table.schema, compression="zstd", **how) as sink:
        for _ in range(N // 2000):
            sink.write_table(table)
        sink.add_key_value_metadata({"sfumato": about})
    del table
    assert path.stat().st_size < 100_000
    with guarded(memory=1 << 27):
        assert "holds codes or numbers, not string" in refused(lambda: sf.counted(sf.Release.load(path)))


@pytest.mark.parametrize("said", [True, False])
def test_one_id_that_all_others_begin_with_is_not_written_out(whole, tmp_path, said) -> None:
    """Stored as what each adds to the one before it, which is nothing, whether the file says so or not. It took 600 MB."""
    rows, about = pq.read_table(whole), pq.read_metadata(whole).metadata[b"sfumato"].decode()
    ids, path = pa.array(["x" * 30_000] * 2000), tmp_path / "long.parquet"
    kinds, ways = pa.schema([("a", pa.uint8()), ("id", pa.string())]), {"a": "PLAIN", "id": "DELTA_BYTE_ARRAY"}
    with pq.ParquetWriter(path, kinds, use_dictionary=False, column_encoding=ways, compression="zstd") as sink:
        for start in range(0, N, 2000):
            sink.write_table(pa.table({"a": rows.column("a").slice(start, 2000), "id": ids}))
        sink.add_key_value_metadata({"sfumato": about})
    assert path.stat().st_size < 100_000
    if not said:  # a list of two encodings, RLE and this one, becomes RLE and PLAIN
        path.write_bytes(path.read_bytes().replace(bytes([0x25, 6, 14]), bytes([0x25, 6, 0])))
        assert pq.read_metadata(path).row_group(0).column(1).encodings == ("RLE", "PLAIN")
    other = released("b")
    with guarded(memory=1 << 28):
        line = refused(lambda: sf.Release.load(path).join(other, on="id"))
    assert "in an encoding that can hide its size" in line


@pytest.mark.parametrize("how", ["dictionary", "text", "behind records"])
def test_one_long_id_in_every_row_is_not_written_out(whole, tmp_path, how) -> None:
    long = pa.DictionaryArray.from_arrays(pa.array(np.zeros(N, dtype=np.int32)), pa.array(["x" * 300_000]))
    before = {"s": pa.array([{"x": 1, "y": 2, "z": 3}] * N)} if how == "behind records" else {}
    path = with_columns(whole, tmp_path / "long.parquet", {**before, "id": long}, how == "dictionary")
    assert path.stat().st_size < 100_000
    other = released("b")
    for act in (
        lambda: sf.Release.load(path).join(other, on="id"),
        lambda: sf.Release.load(path).save(tmp_path / "copy.parquet"),
    ):
        with guarded(memory=1 << 28):
            assert "would take more than" in refused(act)
    with guarded(memory=1 << 28), contextlib.suppress(TooLargeError):
        assert sf.Release.load(path).decode(2).num_rows == 2  # two rows are shown where they fit
    with guarded(memory=1 << 28):
        answer = run(f"export {path} {tmp_path}/words.csv")
    assert answer.code == 1 and "would take more than" in answer.error
    assert len(sf.Release.load(path)) == N


@pytest.mark.parametrize(
    "ids",
    [pa.array([["x"]] * N), pa.array([b"\xff"] * N), pa.array([{"a": 1}] * N)],
    ids=["lists", "bytes", "records"],
)
def test_ids_that_are_no_text_are_one_line(whole, tmp_path, ids) -> None:
    path = with_columns(whole, tmp_path / "odd.parquet", {"id": ids})
    assert refused(lambda: sf.Release.load(path).join(released("b"), on="id"))


@pytest.mark.parametrize(
    "codes",
    [
        pa.array([200] * N, pa.uint8()),
        pa.array([-1] * N, pa.int8()),
        pa.array([0.5] * N),
        pa.array([None] * N, pa.uint8()),
        pa.array(["x"] * N),
        pa.array([[1]] * N),
        pa.array([True] * N),
    ],
    ids=["beyond", "negative", "fractions", "missing", "text", "lists", "marks"],
)
def test_weights_that_are_no_codes_are_one_line(tmp_path, codes) -> None:
    schema = sf.Schema({"w": sf.Numeric(0, 10, bins=5), "a": TWO})
    scheme = sf.Scheme(schema, {"w": c.identity(5), "a": c.symmetric(2, gamma=3)})
    sf.randomize({"w": [1.0, 9.0] * (N // 2), "a": ["n", "y"] * (N // 2)}, scheme).save(tmp_path / "w.parquet")
    path = with_columns(tmp_path / "w.parquet", tmp_path / "odd.parquet", {"w": codes})
    assert "'w'" in refused(lambda: sf.evidence(sf.Release.load(path), weights="w").share("a"))
