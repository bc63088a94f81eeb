"""Text files whose first line used to cost far more than it is long, or was not read to its end."""

from __future__ import annotations

import pytest
from tests.command_line import run
from tests.hostile.guard import guarded, refused

from sfumato.columns import examine
from sfumato.reading import tables
from sfumato.reading.csv_format import detect


def lines(*rows: list[str]) -> str:
    return "".join(",".join(row) + "\n" for row in rows)


@pytest.mark.parametrize(
    "header",
    [["a"] * 60_000, [f"{i // 2}" for i in range(40_000)], [f'"{i}"' for i in range(30_000)]],
    ids=["one name", "pairs", "quotes"],
)
def test_names_are_told_apart_in_one_pass(tmp_path, header: list[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text(lines(header, ["x"] * len(header)))
    with guarded(seconds=2):
        found = detect(path)
    assert len(set(found.names)) == len(header)
    assert len(" ".join(found.notes)) < 2000


def test_numbered_names_avoid_those_that_are_there(tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,a_1,a,b,a_1\n1,2,3,4,5\n")
    found = detect(path)
    assert found.names == ("a_2", "a_1_1", "a_3", "b", "a_1_2")
    assert found.twice == ("a", "a_1")


def test_cells_in_quotes_below_a_header_of_5000_columns_are_not_searched(tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(lines([f"c{i}" for i in range(5000)], *([['"x"'] * 5000] * 20)))
    with guarded(seconds=1):
        assert len(tables.column_names(path)) == 5000


def test_short_rows_under_a_wide_header(tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(lines([f"{i:x}" for i in range(16_000)]) + "1\n" * 90_000)
    with guarded(seconds=2):
        tables.column_names(path)


def test_a_header_longer_than_a_block_is_read_to_its_end(tmp_path) -> None:
    path = tmp_path / "t.csv"
    names = [f"c{i}{'x' * 60}" for i in range(5000)]
    path.write_text(lines(names, ["1"] * 5000, ["2"] * 5000))
    assert tables.column_names(path) == names
    assert sum(batch.num_rows for batch in tables.batches(path, [names[-1]])) == 2


def test_a_first_line_without_an_end_and_very_many_columns_are_refused(tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("9" * 20_000_000)
    assert "its first line is longer than 8 MB" in refused(lambda: tables.column_names(path))
    path.write_text(lines(["a"] * 2_000_000, ["1"] * 2))
    assert "it has 2000000 columns, more than 100000" in refused(lambda: tables.column_names(path))


def test_a_name_longer_than_any_field_does_not_make_the_file_empty(tmp_path) -> None:
    (tmp_path / "t.csv").write_text(lines(["a", "x" * 200_000], ["1", "2"]))
    assert "field of more than 128 kB" in refused(lambda: detect(tmp_path / "t.csv"))


def test_a_name_of_very_many_digits_is_no_year(tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"{'9' * 5000},2\n" + "1,2\n3,4\n" * 4)
    assert len(tables.column_names(path)) == 2


def test_another_tools_description_does_not_change_how_a_table_is_read(tmp_path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("1,5;2,5\n2,5;3,5\n" * 20)
    before = detect(path)
    (tmp_path / "t.csv.json").write_text('{"format": "sfumato schema", "title": "patients"}')
    assert detect(path) == before
    assert before.decimal == "," and not before.header


@pytest.mark.parametrize("text", ["9" * 5000, "1e308\n-1e308", "1e999\n1"])
def test_numbers_beyond_doubles_are_a_verdict(tmp_path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"a\n{text}\n" + "1\n2\n3\n" * 5)
    assert examine(path).verdicts[0].kind == "unreadable"


@pytest.mark.parametrize("option", ["--bins 99999999", "--bins a=99999999", "--range a=-1.7e308:1.7e308"])
def test_options_beyond_all_bounds_are_one_line(tmp_path, option: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a\n" + "1\n2\n3.5\n" * 50)
    with guarded():
        ran = run(f"schema {path} {option}")
    assert ran.code == 1 and ran.error.count("\n") == 1
