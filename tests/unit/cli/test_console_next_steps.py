"""What a newcomer meets on the way from a table to a report: the next step is named, and lines fit the terminal."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console
from tests.command_line import Ran, run

import sfumato as sf
from sfumato.cli import console


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    lines = [f"{i:05d},{20 + i % 60},{'FM'[i % 2]},{i % 17 + (1000 if i == 7 else 0)}.5\n" for i in range(300)]
    (tmp_path / "clinic.csv").write_text('patient,age,sex,"dose (mg), daily"\n' + "".join(lines))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_step_names_the_next(folder: Path) -> None:
    assert "--save schema.json" in run("schema clinic.csv").error
    assert "sfumato design schema.json --n 300" in run("schema clinic.csv --save schema.json").error
    designed = run("design schema.json --n 300 --gamma 3 --save scheme.json")
    assert "sfumato assess scheme.json --n 300" in designed.error
    for command in ("assess schema.json", "audit schema.json", "inspect schema.json", "attack bayes schema.json"):
        refused = run(command)
        assert refused.code == 1
        assert "schema.json: this is a schema" in refused.error
        assert "sfumato design schema.json" in refused.error
    assert "sfumato schema drafts one" in run("randomize clinic.csv out.parquet --gamma 3").error
    assert "--gamma 3, --record-gamma 9, --joint-gamma 20" in run("design schema.json --n 300").error


def test_a_hint_can_be_pasted(folder: Path) -> None:
    shown = run("schema clinic.csv").out
    assert "--range 'dose (mg), daily=LOW:HIGH'" not in shown, "a comma would cut the name in two"
    assert """--range '"dose (mg), daily"=LOW:HIGH'""" in shown
    run("""schema clinic.csv --range '"dose (mg), daily"=0:20' --range age=18:100 --save schema.json""")
    document = json.loads((folder / "schema.json").read_text())["attributes"]
    assert document["dose (mg), daily"]["edges"][-1] == 20.5, "20 lies within: the last of steps of a half"
    assert document["age"]["edges"][:3] == [18, 20, 25], "round ages"


def test_a_schema_is_short_enough_to_edit(folder: Path) -> None:
    run("schema clinic.csv --save schema.json")
    text = (folder / "schema.json").read_text()
    assert '"values": ["F", "M"]' in text
    assert "20, 25, 30" in text
    assert sf.Schema.from_json(text)["age"].size > 5


def test_output_fits_eighty_columns(folder: Path) -> None:
    run("schema clinic.csv --save schema.json --range age=18:100")
    for command in ("design schema.json --n 300 --gamma 3 --save scheme.json", "assess scheme.json --n 300"):
        assert max(map(len, run(command, width=80).out.splitlines())) <= 80
    run("randomize clinic.csv release.parquet --scheme scheme.json --id patient")
    rows = run("inspect release.parquet --rows 7", width=80).out
    assert max(map(len, rows.splitlines())) <= 80
    assert rows.count("…") == 7, "every record that was asked for, its pseudonym shortened"


def test_sentences_break_between_words_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "  one: " + "word " * 40
    for terminal, lines in ((True, 6), (False, 1)):
        out = io.StringIO()
        monkeypatch.setattr(console, "_out", Console(file=out, width=40, force_terminal=terminal))
        console.say(text.strip() if not terminal else text.rstrip())
        shown = out.getvalue().splitlines()
        assert len(shown) == lines
        assert all(len(line) <= 40 for line in shown) is terminal


def test_values_outside_are_told_where_they_may_go(folder: Path) -> None:
    schema = sf.Schema({"age": sf.Numeric(0, 50, bins=5)})
    (folder / "scheme.json").write_text(sf.Scheme.for_gamma(schema, 3).to_json())
    assert '"clip" sends them to the nearest end' in run("randomize clinic.csv out.parquet --scheme scheme.json").error
    (folder / "gaps.csv").write_text("age\n3\n\n4\n")
    refused = run("randomize gaps.csv out.parquet --scheme scheme.json").error
    assert "--nullable" not in refused, "there is no such option"


def test_no_answer_has_a_name_everywhere(folder: Path) -> None:
    table = {"pain": ["no", "yes", None, None] * 100, "sex": ["F", "M"] * 200}
    schema = sf.Schema({"pain": sf.Categorical(("no", "yes"), nullable=True), "sex": sf.Categorical(("F", "M"))})
    for name in ("north.parquet", "south.parquet"):
        sf.randomize(table, sf.Scheme.for_gamma(schema, 9)).save(name)
    assert "no answer" in run("estimate north.parquet --columns pain").out
    held = run("estimate north.parquet --columns sex --where 'pain=no answer'")
    assert "of records with pain = no answer" in held.out
    assert "it has no, yes, no answer" in run("estimate north.parquet --columns sex --where pain=maybe").error
    assert run("estimate north.parquet --columns sex --where pain=").out == held.out
    run("concat north.parquet south.parquet -o both.parquet")
    shown = run("inspect both.parquet").out
    assert "800 records in 2 parts of 400, 400" in shown
    assert shown.count("gamma of a whole record") == 1, "one table for parts that are made alike"


def test_estimates_at_the_rim_are_zero(folder: Path) -> None:
    schema = sf.Schema({"town": sf.Categorical(tuple("abcdefghij"))})
    sf.randomize({"town": ["a"] * 400}, sf.Scheme.for_gamma(schema, 3)).save("towns.parquet")
    assert "e-" not in run("estimate towns.parquet --columns town").out


def test_resampling_points_out_identifiers_and_all_words(folder: Path) -> None:
    refused = run("resample clinic.csv --target age")
    assert "(--drop sex)" in refused.error
    assert "column 'patient' looks like an identifier" in refused.error
    assert "looks like" not in run("resample clinic.csv --target age --drop patient").error


def test_a_join_names_the_id_column_there_is(folder: Path) -> None:
    schema = sf.Schema({"sex": sf.Categorical(("F", "M"))})
    (folder / "scheme.json").write_text(sf.Scheme.for_gamma(schema, 3).to_json())
    for name in ("one", "two"):
        run(f"randomize clinic.csv {name}.parquet --scheme scheme.json --id patient --link-key-file link.key")
    assert "its id column is 'patient'" in run("join one.parquet two.parquet --on Nr -o both.parquet").error


def test_a_refused_release_leaves_no_keys_behind(folder: Path) -> None:
    schema = sf.Schema({"sex": sf.Categorical(("F", "M"))})
    (folder / "scheme.json").write_text(sf.Scheme.for_gamma(schema, 3).to_json())

    def release(name: str, more: str = "") -> Ran:
        keyed = "--id patient --key-file secret.key --link-key-file link.key --ledger l.sqlite"
        return run(f"randomize clinic.csv {name}.parquet --scheme scheme.json {keyed} {more}")

    refused = release("a")
    assert refused.code == 1 and "--new-ledger" in refused.error
    assert not Path("secret.key").exists() and not Path("link.key").exists() and "a new" not in refused.error
    made = release("a", "--new-ledger")
    assert made.code == 0 and made.error.count("a new") == 2 and Path("link.key").exists()
    before = Path("secret.key").read_bytes()
    assert release("a").code == 1 and Path("secret.key").read_bytes() == before, "keys that were there stay"


def test_numbers_are_never_broken_and_names_only_for_want_of_room(monkeypatch: pytest.MonkeyPatch) -> None:
    for width, whole in ((80, True), (52, False)):
        shown = io.StringIO()
        monkeypatch.setattr(console, "_out", Console(file=shown, width=width))
        row = ["type=chicken + price=[20, 22) => size=L", 0.28031, 0.27721, 0.98543, 0.95274]
        console.table(["rule", "support", "support low", "confidence", "low"], [row])
        for number in ("0.2803", "0.2772", "0.9854", "0.9527"):
            assert number in shown.getvalue()
        assert ("type=chicken + price=[20 to 22) => size=L" in shown.getvalue()) == whole


def test_a_table_that_is_too_wide_becomes_two_and_no_number_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(console, "_out", Console(file=shown, width=80))
    classes = ["corporate", "direct", "groups", "offline_travel_agent", "online_travel_agent"]
    heads = ["value", *(head for name in classes for head in (f"if {name}", "±"))]
    console.table(heads, [["adults = 1", *(1.2345 + i / 1000 for i in range(10))]])
    words = shown.getvalue().split()
    assert all(console.number(1.2345 + i / 1000) in words for i in range(10))
    assert words.count("value") >= 2 and words.count("±") == 5
    assert all(not line.split() or line.split()[0] != "±" for line in shown.getvalue().splitlines())
    assert max(map(len, shown.getvalue().splitlines())) <= 80


def test_rows_of_a_divided_table_are_numbered_where_its_first_column_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(console, "_out", Console(file=shown, width=80))
    heads = ["open.skull.fracture", "clinically.important.brain.injury", "basal.skull.fracture", "share", "low", "high"]
    rows = [[a, b, c, 0.125 + a / 2 + b / 4 + c / 8, 0.0, 1.0] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    console.table(heads, rows)
    lines = [line.split() for line in shown.getvalue().splitlines() if line.strip()]
    for place, (*_, share, _low, _high) in enumerate(rows, 1):
        assert any(line[0] == str(place) and console.number(share) in line for line in lines), (
            "one can tell whose it is"
        )


def test_no_name_of_a_rule_is_broken_in_two(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(console, "_out", Console(file=shown, width=80))
    heads = ["rule", "support", "support low", "confidence", "low", "high", "lift", "lift low"]
    names = ["MaritalStatusOfParents=divorced", "EducationOfMother=secondary"]
    console.table(heads, [[" => ".join(names), 0.36512, 0.35121, 0.98932, 0.98721, 0.99121, 1.09631, 1.08832]])
    words = shown.getvalue().split()
    assert all(name in words for name in names) and {"0.3651", "0.9912", "1.088"} <= set(words)
    assert max(map(len, shown.getvalue().splitlines())) <= 80
