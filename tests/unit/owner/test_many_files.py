"""Tables of many files: in pieces, by several processes, and taken up again after an interrupt."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import ReleaseError, SchemaError, SfumatoError
from sfumato.owner import many_files, scatter
from sfumato.owner.many_files import randomize_folder

KEY = sf.new_key(study="many files")
NAMES = ["a", "b"]
SCHEMA = sf.Schema({"a": sf.Categorical((0, 1, 2)), "b": sf.Categorical(("no", "yes"))})
SCHEME = sf.Scheme(SCHEMA, {"a": c.symmetric(3, 0.3), "b": c.binary(0.2, 0.2)})
N = 3000


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_files, "ROWS_IN_A_UNIT", 400)
    monkeypatch.setattr(many_files, "ROWS_IN_A_PART", 700)


def raw() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {"id": np.arange(N), "a": rng.integers(0, 3, N), "b": rng.choice(["no", "yes"], N, p=[0.8, 0.2])}
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "raw"
    folder.mkdir()
    for piece in range(3):
        part = pa.Table.from_pandas(raw().iloc[piece * 1000 : piece * 1000 + 1000], preserve_index=False)
        pq.write_table(part, folder / f"part-{piece}.parquet", row_group_size=250)
    (folder / "_SUCCESS").touch()
    return folder


def answers(release: sf.Release) -> dict[str, tuple[int, ...]]:
    return {row.pop("id"): tuple(row.values()) for row in release.arrow().to_pylist()}


def test_the_answers_are_those_of_one_table(source: Path, tmp_path: Path) -> None:
    release = randomize_folder(source, tmp_path / "out", SCHEME, KEY, "id", study="many files", jobs=1)
    here = sf.randomize(raw(), SCHEME, KEY, "id", study="many files")
    assert answers(release) == answers(here) and len(release) == N
    assert sorted(f.name for f in (tmp_path / "out").iterdir()) == [
        "_release.json",
        *(f"part-0000{i}.parquet" for i in range(8)),
    ]
    assert release.arrow().column("id").to_pylist() == sorted(release.arrow().column("id").to_pylist())
    assert not list(tmp_path.glob(".*"))
    assert pq.read_table(tmp_path / "out").num_rows == N  # other tools pass over a name that begins with _
    found, expected = (sf.evidence(each).counts(NAMES, quiet=True).value for each in (release, here))
    np.testing.assert_allclose(found, expected)


def test_two_processes_give_the_answers_of_one(source: Path, tmp_path: Path) -> None:
    """Also where this process made other answers in files of the same names before, and remembers where they stood."""
    seen: list[int] = []
    randomize_folder(source, tmp_path / "out", SCHEME, jobs=1)
    how = {"study": "many files", "overwrite": True}
    release = randomize_folder(source, tmp_path / "out", SCHEME, KEY, "id", jobs=2, progress=seen.append, **how)
    assert answers(release) == answers(sf.randomize(raw(), SCHEME, KEY, "id", study="many files"))
    assert sum(seen) == N


def test_forms_have_a_folder_each(source: Path, tmp_path: Path) -> None:
    forms = sf.Forms([SCHEME.select(["a"]), SCHEME.select(["b"])])
    release = randomize_folder(source, tmp_path / "out", forms, KEY, "id", study="many files", jobs=1)
    here = sf.randomize(raw(), forms, KEY, "id", study="many files")
    for mine, theirs in zip(release.parts, here.parts, strict=True):
        assert sorted(map(str, mine.arrow().to_pylist())) == sorted(map(str, theirs.arrow().to_pylist()))
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"form=0", "form=1", "_release.json"}


def drawn(target: Path) -> dict[str, str]:
    """The digest of every finished piece."""
    folder = target.with_name(f".{target.name}.unfinished")
    return {path.name: json.loads(path.read_text())["sha256"] for path in folder.glob("drawn-*.json")}


def interrupt_after(monkeypatch: pytest.MonkeyPatch, name: str, count: int) -> list[object]:
    original, done = getattr(many_files, name), []

    def work(*arguments):
        if len(done) == count:
            raise KeyboardInterrupt
        done.append(arguments)
        return original(*arguments)

    monkeypatch.setattr(many_files, name, work)
    return done


@pytest.mark.parametrize(("step", "count", "pieces"), [("answer_unit", 3, 3), ("gather_bucket", 2, 6)])
def test_what_was_drawn_before_an_interrupt_is_what_is_released(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, count: int, pieces: int
) -> None:
    target = tmp_path / "out"
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        interrupt_after(patched, step, count)
        randomize_folder(source, target, SCHEME, jobs=1)
    assert not target.exists()
    before = drawn(target)
    assert len(before) == pieces
    redrawn: list[object] = []
    original = scatter.answered_batches
    monkeypatch.setattr(
        scatter, "answered_batches", lambda batch, *a, **k: redrawn.append(batch.num_rows) or original(batch, *a, **k)
    )
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):  # stopped again, when all are drawn
        interrupt_after(patched, "describe_folder", 0)
        randomize_folder(source, target, SCHEME, jobs=1)
    assert {name: drawn(target)[name] for name in before} == before
    assert sum(redrawn) == N - sum(500 for _ in before)
    release = randomize_folder(source, target, SCHEME, jobs=1)
    assert sum(redrawn) == N - sum(500 for _ in before) and len(release) == N


def test_a_finished_piece_that_is_damaged_is_made_again(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        interrupt_after(patched, "gather_bucket", 3)
        randomize_folder(source, target, SCHEME, jobs=1)
    broken = next(target.with_name(".out.unfinished").glob("drawn-*.arrows"))
    broken.write_bytes(broken.read_bytes()[:-10] + b"0123456789")
    release = randomize_folder(source, target, SCHEME.select(["a", "b"]), jobs=1)
    assert len(release) == N


def test_unfinished_work_of_another_request_is_refused(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        interrupt_after(patched, "answer_unit", 1)
        randomize_folder(source, target, SCHEME, jobs=1)
    with pytest.raises(ReleaseError, match="unfinished work of another request"):
        randomize_folder(source, target, SCHEME.select(["a"]), jobs=1)
    (source / "part-0.parquet").touch()
    with pytest.raises(ReleaseError, match="or its source has changed"):
        randomize_folder(source, target, SCHEME, jobs=1)


def test_pseudonyms_of_a_key_that_nobody_keeps_survive_an_interrupt(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        interrupt_after(patched, "answer_unit", 2)
        randomize_folder(source, tmp_path / "out", SCHEME, id="id", jobs=1)
    release = randomize_folder(source, tmp_path / "out", SCHEME, id="id", jobs=1)
    assert len(set(release.arrow().column("id").to_pylist())) == N
    twice = pa.Table.from_pandas(raw().iloc[:1], preserve_index=False)
    pq.write_table(twice, source / "part-3.parquet")
    with pytest.raises(SfumatoError, match="1 id occurs more than once"):
        randomize_folder(source, tmp_path / "other", SCHEME, id="id", jobs=1)


def test_columns_in_the_names_of_folders_are_columns(tmp_path: Path) -> None:
    for value, rows in raw().groupby("b"):
        folder = tmp_path / "raw" / f"b={value}"
        folder.mkdir(parents=True)
        rows[["id", "a"]].to_parquet(folder / "part-0.parquet", index=False)
    release = randomize_folder(tmp_path / "raw", tmp_path / "out", SCHEME, KEY, "id", study="many files", jobs=1)
    assert answers(release) == answers(sf.randomize(raw(), SCHEME, KEY, "id", study="many files"))
    assert sf.evidence(tmp_path / "raw", SCHEMA).counts("b").value.tolist() == raw()["b"].value_counts().tolist()


def test_a_partition_that_differs_or_is_damaged_is_named(source: Path, tmp_path: Path) -> None:
    good = (source / "part-1.parquet").read_bytes()
    pq.write_table(pa.table({"id": [1], "a": [1]}), source / "part-1.parquet")
    with pytest.raises(SchemaError, match="part-1.parquet: it has no column 'b', which part-0.parquet has"):
        randomize_folder(source, tmp_path / "out", SCHEME, jobs=1)
    pq.write_table(pa.table({"id": ["1"], "a": ["1"], "b": ["no"]}), source / "part-1.parquet")
    with pytest.raises(SchemaError, match="part-1.parquet: column 'a' is string here and int64 in part-0.parquet"):
        randomize_folder(source, tmp_path / "out", SCHEME, jobs=1)
    middle = len(good) // 3
    (source / "part-1.parquet").write_bytes(good[:middle] + b"\xff" * 60 + good[middle + 60 :])
    with pytest.raises(SchemaError, match="part-1.parquet"):
        randomize_folder(source, tmp_path / "out", SCHEME, jobs=1)
    assert not (tmp_path / "out").exists()


def test_a_full_disk_is_one_line_and_what_was_finished_stays(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched, pytest.raises(ReleaseError, match="the disk is full.*finished is kept"):
        patched.setattr(many_files, "gather_bucket", full)
        randomize_folder(source, tmp_path / "out", SCHEME, jobs=1)
    assert len(drawn(tmp_path / "out")) == 6
    assert len(randomize_folder(source, tmp_path / "out", SCHEME, jobs=1)) == N


def test_a_ledger_books_once_whatever_was_interrupted(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = sf.Ledger(tmp_path / "ledger.sqlite", new=True)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        interrupt_after(patched, "gather_bucket", 1)
        randomize_folder(source, tmp_path / "out", SCHEME, id="id", ledger=ledger, jobs=1)
    assert ledger.spent() == {}
    randomize_folder(source, tmp_path / "out", SCHEME, id="id", ledger=ledger, jobs=1)
    assert ledger.spent()["b"] == pytest.approx(4)
    with pytest.raises(SfumatoError):
        randomize_folder(source, tmp_path / "second", SCHEME, id="id", ledger=ledger, jobs=1)


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda s, t: randomize_folder(s, t, SCHEME, order="keep"), "is shuffled and secure"),
        (lambda s, t: randomize_folder(s, s, SCHEME, overwrite=True), "are the same file"),
        (lambda s, t: randomize_folder(s / "none", t, SCHEME), "must end in one of"),
        (
            lambda s, t: randomize_folder(s, t, sf.Scheme.identity(sf.Schema({"z": sf.Categorical((0, 1))}))),
            "'z'",
        ),
    ],
)
def test_bad_requests_are_one_line(source: Path, tmp_path: Path, call, line: str) -> None:
    with pytest.raises(SfumatoError, match=line):
        call(source, tmp_path / "out")
