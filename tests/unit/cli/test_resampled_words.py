"""A table of sfumato resample is recognised for what it is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.command_line import run

import sfumato as sf


@pytest.fixture(params=["new.parquet", "new.csv"])
def name(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    y = np.repeat(["a", "b"], [60, 30])
    table = pd.DataFrame({"x": np.random.default_rng(0).normal(size=90), "z": np.linspace(0, 1, 90), "y": y})
    sf.resample(table, "y", epsilon=1, ranges=(-5, 5)).save(request.param)
    return str(request.param)


def test_inspect_shows_how_it_was_made(name: str) -> None:
    said = run(f"inspect {name} --rows 3").out
    assert "new rows in place of records: noisy normal model" in said
    assert "columns: x, z, y (the label)" in said
    assert "proved: no attack on any record has an AUC above 0.588" in said
    assert "read them with any tool" in said
    told = json.loads(run(f"inspect {name} --json").out)
    assert told["columns"] == ["x", "z", "y"] and told["proved"]["epsilon"] == 1
    assert "they went through no channel" in run(f"inspect {name} --fit").error


@pytest.mark.parametrize("name", ["many.parquet", "many.csv"])
def test_rows_of_a_class_have_their_thousands_marked(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = pd.DataFrame({"x": np.linspace(0, 1, 3000), "y": np.repeat([2010, 2020], 1500)})
    sf.resample(table, "y", epsilon=1, ranges=(0, 1)).save(name)
    said = run(f"inspect {name}").out
    rows = [line.split() for line in said.splitlines() if line.lstrip().startswith(("2010 ", "2020 "))]
    assert sum(int(count.replace(",", "")) for _, count in rows) > 2000 and all("," in count for _, count in rows)


def test_other_commands_say_that_it_is_read_as_it_is(name: str) -> None:
    for command in (f"estimate {name} --mean x", f"learn tree {name} --target y", f"export {name} out.csv"):
        said = run(command)
        assert said.code == 1
        assert "is no release but a table of new rows, written by sfumato resample" in said.error


@pytest.mark.parametrize("name", ["new.csv"], indirect=True)  # a Parquet file carries its description inside
def test_a_damaged_description_is_one_line(name: str, tmp_path: Path) -> None:
    beside = tmp_path / f"{name}.json"
    about = json.loads(beside.read_text())
    beside.write_text(json.dumps({**about, "proportions": 7}))
    assert "the description of the table is damaged" in run(f"inspect {name}").error
    (tmp_path / name).write_text("x,z,y\n1,2,a\n")
    assert "its content differs" in run(f"inspect {name}").error
