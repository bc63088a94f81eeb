"""Text files as they come: every delimiter, decimal sign, encoding and header; what is wrong is named by its line."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import DisclosureWarning, SchemaError
from sfumato.reading import tables
from sfumato.reading.csv_format import detect

PLAIN = "name,dose,note\nAnn,1.5,calm\nBob,22.25,\nZoë,3,late\n"


def read(table: object, columns: list[str] | None = None) -> dict[str, list]:
    return pa.Table.from_batches(list(tables.batches(table, columns, tables.AS_TEXT))).to_pydict()


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le"])
def test_delimiters_and_encodings_are_told(sign: str, encoding: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(PLAIN.replace(",", sign).encode(encoding))
    assert read(tmp_path / "t.csv") == {
        "name": ["Ann", "Bob", "Zoë"],
        "dose": ["1.5", "22.25", "3"],
        "note": ["calm", "", "late"],
    }


def test_line_ends_and_compression(tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(PLAIN.replace("\n", "\r\n").encode()))
    assert read(tmp_path / "t.csv.gz", ["name"]) == {"name": ["Ann", "Bob", "Zoë"]}


@pytest.mark.parametrize(
    ("text", "column", "values"),
    [
        ("a;b\n1,5;x\n2,25;y\n", "a", ["1.5", "2.25"]),
        ("a;b\n1.234,5;x\n999,25;y\n", "a", ["1234.5", "999.25"]),
        ("a;b\n1.234.567;x\n1,5;y\n", "a", ["1234567", "1.5"]),
        ('a,b\n"1,234.5",x\n17,y\n', "a", ["1234.5", "17"]),
        ('a,b\n"1,234",x\n17,y\n', "a", ["1234", "17"]),
        ('a,b\n"1,234,567",x\n17,y\n', "a", ["1234567", "17"]),
        ("a;b\n1,234;x\n17;y\n", "a", ["1.234", "17"]),
        ("a;b\n1 234,5;x\n17;y\n", "a", ["1234.5", "17"]),
        ('a,b\n"$1,234.50",x\n$17.00,y\n', "a", ["$1234.50", "$17.00"]),
        ("a;b\n12,5 mg;x\n3,0 mg;y\n", "a", ["12.5 mg", "3.0 mg"]),
        ("a;b\n-1,5;x\n2,5;1,2,3\n", "b", ["x", "1,2,3"]),
        ('a,b\n"1,3",x\n"2,3,4",y\n"1,2,3",z\n', "a", ["1,3", "2,3,4", "1,2,3"]),  # answers to "tick all that apply"
        ("a;b\n31.12.2020;1,5\n01.02.2021;2,5\n", "a", ["31.12.2020", "01.02.2021"]),
        ("a;b\n1,5;4711.12\nx,y;4712.11\n2,5;1\n", "b", ["4711.12", "4712.11", "1"]),
    ],
)
def test_numbers_are_written_plainly(text: str, column: str, values: list[str], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text)
    assert read(tmp_path / "t.csv")[column] == values


def test_what_is_only_a_guess_is_said(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;b\n1,234;x\n17;y\n")
    assert any("taken with a decimal comma; say --decimal" in note for note in detect(tmp_path / "t.csv").notes)
    assert read(sf.CsvFile(tmp_path / "t.csv", decimal=".", thousands=","))["a"] == ["1234", "17"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a,b\n1,2\n", ["a", "b"]),
        ("5.1,3.5,setosa\n4.9,3.0,setosa\n", ["column1", "column2", "column3"]),
        ("young,no\nold,yes\nyoung,yes\nold,no\nold,no\nyoung,no\n", ["column1", "column2"]),
        ("country,2019,2020\nPeru,1,2\nChad,3,4\n", ["country", "2019", "2020"]),
        ("2019,2020\n1,2\n3,4\n", ["2019", "2020"]),
        ("land,1992,1994\nPeru,1,2\nChad,3,4\n", ["land", "1992", "1994"]),
        ("a,,c\n1,2,3\n", ["a", "column2", "c"]),
        ("a,a,b\n1,2,3\n", ["a_1", "a_2", "b"]),
        ("a,b,\n1,2,\n3,4,\n", ["a", "b", "column3"]),
        ("a,b\n1,2,\n3,4,\n", ["a", "b", "column3"]),
        ("a,b\n1,2,3\n2,4,5\n", ["row", "a", "b"]),  # as R writes it
        ("\n\na,b\n1,2\n", ["a", "b"]),
        ('"a\nb", c \n1,2\n', ["a\nb", "c"]),
        ("sep=;\na;b\n1;2\n", ["a", "b"]),
        ("sex\nF\nM\n", ["sex"]),
    ],
)
def test_headers_are_told(text: str, names: list[str], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text)
    assert tables.column_names(tmp_path / "t.csv") == names
    rows = read(tmp_path / "t.csv")
    assert list(rows) == names
    assert len(rows[names[0]]) >= 1


def test_everything_can_be_overridden(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("5;Zoë\n7;Bob\n".encode("cp1252"))
    assert read(sf.CsvFile(path, header=True, encoding="latin-1")) == {"5": ["7"], "Zoë": ["Bob"]}
    assert read(sf.CsvFile(path, header=False)) == {"column1": ["5", "7"], "column2": ["Zoë", "Bob"]}
    assert list(read(sf.CsvFile(path, delimiter="|", header=False))) == ["column1"]
    schema = sf.Schema({"column1": sf.Ordinal((5, 7))})
    assert schema.encode(sf.CsvFile(path, header=False))["column1"].tolist() == [0, 1]
    assert len(sf.randomize(sf.CsvFile(path, header=False), sf.Scheme.for_gamma(schema, 3))) == 2


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"delimiter": "ab"}, "delimiter must be one sign"),
        ({"decimal": ";"}, "decimal must be a point or a comma"),
        ({"encoding": "klingon"}, "encoding 'klingon' is unknown"),
        ({"thousands": "x"}, "thousands must be a point"),
    ],
)
def test_bad_options_get_one_line(options: dict[str, str], line: str, tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=line):
        sf.CsvFile(tmp_path / "t.csv", **options)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a,b\n1,2\n\n3,4,secret\n5,6\n", "line 4 has 3 fields, the header has 2"),
        ('a,b\n1,"two\nlines"\nsecret\n5,6\n', "line 4 has 1 field, the header has 2"),
        ('a,b\n1,2\n"1,secret\n5,6\n7,8\n', 'in line 3 a quote (") opens that is not closed'),
        ('a,b\n1,2\n1,"secret\n5,6\n7,8\n', 'in line 3 a quote (") opens that is not closed'),
        ('a,b\n"1\n2",2\n1,"secret\n' + "5,6\n" * 50_000, 'in line 4 a quote (") opens that is not closed'),
        ("", "the file is empty"),
        ("\n\n", "the file is empty"),
    ],
)
def test_a_broken_line_is_named_but_not_quoted(text: str, line: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(SchemaError, match=re.escape(line)) as caught:
        read(tmp_path / "t.csv")
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("last", ['"two\nlines"', '"ends with a blank line\n"', '5" pipe', "x" * 200_000 + '"', '"x"y'])
def test_quotes_that_are_closed_or_open_nothing_are_read(last: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(f'a,b\n"1\n2",2\n3,"{"long " * 50_000}\n"\n5,{last}\n')
    assert len(read(tmp_path / "t.csv")["a"]) == 3


def test_two_columns_of_one_name_can_both_be_had(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("sex,sex\nF,M\n")
    assert read(tmp_path / "t.csv", ["sex_2"]) == {"sex_2": ["M"]}
    with pytest.raises(SchemaError, match="two columns called 'sex': ask for sex_1 or sex_2"):
        read(tmp_path / "t.csv", ["sex"])


def test_blanks_around_values_are_no_part_of_them(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("sex, age\nF , 3\nM, 4\n")
    assert read(tmp_path / "t.csv") == {"sex": ["F", "M"], "age": ["3", "4"]}


def test_a_release_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Its codes are numbers under names that may be numbers too: nothing about it is guessed."""
    schema = sf.Schema({"7": sf.Ordinal(tuple(range(9))), "a;b": sf.Categorical(("x", "y"))})
    release = sf.randomize({"7": list(range(9)), "a;b": ["x"] * 9}, sf.Scheme.for_gamma(schema, 3))
    release.save(tmp_path / "r.csv")
    assert sf.Release.load(tmp_path / "r.csv").arrow().equals(release.arrow())
    alone = sf.randomize({"7": list(range(9))}, sf.Scheme.for_gamma(schema.select(["7"]), 3))
    alone.save(tmp_path / "alone.csv")
    assert sf.Release.load(tmp_path / "alone.csv").arrow().equals(alone.arrow())


def test_bytes_that_are_no_text_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("name,x\n" + "Ann,1\n" * 60_000 + "Zo\xeb,1\n", encoding="latin-1")
    with pytest.raises(SchemaError, match="--encoding cp1252"):
        read(tmp_path / "t.csv")
    assert read(sf.CsvFile(tmp_path / "t.csv", encoding="cp1252"))["name"][-1] == "Zoë"


def test_one_column_of_decimal_commas_is_one_column(tmp_path: Path) -> None:
    (tmp_path / "z.csv").write_text("z\n60,24894\n-8,5\n7\n")
    found = detect(tmp_path / "z.csv")
    assert (found.names, found.decimal) == (("z",), ",")
    (tmp_path / "rows.csv").write_text("x\n1,a\n2,b\n3,c\n")  # row names without a name
    assert detect(tmp_path / "rows.csv").delimiter == ","


def test_decimal_commas_with_exponents_are_numbers(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("p;n\n" + "9,1e-05;1\n0,25;2\n3,5E+2;3\n1e-3;4\n" * 10)
    found = detect(tmp_path / "t.csv")
    assert (found.names, found.decimal) == (("p", "n"), ",")
    assert read(tmp_path / "t.csv")["p"][:4] == ["9.1e-05", "0.25", "3.5E+2", "1e-3"]


LOSSES = "profit;cost;note\n" + "".join(f"{row},250.50;$3;n{row}\n({row},000);-$4;(2)\n" for row in range(1, 60))


def test_numbers_in_brackets_are_negative_beside_others(tmp_path: Path) -> None:
    """They made a column of amounts names or codes, which schema left out."""
    path = tmp_path / "t.csv"
    path.write_text(LOSSES)
    assert read(path)["profit"][:2] == ["1250.50", "-1000"]
    assert read(path)["note"][1] == "(2)"
    assert "brackets" in " ".join(detect(path).notes)
    with pytest.warns(DisclosureWarning):
        schema = sf.Schema.infer(path, columns=["profit", "cost"])
    assert schema["cost"].labels == (-4, 3)
    codes = schema.encode(path)["profit"]
    assert codes[1] < codes[0]


def test_numbers_are_read_as_such_by_those_who_ask_for_no_text(tmp_path: Path) -> None:
    """Groups of thousands and brackets made them text, or no numbers."""
    path = tmp_path / "t.csv"
    path.write_text(LOSSES)
    asked: tuple[dict[str, pa.DataType] | None, ...] = (None, {"profit": pa.float64()})
    for types in asked:
        (batch,) = tables.batches(path, ["profit"], types)
        assert batch.column(0)[:2].to_pylist() == [1250.5, -1000]
    assert next(tables.batches(path, ["profit"], {"profit": pa.string()})).column(0)[1].as_py() == "(1,000)"
    path.write_text(LOSSES + "many;$3;n\n")
    assert pa.types.is_string(next(tables.batches(path)).column(0).type)
    with pytest.raises(SchemaError, match="column 'profit': a field is no number"):
        list(tables.batches(path, types={"profit": pa.float64()}))


def test_a_release_keeps_its_brackets(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x\n1\n(2)\n")
    (tmp_path / "t.csv.json").write_text('{"format": "sfumato release"}')
    assert read(tmp_path / "t.csv") == {"x": ["1", "(2)"]}


@pytest.mark.parametrize("sign", [",", ";"])
@pytest.mark.parametrize("title", ["Clinic A\n\n", 'Clinic A\n"made, or; so ""\n', "Clinic A,,\n;;\n"])
def test_lines_above_the_header_are_left_out_where_asked(title: str, sign: str, tmp_path: Path) -> None:
    """A title became the name of the only column, or was refused by its number of fields."""
    path = tmp_path / "t.csv"
    path.write_text(title + PLAIN.replace(",", sign))
    table = sf.CsvFile(path, skip=2)
    assert read(table) == {"name": ["Ann", "Bob", "Zoë"], "dose": ["1.5", "22.25", "3"], "note": ["calm", "", "late"]}
    assert not detect(table).notes
    path.write_text(title + PLAIN.replace(",", sign) + sign.join("1234") + "\n" + PLAIN.replace(",", sign))
    with pytest.raises(SchemaError, match="line 7 has 4 fields"):
        read(table)


def test_lines_that_look_like_a_title_are_remarked_on(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Clinic A\n\n" + PLAIN.replace(",", ";"))
    assert "the first 2 lines look like a title above the header: if so, say --skip 2" in detect(path).notes
    path.write_text("Clinic A\n" + PLAIN)
    assert any("the first line looks like a title" in note for note in detect(path).notes)
    assert not detect(sf.CsvFile(path, skip=0)).notes
    for plain in (PLAIN, "x\nr1,2\nr2,3\n", "\n\na,b\n1,2\n2,3\n", "word\none\ntwo\n", "a\n1,5\n2,5\n"):
        path.write_text(plain)
        assert "title" not in str(detect(path).notes)
    with pytest.raises(SchemaError, match="nothing is left below the 9 lines"):
        detect(sf.CsvFile(path, skip=9))
    with pytest.raises(SchemaError, match="skip must be a number of lines"):
        sf.CsvFile(path, skip=-1)


def test_one_line_above_a_header_of_two_names_is_a_title(tmp_path: Path) -> None:
    """It has one field less than the table, as headers that do not name the rows have."""
    path = tmp_path / "t.csv"
    path.write_text("Results of 2020\nname,age\n" + "".join(f"p{i},{i}\n" for i in range(30)))
    assert "the first line looks like a title above the header: if so, say --skip 1" in detect(path).notes


@pytest.mark.parametrize("rows", [40, 200_000])
def test_a_total_below_the_records_is_remarked_on(tmp_path: Path, rows: int) -> None:
    """It was read as a record, and its sums became the ends of ranges."""
    path, records = tmp_path / "t.csv", "".join(f"{i % 7};{i % 10};{i}\n" for i in range(rows))
    path.write_text("region;count;sum\n" + records + "Total:;820;2460\n")
    assert any("the last line looks like a total, and counts as a record" in note for note in detect(path).notes)
    for last in ("3;820;2460\n", "total;;\n"):
        path.write_text("region;count;sum\n" + records + last)
        assert "total" not in str(detect(path).notes)


def test_groups_called_total_are_no_total_below(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("group;count\n" + "men;3\nwomen;4\ntotal;7\n" * 9)
    assert "total" not in str(detect(path).notes)


def test_random_bytes_are_no_text(tmp_path: Path) -> None:
    """Lines of them were said to have too many fields, where no zero stood among the first 64."""
    path = tmp_path / "t.csv"
    for seed in range(40):
        path.write_bytes(np.random.default_rng(seed).bytes(3000).replace(b"\0", b""))
        with pytest.raises(SchemaError, match="is not text, which a table is"):
            detect(path)
    path.write_text("name,note\n" + "Ann,some words \x1b[31mred\n" * 9)
    assert detect(path).names == ("name", "note")


def test_what_to_do_about_totals_and_titles_is_said(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(PLAIN + "Total,,,\n\nremark\n")
    with pytest.raises(SchemaError, match="if a total or a remark, leave out line 5 and what stands below"):
        read(path)
    path.write_text("# made so\n# a, b, c and, d\n" + PLAIN)
    with pytest.raises(SchemaError, match=r"line 2 .* say --delimiter; where a title .* say --skip 2"):
        read(path)
    path.write_text(PLAIN * 20 + "a,b,c,d\n" + PLAIN * 20)
    with pytest.raises(SchemaError, match="say --delimiter$"):
        read(path)


def test_decimal_commas_make_no_title_of_a_header(tmp_path: Path) -> None:
    """Read with commas, every record has more fields than the header: it was said to be a title, to be skipped."""
    (tmp_path / "t.csv").write_text("pupil;sex;iq;ses\n" + "".join(f"{i};0;15,5;3,{i}\n" for i in range(50)))
    assert not any("title" in note for note in detect(tmp_path / "t.csv").notes)
    (tmp_path / "u.csv").write_text("Clinic A, 2020\n\npupil;iq\n" + "".join(f"{i};15,5\n" for i in range(50)))
    assert any("title" in note for note in detect(tmp_path / "u.csv").notes)
