"""sfumato schema: verdicts in words, in JSON and as a schema that the other commands take."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import run

import sfumato as sf

HEADER = "Nr;Alter;Geschlecht;Aufnahme;Gewicht;Notiz;\n"


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lines = [
        f"{i + 1};{20 + i % 60};{'mwMW'[i % 4]};{i % 28 + 1:02d}.{i % 12 + 1:02d}.2021;{60 + i % 30},5;secret remark {i} about it all;\n"
        for i in range(300)
    ]
    (tmp_path / "klinik.csv").write_bytes((HEADER + "".join(lines)).encode("cp1252"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_from_a_messy_file_to_a_release(clinic: Path) -> None:
    shown = run("schema klinik.csv --save schema.json")
    assert shown.code == 0
    for words in ("identifier", "free text", "the first and the last month", "itself a disclosure", "To check:"):
        assert words in shown.out, words
    assert "delimiter ; decimal , encoding" in shown.error
    assert "secret" not in shown.out + shown.error
    schema = sf.Schema.from_json((clinic / "schema.json").read_text())
    assert list(schema) == ["Alter", "Geschlecht", "Aufnahme", "Gewicht"]
    assert schema["Aufnahme"] == sf.Date("2021-01", "2021-12", by="month")
    document = json.loads((clinic / "schema.json").read_text())
    assert set(document["left_out"]) == {"Nr", "Notiz", "column7"}
    assert document["attributes"]["Alter"]["discloses"]
    assert run("design schema.json --n 300 --gamma 3 --save scheme.json").code == 0
    assert run("randomize klinik.csv one.parquet --scheme scheme.json").code == 0
    assert run("randomize klinik.csv two.parquet --schema schema.json --gamma 3").code == 0
    assert len(sf.Release.load("two.parquet")) == 300


def test_json_says_the_same(clinic: Path) -> None:
    found = json.loads(
        run("schema klinik.csv --json --drop Notiz --range Alter=0:120 --by Aufnahme=weekday --bins 6").out
    )
    assert found["rows"] == 300
    assert found["format"] == {
        "delimiter": ";",
        "decimal": ",",
        "thousands": None,
        "encoding": "utf-8",
        "header": True,
        "skip": 0,
    }
    verdicts = {column["name"]: column for column in found["columns"]}
    assert "Notiz" not in verdicts
    assert verdicts["Alter"]["domain"]["edges"] == [0, 20, 40, 60, 80, 100, 121]  # 120 among them
    assert verdicts["Aufnahme"]["domain"] == {
        "kind": "date",
        "by": "weekday",
        "nullable": False,
        "formats": ["%d.%m.%Y"],
    }
    assert verdicts["Nr"]["verdict"] == "identifier"
    assert verdicts["Nr"]["domain"] is None


@pytest.mark.parametrize(
    ("span", "first", "last"),
    [
        ("2020-06:2022-01", "2020-06", "2022-01"),
        ("2020:2022", "2020-01", "2022-12"),
        ("2020-Q2:2022-Q1", "2020-04", "2022-03"),
        ("2020-W40:2022-W04", "2020-09", "2022-01"),
    ],
)
def test_limits_of_dates_can_be_given_and_then_disclose_nothing(span: str, first: str, last: str, clinic: Path) -> None:
    read = {v["name"]: v for v in json.loads(run("schema klinik.csv --json").out)["columns"]}
    assert read["Aufnahme"]["discloses"] == "the first and the last month"
    line = f"schema klinik.csv --range Aufnahme={span} --by Aufnahme=month"
    given = {v["name"]: v for v in json.loads(run(f"{line} --json").out)["columns"]}
    assert given["Aufnahme"]["discloses"] == "nothing: the limits are yours"
    assert (given["Aufnahme"]["domain"]["first"], given["Aufnahme"]["domain"]["last"]) == (first, last)


def test_of_whole_numbers_in_bins_of_one_the_highest_has_its_own(tmp_path: Path) -> None:
    rows = "".join(f"{i % 21}\n" for i in range(420))
    (tmp_path / "t.csv").write_text("school\n" + rows, encoding="utf-8")
    found = json.loads(run(f"schema {tmp_path / 't.csv'} --range school=0:20 --json").out)["columns"][0]["domain"]
    domain = sf.Schema.from_dict({"school": found})["school"]
    assert domain.midpoints.tolist() == list(range(21))
    truth = sf.evidence({"school": [12] * 10 + [20] * 10}, sf.Schema({"school": domain})).cdf("school")
    assert dict(zip(truth.frame()["up_to"].to_pylist(), truth.value, strict=True))[12] == 0.5


@pytest.mark.parametrize("name", ["uid", "caseid", "what"])
def test_numbers_of_people_of_whom_some_come_again_are_identifiers(name: str, tmp_path: Path) -> None:
    ids = [19780001 + 40 * person for person in range(400) for _ in range(1 + person % 5 // 4)]
    (tmp_path / "t.csv").write_text(f"{name},x\n" + "".join(f"{i},{i % 7}\n" for i in ids), encoding="utf-8")
    found = json.loads(run(f"schema {tmp_path / 't.csv'} --json").out)["columns"][0]
    assert found["verdict"] == "identifier" and not found["kept"]


@pytest.mark.parametrize("bins", [25, 26, 40])
def test_whole_numbers_between_given_limits_have_no_bins_narrower_than_one(tmp_path: Path, bins: int) -> None:
    """26 bins between 0 and 25 had edges at 0.96, 1.92 and so on, of which one held two numbers."""
    (tmp_path / "school.csv").write_text("years\n" + "\n".join(str(k % 21) for k in range(500)) + "\n")
    ran = run(f"schema {tmp_path}/school.csv --range years=0:25 --bins years={bins} --save {tmp_path}/schema.json")
    assert ran.code == 0, ran.error
    years = json.loads((tmp_path / "schema.json").read_text())["attributes"]["years"]
    assert years["edges"] == list(range(27)) and years["step"] == 1


def test_categories_written_as_fractions_are_whole_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("race\n" + "1.0\n2.0\n4.0\n1.0\n\n" * 30, encoding="utf-8")
    assert run("schema t.csv --as race=categorical --save s.json").code == 0
    domain = sf.Schema.from_json((tmp_path / "s.json").read_text())["race"]
    assert domain.labels[:3] == (1, 2, 4)
    assert domain.encode(["1.0", "4.0"]).tolist() == [0, 2]


def test_reading_options_hold_wherever_a_table_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{'mw'[i % 2]}|{i % 4}|{i},25\n" for i in range(60))
    (tmp_path / "t.csv").write_bytes(("Straße|x|y\n" + rows).encode("latin-1"))
    options = "--delimiter | --decimal , --encoding latin-1"
    assert run(f"schema t.csv {options} --no-header").code == 0
    assert run(f"schema t.csv {options} --save schema.json").code == 0
    assert list(sf.Schema.from_json((tmp_path / "schema.json").read_text())) == ["Straße", "x", "y"]
    assert run(f"design t.csv --n 60 --gamma 3 {options}").code == 0
    assert run(f"randomize t.csv r.csv --schema schema.json --gamma 3 {options}").code == 0
    assert len(sf.Release.load("r.csv")) == 60
    shown = json.loads(run(f"density t.csv --column y --noise uniform:1 --json {options}").out)
    assert shown["n"] == 60


def test_bins_of_several_columns_are_given_in_one_option_or_in_several(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,c\n" + "".join(f"{i / 7},{i / 3},{i / 9}\n" for i in range(100)))
    ranges = "--range a=0:100 --range b=0:100 --range c=0:100"
    for asked in ("--bins a=10,b=5,c=4", "--bins a=10 --bins b=5 --bins 4"):
        found = json.loads(run(f"schema {tmp_path}/t.csv --json {ranges} {asked}").out)
        assert [len(column["domain"]["edges"]) for column in found["columns"]] == [11, 6, 5]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("schema absent.csv", "absent.csv: there is no such file"),
        ("schema klinik.csv --save klinik.csv", "klinik.csv: is read by this command"),
        ("schema klinik.csv --save nowhere/s.json", "the folder nowhere does not exist"),
        ("schema klinik.csv --columns nothing", "the table has no column 'nothing'"),
        ("schema klinik.csv --range Alter", "--range must look like name=value"),
        ("schema klinik.csv --range Alter=9:1", "--range Alter must be LOW:HIGH"),
        ("schema klinik.csv --bins many", "--bins must look like 20"),
        ("schema klinik.csv --drop Nr --drop Notiz", "'--drop' is given more than once"),
        ("schema klinik.csv --by Aufnahme=decade", "by must be one of hour, day"),
        ("schema klinik.csv --by Alter=month", "column 'Alter' holds no dates"),
        ("schema klinik.csv --range Alter=2019-01:2020-01", "column 'Alter' holds no dates"),
        ("schema klinik.csv --range Aufnahme=2021-12:2021-01", "the first date first"),
        ("schema klinik.csv --range Aufnahme=2021-W77:2022-W01", "must look like 2019-01:2020-12 or 2019-Q1:2020-Q4"),
        ("schema klinik.csv --range Geschlecht=0:1", "column 'Geschlecht' holds no numbers"),
        ("schema klinik.csv --columns Nr --save s.json", "no column is left for a schema"),
        ("schema klinik.csv --delimiter abc", "delimiter must be one sign"),
        ("schema klinik.csv --encoding klingon", "encoding 'klingon' is unknown"),
        ("randomize klinik.csv r.parquet --gamma 3", "column 'Nr' (identifier)"),
        ("randomize klinik.csv r.parquet --scheme klinik.csv --schema klinik.csv", "--schema goes with --gamma"),
    ],
)
def test_errors_are_one_line(line: str, words: str, clinic: Path) -> None:
    ran = run(line)
    assert ran.code != 0
    lines = [text for text in ran.error.splitlines() if not text.startswith("warning:")]
    assert len(lines) == 1, ran.error
    assert words in lines[0]
    assert not (clinic / "r.parquet").exists()
    assert not (clinic / "s.json").exists()


def test_a_line_names_a_dozen_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 500 columns all names stood in a line, several times."""
    monkeypatch.chdir(tmp_path)
    rows = [",".join(str((i + j) % 4 or "") for j in range(40)) for i in range(100)]
    Path("t.csv").write_text(",".join(f"q{j}" for j in range(40)) + "\n" + "\n".join(rows) + "\n")
    lines = [line for line in run("schema t.csv", width=2000).out.splitlines() if line.startswith("  q0")]
    assert len(lines) == 2 and all("and 28 more: " in line and "q12" not in line for line in lines)


def test_what_many_columns_have_in_common_is_said_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A survey of 784 columns had hundreds of equal lines; and places came as 1, 10, 11, 2."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{i % 24 + 1},{[1, 2, 3, 4, -9][i % 5]},{[1, 2, 3, 4, -9][i % 5]}" for i in range(600)]
    grades = "  a, b: taken for grades or amounts. If the numbers stand for categories, say --as a=categorical"
    (tmp_path / "survey.csv").write_text("plot_id,a,b\n" + "\n".join(rows))
    shown = run("schema survey.csv --save schema.json")
    assert "  a, b: 1 number looks like a code for no answer: see missing; move it to the values if not\n" in shown.out
    assert grades in shown.out
    places = json.loads((tmp_path / "schema.json").read_text())["attributes"]["plot_id"]["values"]
    assert places == [str(place) for place in range(1, 25)]


def test_empty_cells_are_named_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [f"{i % 7},{'' if i % 4 == 0 else 'x' * (i % 3 + 1)},{'' if i == 9 else i % 5}" for i in range(400)]
    (tmp_path / "t.csv").write_text("\n".join(["grade,word,size", *lines]) + "\n")
    said = " ".join(run("schema t.csv").out.split())
    assert "word (25 %), size (under 1 %): empty cells" in said and "no answer" in said
    columns = json.loads(run("schema t.csv --json").out)["columns"]
    assert [column["empty"] for column in columns] == [0, 100, 1]


def test_a_column_that_is_not_there_is_told_from_one_that_is_near(clinic: Path) -> None:
    assert "it has 'Gewicht'" in run("schema klinik.csv --range gewichte=1:2").error
    said = " ".join(run("schema klinik.csv --range pay=1:2").error.split())
    assert "is there a header? sfumato schema FILE lists all columns" in said


def test_numbers_that_may_be_codes_are_pointed_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    codes, years = [111, 3254, 3261, 3345, 4411, 5112, 9999], [1950 + 7 * i for i in range(9)]
    codes += [1000 + 37 * i for i in range(30)]
    lines = [f"{codes[i % len(codes)]},{100 * (i % 40 + 3)},{years[i % 9]}" for i in range(2000)]
    (tmp_path / "t.csv").write_text("\n".join(["trade,pay,year", *lines]) + "\n")
    said = " ".join(run("schema t.csv", width=400).out.split())
    assert "if they are codes, say --as trade=categorical" in said and "--as pay" not in said


def test_few_numbers_with_a_name_of_codes_are_pointed_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """46 numbers of states went into bins of 5 without a word, beside numbers of counties that were asked about."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("\n".join(["statefips,pay", *(f"{i % 46},{i % 47}" for i in range(2000))]) + "\n")
    said = " ".join(run("schema t.csv", width=400).out.split())
    assert "its name speaks of codes: if they are, say --as statefips=categorical" in said and "--as pay" not in said


def test_a_listed_number_that_few_rows_hold_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of words it was said; of the numbers of police precincts, one of them in 4 rows, it was not."""
    monkeypatch.chdir(tmp_path)
    lines = [f"{0 if i < 4 else 1 + i % 5},{i % 4},{9.5 if i < 3 else 1.5 + i % 2}" for i in range(400)]
    (tmp_path / "t.csv").write_text("\n".join(["precinct,grade,dose", *lines]) + "\n")
    said = " ".join(run("schema t.csv", width=400).out.split())
    rare = "1 of its values is held by fewer than 5 rows: publishing it tells of those rows"
    assert f" precinct, dose: {rare}" in said and said.count("fewer than 5 rows") == 1


def test_numbers_that_are_asked_to_be_a_category_are_not_called_words(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("code\n" + "\n".join(str(i % 170) for i in range(3400)))
    said = run("schema t.csv --as code=categorical").out
    assert (
        "170 different numbers, the 99 commonest by name" in said or "170 different numbers, the 100 commonest" in said
    )
