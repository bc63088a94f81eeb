"""The one door to Parquet files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import ReleaseError, SchemaError
from sfumato.reading.parquet_file import open_parquet, parquet_notes, parquet_rows, parquet_schema


@pytest.fixture
def path(tmp_path: Path) -> Path:
    table = pa.table({"a": [1, 2, 3]}).replace_schema_metadata({"said": "something"})
    pq.write_table(table, tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def test_rows_columns_and_notes_are_read(path: Path) -> None:
    assert parquet_rows(path) == 3 and parquet_schema(path).names == ["a"]
    assert parquet_notes(path)[b"said"] == b"something"
    with open_parquet(str(path)) as file:
        assert file.read().column("a").to_pylist() == [1, 2, 3]


def test_what_goes_wrong_inside_is_one_line(path: Path) -> None:
    with pytest.raises(SchemaError, match="t.parquet: cannot be read: it is damaged"), open_parquet(path):
        raise pa.ArrowInvalid("Corrupt\nvalue 'Smith'")
    with pytest.raises(ReleaseError, match="^as it was$"), open_parquet(path):
        raise ReleaseError("as it was")
    with pytest.raises(SchemaError, match="No such file"):
        parquet_rows(path.with_name("none.parquet"))
