"""Ledgers that are damaged, foreign, replaced or written by two: one line, and nothing is released unbooked."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from pathlib import Path

import numpy as np
import pytest
from tests.hostile.guard import refused

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import ReleaseError
from sfumato.owner.ledger import Ledger

SCHEME = sf.Scheme(sf.Schema({"sex": sf.Categorical(("F", "M"))}), {"sex": c.binary(0.25, 0.25)})
TABLE = {"id": [f"p{i}" for i in range(50)], "sex": ["F", "M"] * 25}
KEY = sf.new_key()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    sf.randomize(TABLE, SCHEME, KEY, "id", ledger=Ledger(tmp_path / "l.sqlite", new=True))
    return tmp_path / "l.sqlite"


def change(path: Path, sql: str, *values: object) -> None:
    database = sqlite3.connect(path)
    database.execute(sql, values)
    database.commit()
    database.close()


@pytest.mark.parametrize("gamma", ["1e99999999", "9" * 4500, " 3", "3/0", "0x3", "nan", "3.5e1"])
def test_a_gamma_is_a_quotient_of_bounded_length(path: Path, gamma: str) -> None:
    change(path, "update answers set gamma = ?", gamma)
    for use in (lambda: Ledger(path).spent(), lambda: Ledger(path).composed(SCHEME)):
        assert "holds a gamma that is not a number" in refused(use)


def test_a_gamma_too_large_for_a_double_counts_as_infinite(path: Path) -> None:
    change(path, "update answers set gamma = ?", "9" * 400)
    assert Ledger(path).spent() == {"sex": np.inf}


@pytest.mark.parametrize("items", [800, 9000])
def test_item_sets_of_any_size_are_booked(tmp_path: Path, items: int) -> None:
    names = [f"i{i}" for i in range(items)]
    scheme = sf.Scheme(sf.Schema(dict.fromkeys(names, sf.Categorical((0, 1)))), {tuple(names): c.mask(0.25)})
    ledger = Ledger(tmp_path / "l.sqlite", new=True)
    with ledger.entry(scheme):
        pass
    assert set(Ledger(ledger.path).spent().values()) == {np.inf}
    assert "was already released once" in refused(
        lambda: sf.randomize({n: [0, 1] for n in names}, scheme, ledger=ledger)
    )


def test_a_long_ratio_is_rounded_up(tmp_path: Path) -> None:
    names = [f"i{i}" for i in range(100)]
    channel = c.product([c.symmetric(2, p=0.3 + i / 1000) for i in range(100)])
    scheme = sf.Scheme(sf.Schema(dict.fromkeys(names, sf.Categorical((0, 1)))), {tuple(names): channel})
    ledger = Ledger(tmp_path / "l.sqlite", new=True)
    with ledger.entry(scheme):
        pass
    (spent,) = set(ledger.spent().values())
    assert channel.exact_gamma <= spent <= channel.gamma * (1 + 1e-12)


@pytest.mark.parametrize(
    "sql",
    [
        "update people set truth = null",
        "update people set truth = 'x'",
        "update people set truth = x'00'",
        "update people set truth = 7",
        "update people set form = 'x'",
        "update answers set form = -1",
        "insert into person_bound values ('x')",
        "update answers set place = 99",
        "insert into aliases values (x'ff', x'ff')",
        "insert into aliases values (null, 'sex')",
        "update releases set population = x'ff'",
        "delete from secret",
    ],
)
def test_what_is_damaged_is_one_line(path: Path, sql: str) -> None:
    change(path, sql)
    assert "damaged" in refused(lambda: sf.randomize(TABLE, SCHEME, KEY, "id", ledger=path))


def test_another_programs_database_is_no_ledger_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "bookmarks.sqlite"
    change(path, "create table bookmarks (place text)")
    before = path.read_bytes()
    assert "is not a ledger" in refused(lambda: sf.randomize(TABLE, SCHEME, ledger=path))
    assert path.read_bytes() == before


def test_a_ledger_that_is_replaced_meanwhile_books_nothing_and_nothing_leaves(path: Path, tmp_path: Path) -> None:
    """As a folder that is synchronised puts an older copy in its place."""
    target = tmp_path / "r.parquet"

    def replaced(_: int) -> None:
        shutil.copy(path, tmp_path / "copy")
        (tmp_path / "copy").replace(path)

    with pytest.raises(ReleaseError, match="was replaced meanwhile"):
        sf.randomize_file(TABLE, target, SCHEME, KEY, "id", ledger=path, progress=replaced)
    assert not target.exists()
    assert len(Ledger(path).entries()) == 1


def test_two_who_release_at_once_are_not_both_let_through(path: Path) -> None:
    people = {"id": [f"q{i}" for i in range(400)], "sex": ["F", "M"] * 200}
    done: list[str] = []

    def release() -> None:
        try:
            sf.randomize(people, SCHEME, id="id", ledger=Ledger(path))
            done.append("released")
        except ReleaseError as problem:
            done.append(str(problem))

    threads = [threading.Thread(target=release) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done.count("released") == 1
    assert sum("was already released" in line for line in done) == 3


def test_a_ledger_that_another_release_is_writing_says_so(path: Path) -> None:
    file = Ledger(path).file
    with file.opened() as other, pytest.raises(ReleaseError, match="is being written by another release"):
        other.execute("begin immediate")
        with file.opened() as mine:
            mine.execute("pragma busy_timeout = 1")
            mine.execute("begin immediate")


def test_damage_that_sqlite_cannot_put_into_words(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"TABLE aliases", b"TABLE al\xb7ases"))
    assert "a damaged one" in refused(lambda: Ledger(path).spent())


def test_a_ledger_that_lost_its_answers_is_not_begun_anew(path: Path) -> None:
    change(path, "drop table answers")
    assert "it has no table answers" in refused(lambda: Ledger(path))


def test_a_limit_on_the_size_of_files_is_no_damage_of_the_ledger(path: Path) -> None:
    """It was said to be no ledger, or a damaged one, which somebody may throw away."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    more = {"id": [f"new {i}" for i in range(3000)], "sex": ["F"] * 3000}
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, before[1]))
    try:
        said = refused(lambda: sf.randomize(more, SCHEME, KEY, "id", ledger=path))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "files have a limit: nothing is released" in said
    assert len(Ledger(path).entries()) == 1
