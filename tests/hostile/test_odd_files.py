"""Odd tables and odd targets on the command line: one line, an honest exit code, and nothing in their place."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.command_line import run
from tests.hostile.guard import refused

import sfumato as sf
from sfumato.errors import show_values
from sfumato.owner.discretize import mgas

SCHEMA = sf.Schema({"a": sf.Categorical(("1", "2")), "b": sf.Numeric(0, 9, bins=3)})
TABLES = {
    "ages.parquet": pa.table({"a": pa.array([-(2**62), 2**62], pa.timestamp("us")), "b": [1, 2]}),
    "wide.parquet": pa.table({"a": pa.array([2**64 - 1, 1], pa.uint64()), "b": [1, 2]}),
    "bare.parquet": pa.table({}),
    "twice.parquet": pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]),
    "clock.parquet": pa.table({"a": pa.array([1, 2], pa.time32("s")), "b": [1, 2]}),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, table in TABLES.items():
        pq.write_table(table, name)
    Path("empty.csv").write_text("a,b\n")
    Path("raw.csv").write_text("a,b\n1,2\n2,3\n")
    Path("scheme.json").write_text(sf.Scheme.for_gamma(SCHEMA, 3).to_json())
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        *(f"schema {name}" for name in TABLES),
        *(f"randomize {name} out.parquet --scheme scheme.json" for name in TABLES),
        *(f"randomize {name} out.parquet --gamma 3" for name in TABLES),
        *(f"resample {name} --out out.parquet --bandwidth 1" for name in [*TABLES, "empty.csv"]),
        *(f"attack spectral {name} --noise 1" for name in [*TABLES, "empty.csv"]),
        "attack linkage raw.csv --truth raw.csv --own zz",
        "attack linkage clock.parquet --truth clock.parquet --own a",
        "randomize raw.csv '' --scheme scheme.json",
    ],
)
def test_odd_tables_are_taken_or_refused_in_one_line(folder: Path, line: str) -> None:
    ran = run(line)
    assert ran.code in (0, 1), ran
    assert "should not happen" not in ran.error and "Traceback" not in ran.error


def test_a_link_that_leads_back_to_itself_is_one_line(folder: Path) -> None:
    Path("loop").symlink_to("loop")
    for line in (
        "inspect loop",
        "schema loop",
        "randomize raw.csv loop --scheme scheme.json --overwrite",
        "randomize raw.csv out.parquet --scheme scheme.json --id b --key-file loop",
        "randomize raw.csv out.parquet --scheme scheme.json --ledger loop",
    ):
        ran = run(line)
        assert ran.code == 1 and "a link that leads back to itself" in ran.error


def test_a_pipe_is_not_replaced_by_a_release(folder: Path) -> None:
    os.mkfifo("pipe.parquet")
    ran = run("randomize raw.csv pipe.parquet --scheme scheme.json --overwrite")
    assert ran.code == 1 and "is not replaced" in ran.error
    assert stat.S_ISFIFO(Path("pipe.parquet").stat().st_mode)


def test_the_schema_that_is_read_is_not_written_over(folder: Path) -> None:
    Path("out.csv.json").write_text(SCHEMA.to_json())
    ran = run("randomize raw.csv out.csv --schema out.csv.json --gamma 3 --overwrite")
    assert ran.code == 1 and "are the same file" in ran.error
    assert sf.Schema.from_json(Path("out.csv.json").read_text()) == SCHEMA


def test_the_range_of_raw_numbers_is_not_told() -> None:
    ages = [47.11, 50.0, 52.61]
    assert "5.5" not in refused(lambda: mgas(ages, min_records=1, min_width=100))
    with show_values():
        assert "5.5" in refused(lambda: mgas(ages, min_records=1, min_width=100))


def test_counts_of_more_records_than_64_bits_add_up_to_are_one_line(tmp_path) -> None:
    scheme = sf.Scheme.for_gamma(sf.Schema({"a": sf.Categorical(("n", "y"))}), 3)
    part = {"scheme": scheme.to_dict(), "records": 2**62, "tables": [{"columns": ["a"], "counts": [2**62, 0]}]}
    document = {"format": "sfumato counts", "version": 1, "parts": [part] * 4}
    (tmp_path / "c.json").write_text(json.dumps(document))
    assert "records" in refused(lambda: len(sf.Release.load(tmp_path / "c.json")))


def test_a_folder_with_anything_else_in_it_is_not_replaced(tmp_path: Path) -> None:
    """--overwrite with the folder of the raw table as the target deleted that folder, with all that was in it."""
    data = tmp_path / "data"
    data.mkdir()
    pq.write_table(pa.table({"a": ["1", "2"] * 50, "b": [1.0, 2.0] * 50}), data / "raw.parquet")
    (tmp_path / "scheme.json").write_text(sf.Scheme.for_gamma(SCHEMA, 3).to_json())
    line = f"randomize {data / 'raw.parquet'} {{}} --scheme {tmp_path / 'scheme.json'} --jobs 1 --overwrite"
    ran = run(line.format(data))
    assert ran.code == 1 and "one another" in ran.error
    assert [path.name for path in data.iterdir()] == ["raw.parquet"]
    for _ in range(2):  # a release is replaced
        assert run(line.format(tmp_path / "released")).code == 0
    assert len(sf.Release.load(tmp_path / "released")) == 100
    (tmp_path / "released" / "notes.txt").write_text("mine")
    assert run(line.format(tmp_path / "released")).code == 1


def test_a_release_in_a_folder_looks_nowhere_else(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": ["1", "2"] * 50, "b": [1.0, 2.0] * 50}), tmp_path / "raw.parquet")
    sf.randomize_folder(tmp_path / "raw.parquet", tmp_path / "released", sf.Scheme.for_gamma(SCHEMA, 3), jobs=1)
    about = json.loads((tmp_path / "released" / "_release.json").read_text())
    for place in ("..", "../..", "/", "a/b", "../released"):
        about["parts"][0]["folder"] = place
        (tmp_path / "released" / "_release.json").write_text(json.dumps(about))
        assert "folder" in refused(lambda: sf.Release.load(tmp_path / "released"))
