"""What the walk over the pages of a file finds; files that lie are in tests/hostile/test_misleading_parquet.py."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import SchemaError
from sfumato.reading.parquet_structure import check_received, most_unpacked, structure


def test_rows_and_the_bytes_of_texts_are_those_of_the_pages(tmp_path: Path) -> None:
    table = pa.table({"n": range(500), "a": ["text"] * 500, "b": ["x" * 10] * 500})
    pq.write_table(table, tmp_path / "t.parquet", use_dictionary=["a"], row_group_size=100, compression="zstd")
    found = structure(tmp_path / "t.parquet")
    assert found.rows == 500 and set(found.text_bytes) == {"a", "b"} and not found.delta_texts
    assert found.text_bytes["b"] >= 14 * 500 > found.text_bytes["a"]


def test_pages_are_looked_at_where_they_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({f"a{i}": [i] for i in range(30)} | {"a.b": ["x"], "r": [{"x": 1, "y": {"z": 1}}], "r2": [1]})
    pq.write_table(table, tmp_path / "t.parquet")
    names = [*table.schema.names[:31], "r.x", "r.y.z", "r2"]
    assert structure(tmp_path / "t.parquet", ()).seen == {0}
    assert structure(tmp_path / "t.parquet", ["a3", "a.b"]).seen == {0, 3, 30}
    found = structure(tmp_path / "t.parquet", ["r", "none"])
    assert {names[j] for j in found.seen} == {"a0", "a3", "a.b", "r.x", "r.y.z"}
    for i in range(10, 20):
        structure(tmp_path / "t.parquet", [f"a{i}"])
    assert found.looks == 9 and len(found.seen) == len(names)  # after several times, all others at once
    monkeypatch.setattr("sfumato.reading.parquet_structure._look", None)
    assert structure(tmp_path / "t.parquet") is found


def test_a_file_that_was_replaced_is_looked_at_again(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    for rows in (3, 4000):
        pq.write_table(pa.table({"n": range(rows)}), path)
        assert structure(path).rows == rows
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(SchemaError, match="cannot be read"):
        structure(path)


def test_headers_with_long_texts_are_read(tmp_path: Path) -> None:
    """Old writers put the smallest and the largest value into the header of each page."""
    long = ["a" * 5000, "b" * 5000]
    pq.write_table(pa.table({"t": long}), tmp_path / "t.parquet", data_page_version="2.0", write_statistics=True)
    assert structure(tmp_path / "t.parquet").rows == 2


def test_texts_in_delta_encodings_are_known_by_their_pages(tmp_path: Path) -> None:
    table, ways = pa.table({"a": ["x", "y"], "b": ["x", "y"]}), {"a": "DELTA_BYTE_ARRAY", "b": "PLAIN"}
    pq.write_table(table, tmp_path / "t.parquet", use_dictionary=False, column_encoding=ways)
    assert structure(tmp_path / "t.parquet").delta_texts == {"a"}
    check_received(tmp_path / "t.parquet", ["b", "c"])
    with pytest.raises(SchemaError, match="'a' is in an encoding that can hide its size"):
        check_received(tmp_path / "t.parquet", ["a", "b"])


def test_a_small_file_may_unpack_to_more_than_a_large_one_by_its_size() -> None:
    assert most_unpacked(100) == most_unpacked(1 << 20) == 1 << 27
    assert most_unpacked(1 << 30) == 1 << 37
