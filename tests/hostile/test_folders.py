"""Releases in folders: nothing but a release is replaced, one process makes it, and it holds files of its own."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.command_line import run
from tests.hostile.guard import refused

import sfumato as sf
from sfumato.owner import many_files

SCHEMA = sf.Schema({"a": sf.Categorical(("1", "2")), "b": sf.Numeric(0, 9, bins=3)})


def raw_table(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"a": ["1", "2"] * 50, "b": [1.0, 2.0] * 50}), path)
    return path


def test_a_folder_of_parts_that_is_no_release_is_not_replaced(tmp_path: Path) -> None:
    """The raw table as Spark writes it has the file names of a release: it was deleted, also as the source itself."""
    scheme, source = sf.Scheme.for_gamma(SCHEMA, 3), raw_table(tmp_path / "raw.parquet")
    other = raw_table(tmp_path / "other" / "part-00000.parquet").parent
    (other / "_SUCCESS").touch()
    line = refused(lambda: sf.randomize_folder(source, other, scheme, jobs=1, overwrite=True))
    assert "would be deleted" in line and len(list(other.iterdir())) == 2
    (other / "_release.json").write_text('{"format": "something else"}')
    assert "would be deleted" in refused(lambda: sf.randomize_folder(source, other, scheme, jobs=1, overwrite=True))
    released = tmp_path / "released"
    sf.randomize_folder(source, released, scheme, jobs=1)
    mine = raw_table(released / "part-00007.parquet")
    assert "part-00007" in refused(lambda: sf.randomize_folder(source, released, scheme, jobs=1, overwrite=True))
    assert mine.exists()


@pytest.mark.parametrize(("source", "target"), [("d/part-0.parquet", "d"), ("d/e", "d"), ("d", "d/e")])
def test_source_and_target_do_not_lie_in_one_another(tmp_path: Path, source: str, target: str) -> None:
    file = raw_table(tmp_path / ("d/e/part-0.parquet" if source == "d/e" else "d/part-0.parquet"))
    (tmp_path / "link").symlink_to(tmp_path / "d")
    for one, other in ((source, target), (source.replace("d", "link", 1), target)):
        line = refused(
            lambda one=one, other=other: sf.randomize_folder(
                tmp_path / one, tmp_path / other, sf.Scheme.for_gamma(SCHEMA, 3), jobs=1, overwrite=target == "d"
            )
        )
        assert "one another" in line and file.exists()


def test_what_came_while_a_folder_was_filled_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A long run put its release in the place of whatever had come there meanwhile, also without --overwrite."""
    scheme, source, target = sf.Scheme.for_gamma(SCHEMA, 3), raw_table(tmp_path / "raw.parquet"), tmp_path / "out"
    describe = many_files.describe_folder

    def meanwhile(*given: Any) -> None:
        describe(*given)
        target.mkdir()
        (target / "thesis.txt").write_text("mine")

    monkeypatch.setattr(many_files, "describe_folder", meanwhile)
    ledger = sf.Ledger(tmp_path / "ledger.sqlite", new=True)
    assert "exists" in refused(lambda: sf.randomize_folder(source, target, scheme, jobs=1, ledger=ledger))
    assert (target / "thesis.txt").read_text() == "mine" and not ledger.entries()
    monkeypatch.undo()
    (target / "thesis.txt").unlink()
    target.rmdir()
    assert len(sf.randomize_folder(source, target, scheme, jobs=1, ledger=ledger)) == 100


def test_two_processes_do_not_make_one_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both wrote to the same drafts, each over the answers of the other."""
    scheme, source, target = sf.Scheme.for_gamma(SCHEMA, 3), raw_table(tmp_path / "raw.parquet"), tmp_path / "out"
    describe, lines = many_files.describe_folder, []

    def meanwhile(*given: Any) -> None:
        monkeypatch.undo()
        lines.append(refused(lambda: sf.randomize_folder(source, target, scheme, jobs=1)))
        describe(*given)

    monkeypatch.setattr(many_files, "describe_folder", meanwhile)
    assert len(sf.randomize_folder(source, target, scheme, jobs=1)) == 100
    assert len(lines) == 1 and "another process" in lines[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "raw.parquet"]


def test_a_release_in_a_folder_holds_files_of_its_own_once_each(tmp_path: Path) -> None:
    """A link led out of the folder, a pipe was waited for, and a part that was listed three times counted thrice."""
    scheme, source = sf.Scheme.for_gamma(SCHEMA, 3), raw_table(tmp_path / "raw.parquet")
    for name in ("link", "pipe", "thrice", "whole"):
        sf.randomize_folder(source, tmp_path / name, scheme, jobs=1)
    part = tmp_path / "link" / "part-00000.parquet"
    part.rename(tmp_path / "elsewhere.parquet")
    part.symlink_to(tmp_path / "elsewhere.parquet")
    assert "out of the folder" in refused(lambda: sf.Release.load(tmp_path / "link"))
    (tmp_path / "pipe" / "part-00000.parquet").unlink()
    os.mkfifo(tmp_path / "pipe" / "part-00000.parquet")
    assert "Parquet" in refused(lambda: sf.Release.load(tmp_path / "pipe"))
    about = json.loads((tmp_path / "thrice" / "_release.json").read_text())
    about["parts"] *= 3
    (tmp_path / "thrice" / "_release.json").write_text(json.dumps(about))
    assert "folder of its own" in refused(lambda: sf.Release.load(tmp_path / "thrice"))
    assert len(sf.Release.load(tmp_path / "whole")) == 100


@pytest.mark.parametrize("place", ["x" * 300, "\ud800" * 100, "a\0b", "..", "/tmp", "no/such"])
def test_a_part_whose_folder_cannot_be_is_one_line(tmp_path: Path, place: str) -> None:
    """A name too long for the system ended in a traceback."""
    sf.randomize_folder(raw_table(tmp_path / "raw.parquet"), tmp_path / "out", sf.Scheme.for_gamma(SCHEMA, 3), jobs=1)
    about = json.loads((tmp_path / "out" / "_release.json").read_text())
    about["parts"][0]["folder"] = place
    (tmp_path / "out" / "_release.json").write_text(json.dumps(about))
    refused(lambda: sf.Release.load(tmp_path / "out"))


def test_a_page_that_is_no_gallery_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("mine")
    ran = run(f"reproduce ma06_fig2_2 --fast --jobs 1 --out {tmp_path}")
    assert ran.code == 1 and "choose another --out" in ran.error
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]
