"""sfumato randomize into a folder, and what the other commands make of it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from command_line import run

SCHEMA = sf.Schema({"sex": sf.Categorical(("F", "M")), "ill": sf.Categorical(("no", "yes"))})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    (tmp_path / "raw").mkdir()
    for piece in range(2):
        table = pd.DataFrame({"sex": rng.choice(["F", "M"], 800), "ill": rng.choice(["no", "yes"], 800)})
        table.to_parquet(tmp_path / "raw" / f"part-{piece}.parquet", index=False)
    (tmp_path / "scheme.json").write_text(sf.Scheme.for_gamma(SCHEMA, 9).to_json())
    return tmp_path


def test_a_folder_goes_all_the_way(folder: Path) -> None:
    made = run(f"randomize {folder}/raw {folder}/out --scheme {folder}/scheme.json --jobs 1")
    assert made.code == 0 and "1,600 records randomized" in made.out, made
    about = json.loads((folder / "out" / "_release.json").read_text())
    assert [part["rows"] for part in about["parts"]] == [1600]
    for line in ("estimate {} --columns sex,ill", "inspect {}", "learn naive-bayes {} --target ill"):
        ran = run(line.format(folder / "out"))
        assert ran.code == 0, ran
    again = run(f"randomize {folder}/raw {folder}/out --scheme {folder}/scheme.json")
    assert again.code == 1 and "already exists" in again.error
    in_one = run(f"randomize {folder}/raw {folder}/one.parquet --scheme {folder}/scheme.json")
    assert in_one.code == 0 and len(sf.Release.load(folder / "one.parquet")) == 1600


def test_files_that_are_not_those_of_the_description_are_named(folder: Path) -> None:
    assert run(f"randomize {folder}/raw {folder}/out --scheme {folder}/scheme.json --jobs 1").code == 0
    (file,) = (folder / "out").glob("*.parquet")
    other = file.with_name("part-00009.parquet")
    other.write_bytes(file.read_bytes())
    assert "part-00009.parquet is not in _release.json" in run(f"inspect {folder}/out").error
    other.unlink()
    file.write_bytes((folder / "raw" / "part-0.parquet").read_bytes())
    assert "is not the file that _release.json describes" in run(f"inspect {folder}/out").error
    file.rename(other)
    assert "part-00000.parquet is missing" in run(f"inspect {folder}/out").error
    (folder / "out" / "_release.json").unlink()
    assert "_release.json is missing in the folder" in run(f"inspect {folder}/out").error


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("out --engine spark://127.0.0.1:1", "the master cannot be reached"),
        ("out --engine nowhere", "a Spark is named local"),
        ("out --order keep", "is shuffled and secure"),
        ("out.parquet --jobs 2", "--jobs is for a release in a folder"),
        ("out.txt", "must end in one of"),
    ],
)
def test_bad_requests_are_one_line(folder: Path, options: str, line: str) -> None:
    ran = run(f"randomize {folder}/raw {folder}/{options} --scheme {folder}/scheme.json")
    assert ran.code in (1, 2) and line in ran.error and "Traceback" not in ran.error, ran
    assert not (folder / "out").exists()
