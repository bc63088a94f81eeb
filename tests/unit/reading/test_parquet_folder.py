"""A folder of Parquet files is one table."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import SchemaError
from sfumato.reading import tables
from sfumato.reading.file_stamp import stamp

SCHEMA = sf.Schema({"a": sf.Categorical((0, 1)), "shop": sf.Categorical(("A B", "C"), nullable=True)})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for shop, values in {"A%20B": [0, 1, 1], "C": [0], "__HIVE_DEFAULT_PARTITION__": [1]}.items():
        place = tmp_path / "table" / f"shop={shop}"
        place.mkdir(parents=True)
        pq.write_table(pa.table({"a": values}), place / "part-0.parquet")
    for other in ("_temporary", ".hidden"):
        (tmp_path / "table" / other).mkdir()
        pq.write_table(pa.table({"a": [9]}), tmp_path / "table" / other / "part-0.parquet")
    return tmp_path / "table"


def test_files_and_folder_names_are_the_table(folder: Path) -> None:
    assert tables.column_names(folder) == ["a", "shop"] and tables.count_rows(folder) == 5
    rows = [row for batch in tables.batches(folder) for row in batch.to_pylist()]
    assert sorted(str(row["shop"]) for row in rows) == ["A B", "A B", "A B", "C", "None"]
    assert sf.evidence(folder, SCHEMA).counts(["shop"]).value.tolist() == [3, 1, 1]
    assert [row["a"] for batch in tables.batches(folder, ["a"]) for row in batch.to_pylist()] == [0, 1, 1, 0, 1]
    release = sf.randomize(folder, sf.Scheme.for_gamma(SCHEMA, 3))
    assert len(release) == 5


def test_a_folder_that_changes_has_another_stamp(folder: Path) -> None:
    before = stamp(folder)
    assert before == stamp(folder) and before is not None
    pq.write_table(pa.table({"a": [0]}), folder / "shop=C" / "part-1.parquet")
    assert stamp(folder) != before


def test_what_is_wrong_is_named(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(SchemaError, match="empty: the folder holds no Parquet files"):
        tables.column_names(tmp_path / "empty")
    with pytest.raises(SchemaError, match="no column 'b'"):
        list(tables.batches(folder, ["b"]))
    pq.write_table(pa.table({"a": ["0"]}), folder / "shop=C" / "part-1.parquet")
    with pytest.raises(SchemaError, match="part-1.parquet: column 'a' is string here and int64 in part-0.parquet"):
        list(tables.batches(folder))
    (folder / "shop=C" / "part-1.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(SchemaError, match="part-1.parquet: cannot be read"):
        list(tables.batches(folder))
