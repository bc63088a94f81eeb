"""Releases into folders that are interrupted, damaged or overtaken: every record leaves once, and is booked once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.hostile.guard import refused

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import SfumatoWarning
from sfumato.owner import many_files
from sfumato.writing import whole_folders

SCHEME = sf.Scheme(sf.Schema({"a": sf.Categorical(("1", "2"))}), {"a": c.binary(0.25, 0.25)})
N = 400


class Killed(BaseException):
    """What stands for the end of the process."""


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_files, "ROWS_IN_A_UNIT", N // 4)
    monkeypatch.setattr(many_files, "ROWS_IN_A_PART", N // 4)


def write(path: Path, first: str = "p", value: str = "1") -> Path:
    rows = pa.table({"id": [f"{first}{i}" for i in range(N)], "a": [value] * N, "n": [float(i) for i in range(N)]})
    pq.write_table(rows, path, row_group_size=N // 4)
    return path


def killed(patch: pytest.MonkeyPatch, name: str, when: Callable[[Any, Any], bool], run: Callable[[], Any]) -> None:
    """Run until a function of ``many_files`` was called for which ``when`` holds, of its arguments and its answer."""
    original = getattr(many_files, name)

    def until(*given: Any) -> Any:
        out = original(*given)
        if when(given, out):
            raise Killed
        return out

    with patch.context() as patched, pytest.raises(Killed):
        patched.setattr(many_files, name, until)
        run()


@pytest.mark.parametrize("id", [None, "id"])
def test_what_was_booked_and_did_not_leave_is_not_booked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, id: str | None
) -> None:
    """Killed between booking and moving, the same command was refused, although nothing had left."""
    source, ledger = write(tmp_path / "raw.parquet"), sf.Ledger(tmp_path / "ledger.sqlite", new=True)

    def run(**how: Any) -> sf.Release:
        return sf.randomize_folder(source, tmp_path / "out", SCHEME, id=id, jobs=1, ledger=ledger, **how)

    def end(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(many_files, "take_place", end)
        run()
    assert len(ledger.entries()) == 1 and not (tmp_path / "out").exists()
    drawn = next(tmp_path.glob(".out.unfinished/drawn-*.arrows"))
    kept = drawn.read_bytes()
    drawn.write_bytes(kept[:-8] + bytes(8))  # other answers than those that were booked are others
    assert "already released" in refused(run)
    drawn.write_bytes(kept)
    # the piece that was drawn anew is noted with its own digest, and is drawn once more
    assert "already released" in refused(run)
    assert len(run(again=True)) == N and len(ledger.entries()) == 2


def test_the_same_answers_leave_after_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, ledger = write(tmp_path / "raw.parquet"), sf.Ledger(tmp_path / "ledger.sqlite", new=True)
    run = lambda: sf.randomize_folder(source, tmp_path / "out", SCHEME, jobs=1, ledger=ledger)  # noqa: E731

    def end(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched, pytest.raises(Killed):
        patched.setattr(many_files, "take_place", end)
        run()
    assert len(run()) == N and len(ledger.entries()) == 1
    (tmp_path / "out").rename(tmp_path / "elsewhere")
    assert "already released" in refused(run)  # these are gone from the folder of the work, and would be drawn anew
    assert not list(tmp_path.glob(".out*"))


def test_answers_that_happen_to_be_equal_are_booked_each_time(tmp_path: Path) -> None:
    """A second draw for one person was taken for the first, and left unbooked, as often as both were equal."""
    source, link_key = tmp_path / "raw.parquet", sf.new_link_key()
    pq.write_table(pa.table({"id": ["p"], "a": ["1"]}), source)
    scheme = sf.Scheme(SCHEME.schema, {"a": c.binary(0.001, 0.001)})
    ledger = sf.Ledger(tmp_path / "ledger.sqlite", new=True)

    def run(name: str, **how: Any) -> sf.Release:
        return sf.randomize_folder(source, tmp_path / name, scheme, None, "id", link_key, ledger=ledger, **how)

    run("first")
    assert "already released" in refused(lambda: run("second"))
    assert run("third", again=True) and len(ledger.entries()) == 2


def test_a_table_that_changes_while_it_is_read_is_not_released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others were answered than those who were booked: their next release was taken for their first."""
    source, ledger = write(tmp_path / "raw.parquet"), sf.Ledger(tmp_path / "ledger.sqlite", new=True)
    carried_out = many_files._carried_out

    def meanwhile(*given: Any) -> Any:
        write(source, "q", "2")
        return carried_out(*given)

    monkeypatch.setattr(many_files, "_carried_out", meanwhile)
    line = refused(lambda: sf.randomize_folder(source, tmp_path / "out", SCHEME, id="id", jobs=1, ledger=ledger))
    assert "was changed while it was read" in line and not ledger.entries() and not (tmp_path / "out").exists()


def test_every_record_leaves_once_whatever_is_drawn_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files gathered before a damaged piece was drawn anew were kept: some records left twice, others never."""
    source = write(tmp_path / "raw.parquet")
    in_the_clear = sf.Scheme.identity(sf.Schema({"n": sf.Numeric(0, N, bins=N)}))
    run = lambda: sf.randomize_folder(source, tmp_path / "out", in_the_clear, jobs=1)  # noqa: E731
    killed(monkeypatch, "gather_bucket", lambda given, _: given[2] == 2, run)
    drawn = tmp_path / ".out.unfinished" / "drawn-000001.arrows"
    drawn.write_bytes(drawn.read_bytes()[:-8] + bytes(8))
    killed(monkeypatch, "answer_unit", lambda given, _: given[1].number == 1, run)
    assert sorted(run().arrow().column("n").to_pylist()) == list(range(N))


def test_what_was_moved_before_an_interrupt_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write(tmp_path / "raw.parquet")
    scheme = sf.Scheme.for_gamma(sf.Schema({"n": sf.Numeric(0, N - 11, bins=4, clip=True)}), 3)
    run = lambda: sf.randomize_folder(source, tmp_path / "out", scheme, jobs=1)  # noqa: E731
    killed(monkeypatch, "answer_unit", lambda given, _: given[1].number == 3, run)
    with pytest.warns(SfumatoWarning, match="10"):
        run()


def test_what_was_there_comes_back_where_the_new_release_cannot_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = write(tmp_path / "raw.parquet"), tmp_path / "out"
    sf.randomize_folder(source, target, SCHEME, jobs=1)
    before = sorted(path.name for path in target.iterdir())
    rename = Path.rename

    def fails(self: Path, other: Path) -> Path:
        if self.name.endswith(".part") and other == target:
            monkeypatch.undo()
            raise OSError(5, "Input/output error")
        return rename(self, other)

    monkeypatch.setattr(whole_folders, "_exchanged", lambda one, other: False)
    monkeypatch.setattr(whole_folders.Path, "rename", fails)
    assert "cannot be written" in refused(lambda: sf.randomize_folder(source, target, SCHEME, jobs=1, overwrite=True))
    assert sorted(path.name for path in target.iterdir()) == before


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere two folders do not change places in one step")
def test_whoever_looks_finds_one_release_or_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed between two renames, ``overwrite`` left no release under the name: the old one lay hidden beside it."""
    source, target = write(tmp_path / "raw.parquet"), tmp_path / "out"
    sf.randomize_folder(source, target, SCHEME, jobs=1)
    rename, missing = Path.rename, []

    def watched(self: Path, other: Path) -> Path:
        out = rename(self, other)
        missing.append(not target.exists())
        return out

    monkeypatch.setattr(whole_folders.Path, "rename", watched)
    write(source, value="2")
    assert len(sf.randomize_folder(source, target, SCHEME, jobs=1, overwrite=True)) == N
    assert missing and not any(missing)
    assert not list(tmp_path.glob(".out*"))


def test_a_folder_is_on_the_disk_before_it_takes_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, synced, fsync = write(tmp_path / "raw.parquet"), set(), os.fsync

    def watched(handle: int) -> None:
        synced.add(os.fstat(handle).st_ino)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", watched)
    sf.randomize_folder(source, tmp_path / "out", SCHEME, jobs=1)
    there = {path.stat().st_ino for path in [tmp_path, tmp_path / "out", *(tmp_path / "out").rglob("*")]}
    assert len(there) > 3 and there <= synced


def test_a_link_to_a_release_is_not_replaced(tmp_path: Path) -> None:
    """The link changed places with the new release, and stayed beside it under a hidden name."""
    source, target = write(tmp_path / "raw.parquet"), tmp_path / "out"
    sf.randomize_folder(source, tmp_path / "old", SCHEME, jobs=1)
    target.symlink_to(tmp_path / "old")
    assert "is a link" in refused(lambda: sf.randomize_folder(source, target, SCHEME, jobs=1, overwrite=True))
    assert target.is_symlink() and not list(tmp_path.glob(".out*"))


def test_work_does_not_go_on_in_a_folder_that_somebody_else_made(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / ".out.unfinished").symlink_to(tmp_path / "theirs")
    source = write(tmp_path / "raw.parquet")
    assert "is a link" in refused(lambda: sf.randomize_folder(source, tmp_path / "out", SCHEME, jobs=1))
    assert not list((tmp_path / "theirs").iterdir())


_PARENT = """
import os, time
from multiprocessing import get_context
from sfumato.owner.worker_processes import _end_with_parent

if __name__ == "__main__":
    child = get_context("spawn").Process(target=_end_with_parent)
    child.start()
    print(child.pid, flush=True)
    time.sleep(0.2)
    os._exit(9)
"""


def test_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    """They waited for ever, with the owner's key, and finished a piece where another run was at work already."""
    (tmp_path / "parent.py").write_text(_PARENT)
    ran = subprocess.run([sys.executable, tmp_path / "parent.py"], stdout=subprocess.PIPE, check=False)
    child = int(ran.stdout)
    for _ in range(300):
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError("the process still runs")
