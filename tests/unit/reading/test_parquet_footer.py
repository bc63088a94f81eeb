"""A footer is read as Arrow reads it."""

from __future__ import annotations

from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.hostile.parquet_maker import STRUCT, Column, Page, make

from sfumato.reading.parquet_footer import Chunk, read_footer
from sfumato.reading.parquet_pages import PageError


@pytest.mark.parametrize("dictionary", [True, False])
def test_a_footer_says_what_arrow_reads_in_it(tmp_path: Path, dictionary: bool) -> None:
    numbers = np.arange(3000)
    given = pa.table({"n": numbers, "x": numbers / 7, "t": [f"text {i % 40}" for i in numbers], "l": [[1, 2]] * 3000})
    pq.write_table(given, tmp_path / "arrow.parquet", row_group_size=700, use_dictionary=dictionary)
    duckdb.connect().execute(f"copy given to '{tmp_path / 'duckdb.parquet'}' (format parquet)")
    for path in tmp_path.iterdir():
        about = pq.read_metadata(path)
        with path.open("rb") as file:
            footer = read_footer(file)
        assert footer.rows == about.num_rows
        assert footer.place == path.stat().st_size - 8 - about.serialized_size
        for number, group in enumerate(footer.groups):
            assert group.rows == about.row_group(number).num_rows
            assert len(group.chunks) == about.num_columns
            for j, chunk in enumerate(group.chunks):
                theirs = about.row_group(number).column(j)
                sizes = theirs.num_values, theirs.total_uncompressed_size, theirs.total_compressed_size
                assert chunk == Chunk(*sizes, theirs.data_page_offset, theirs.dictionary_page_offset or 0)
        assert number + 1 == about.num_row_groups


def test_what_is_missing_or_encrypted_is_said(tmp_path: Path) -> None:
    column = Column("a", [Page(1, bytes(4))], after=[(8, STRUCT, [(1, STRUCT, [])])])
    with make(tmp_path / "locked.parquet", [column]).open("rb") as file, pytest.raises(ValueError, match="encrypted"):
        read_footer(file)
    path = make(tmp_path / "cut.parquet", [Column("a", [Page(1, bytes(4))])])
    path.write_bytes(path.read_bytes()[:-20] + b"\x02\0\0\0PAR1")
    with path.open("rb") as file, pytest.raises(PageError, match="footer"):
        read_footer(file)
