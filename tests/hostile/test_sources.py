"""Sources that misbehave: shared random bits, one file for two purposes, files that change, parts left behind."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv
from tests.command_line import run

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import ReleaseError, SchemaError
from sfumato.randomness import SecureSource
from sfumato.reading import tables
from sfumato.writing import whole_files

SCHEMA = sf.Schema({"a": sf.Categorical((0, 1)), "b": sf.Categorical((0, 1))})
SCHEME = sf.Scheme(SCHEMA, {name: c.binary(0.25, 0.25) for name in "ab"})
TABLE = {"id": np.arange(4000), "a": np.arange(4000) % 2, "b": np.arange(4000) % 2}


def drawn(source: SecureSource, n: int = 64) -> bytes:
    out = np.empty(n, dtype=np.uint8)
    source.fill(out)
    return out.tobytes()


def test_forked_processes_do_not_repeat_each_others_bits() -> None:
    source = SecureSource()
    drawn(source)
    context = multiprocessing.get_context("fork")
    results = context.SimpleQueue()
    workers = [context.Process(target=lambda: results.put(drawn(source))) for _ in range(2)]
    for worker in workers:
        worker.start()
    found = {results.get() for _ in workers} | {drawn(source)}
    for worker in workers:
        worker.join()
    assert len(found) == 3


def test_threads_share_a_source() -> None:
    source, problems, found = SecureSource(), [], set()

    def work() -> None:
        try:
            for _ in range(20):
                found.add(drawn(source, 1 << 19)[:32])
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(found) == 80


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table(TABLE), "raw.parquet", row_group_size=500)
    Path("scheme.json").write_text(SCHEME.to_json())
    Path("scheme.csv").write_text(SCHEME.to_json())
    return tmp_path


def test_the_source_is_never_the_target(folder: Path) -> None:
    before = Path("raw.parquet").read_bytes()
    Path("link.parquet").symlink_to("raw.parquet")
    os.link("raw.parquet", "hard.parquet")
    for target in ("raw.parquet", "./raw.parquet", "link.parquet", "hard.parquet"):
        with pytest.raises(ReleaseError, match="the source and the target are the same file"):
            sf.randomize_file("raw.parquet", target, SCHEME, overwrite=True)
    assert Path("raw.parquet").read_bytes() == before
    Path("raw.csv").write_text("".join(f"{line};1\n" for line in ("a", *[0] * 20)))
    with pytest.raises(ReleaseError, match="the source and the target are the same file"):
        sf.randomize_file(sf.CsvFile("raw.csv", delimiter=";"), "raw.csv", SCHEME, overwrite=True)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("raw.parquet --scheme scheme.json", "the source and the target are the same file"),
        ("out.parquet --gamma 3 --save-scheme raw.parquet", "choose another name for --save-scheme"),
        ("out.parquet --gamma 3 --save-scheme out.parquet", "choose another name for --save-scheme"),
        ("out.csv --gamma 3 --save-scheme out.csv.json", "the target's description and --save-scheme are the same"),
        ("out.parquet --scheme scheme.json --ledger raw.parquet", "the source and --ledger are the same file"),
        ("scheme.csv --scheme scheme.csv", "--scheme and the target are the same file"),
        (
            "out.parquet --scheme scheme.json --id id --key-file k --link-key-file k",
            "--key-file and --link-key-file are",
        ),
        (
            "out.parquet --scheme scheme.json --id id --key-file out.parquet",
            "--key-file and the target are the same file",
        ),
    ],
)
def test_one_file_for_two_purposes_is_refused(folder: Path, options: str, line: str) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    ran = run(f"randomize raw.parquet {options} --overwrite")
    assert ran.code == 1
    assert line in ran.error
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def _append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"0,0,1\n")


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 3)


def _replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


@pytest.mark.parametrize("damage", [_append, _cut, _replace], ids=["grown", "cut short", "replaced"])
@pytest.mark.parametrize("name", ["raw.csv", "raw.parquet"])
def test_a_source_that_changes_while_it_is_read_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, damage: object
) -> None:
    monkeypatch.setattr(tables, "BATCH", 500)
    table = pa.table(TABLE)
    if name == "raw.csv":
        csv.write_csv(table, name)
    done: list[int] = []

    def midway(rows: int) -> None:
        if not done:
            damage(Path(name))
        done.append(rows)

    with pytest.raises(SchemaError, match="changed while it was read|cannot be read|cut short"):
        sf.randomize_file(name, "out.parquet", SCHEME, progress=midway)
    assert not Path("out.parquet").exists()


def test_a_source_that_is_whole_is_read(folder: Path) -> None:
    assert len(sf.randomize_file("raw.parquet", "out.parquet", SCHEME)) == 4000


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_release_that_was_replaced_after_loading_is_noticed(folder: Path, name: str) -> None:
    """The same names under other channels: counted with the old scheme, every estimate would be wrong."""
    sf.randomize_file(TABLE, name, SCHEME)
    loaded = sf.Release.load(name)
    assert sf.evidence(loaded).counts("a").n == 4000
    other = sf.Scheme(SCHEMA, {name: c.binary(0.4, 0.4) for name in "ab"})
    sf.randomize_file(TABLE, name, other, overwrite=True)
    for use in (lambda: loaded.arrow(), lambda: len(loaded), lambda: sf.evidence(loaded).counts("b")):
        with pytest.raises(ReleaseError, match=f"{name} was replaced or changed after it was loaded: load it again"):
            use()
    assert sf.evidence(sf.Release.load(name)).counts("b").n == 4000


def test_parts_left_behind_are_swept_and_others_are_not(folder: Path) -> None:
    gone = multiprocessing.get_context("fork").Process(target=int)
    gone.start()
    gone.join()
    here, code = whole_files._MACHINE, "0123456789ab"
    stale = [
        f".out.parquet.{here}-{gone.pid}-{code}.part",
        f".out.parquet.{code}.part",
        f".out.parquet.deadbeef-1-{code}.part",
    ]
    kept = [
        f".out.parquet.{here}-{os.getpid()}-{code}.part",  # its process lives
        f".out.parquet.deadbeef-2-{code}.part",  # another machine's, and young
        f".other.parquet.{here}-{gone.pid}-{code}.part",  # another target's
        ".out.parquet.part",
    ]
    for name in [*stale, *kept]:
        Path(name).write_text("half a release")
    old = time.time() - 2 * 24 * 3600
    for name in [*stale[1:], kept[0], kept[3]]:
        os.utime(name, (old, old))
    sf.randomize_file("raw.parquet", "out.parquet", SCHEME)
    assert sorted(p.name for p in folder.glob(".*")) == sorted(kept)
