"""sfumato mgas: what it says of a table that has no rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.command_line import run


def test_a_table_without_rows_is_called_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("none.csv").write_text("hours,age\n", encoding="utf-8")
    ran = run("mgas none.csv --column hours")
    assert (ran.code, ran.out) == (1, "")
    assert "the table is empty: there is nothing to group" in ran.error


def test_a_column_is_read_as_its_schema_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = ["7", "unknown", "12", "3", "900", "15", "8", "4", "11", "14", "6"]
    Path("t.csv").write_text("tenure,sex\n" + "".join(f"{row},F\n" for row in rows), encoding="utf-8")
    tenure = {
        "kind": "numeric",
        "edges": [0, 10, 20],
        "step": 1,
        "nullable": True,
        "clip": True,
        "missing": ["unknown"],
    }
    document = {"format": "sfumato schema", "version": 1, "attributes": {"tenure": tenure}}
    Path("schema.json").write_text(json.dumps(document), encoding="utf-8")
    ran = run("mgas t.csv --column tenure --min-records 3 --min-width 2 --into schema.json")
    assert ran.code == 0, ran.error
    assert "1 row without a number" in ran.error
    made = json.loads(Path("schema.json").read_text(encoding="utf-8"))["attributes"]["tenure"]
    assert made["edges"][-1] == 20, "a number beyond the limits stands at the nearest one, as when it is randomized"
    assert (made["step"], made["missing"]) == (1, ["unknown"])

    refused = run("mgas t.csv --column tenure --min-records 3 --min-width 2")
    assert refused.code == 1
    assert "column 'tenure': 1 row holds no number" in refused.error
    assert "--into" in refused.error


def test_whole_numbers_stay_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("visits\n" + "".join(f"{n}\n" for n in range(20)), encoding="utf-8")
    assert run("mgas t.csv --column visits --min-records 5 --min-width 3 --save made.json").code == 0
    made = json.loads(Path("made.json").read_text(encoding="utf-8"))["attributes"]["visits"]
    assert made["step"] == 1


def test_remarks_of_a_schema_stay_and_the_command_says_what_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("tenure,sex,note\n" + "".join(f"{i % 40},{'FM'[i % 2]},n{i}\n" for i in range(400)))
    assert run("schema t.csv --drop note --save drafted.json").code == 0
    before = json.loads(Path("drafted.json").read_text())
    ran = run("mgas t.csv --column tenure --min-records 50 --min-width 2 --into drafted.json")
    assert ran.code == 0 and "written to drafted.json" in ran.error
    after = json.loads(Path("drafted.json").read_text())
    assert after["left_out"] == before["left_out"] and after["attributes"]["sex"] == before["attributes"]["sex"]
    assert after["attributes"]["tenure"]["discloses"] != before["attributes"]["tenure"]["discloses"]
    assert run("design drafted.json --n 400 --gamma 3 --save scheme.json").code == 0
    refused = run("mgas t.csv --column tenure --min-records 50 --min-width 2 --into scheme.json")
    assert refused.code == 1 and "--into takes a schema" in refused.error
