"""The people of one release beside those of earlier ones, a block at a time, so that memory stays flat."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Bytes, Flags, Words
from sfumato.channels.ratios import as_float
from sfumato.errors import ReleaseError
from sfumato.owner.composition import GivenAnswer
from sfumato.owner.ledger_file import Entry

_BLOCK = 1 << 17  # people who are composed at a time
_FEW = 100  # people; two tables of fewer may well be of one size by chance


def begin(database: sqlite3.Connection) -> None:
    """A table of the people who are being asked now; SQLite keeps it on disk when it grows."""
    database.execute("create temp table now (n integer primary key, person blob not null unique, truth blob)")


def add(database: sqlite3.Connection, people: Bytes, truths: Sequence[Words]) -> None:
    """More people; where answers are keyed, with a digest of each true value."""
    rows = np.ascontiguousarray(people)
    digests = np.column_stack(truths) if truths else None
    database.executemany(
        "insert or ignore into now (person, truth) values (?, ?)",
        ((rows[i].tobytes(), None if digests is None else digests[i].tobytes()) for i in range(len(rows))),
    )


def add_everyone(database: sqlite3.Connection, population: str) -> None:
    """All people that the ledger knows of a population."""
    database.execute(
        "insert or ignore into now (person) select person from people join releases on releases.id = release "
        "where population = ?",
        (population,),
    )


def as_many(database: sqlite3.Connection, releases: Collection[int]) -> bool:
    """Whether exactly as many people were asked in one of these releases: the same table, perhaps, renumbered."""
    (count,) = database.execute("select count(*) from now").fetchone()
    how_many = "select count(*) from people where release = ?"
    return count >= _FEW and any(database.execute(how_many, (r,)).fetchone() == (count,) for r in releases)


def elsewhere(database: sqlite3.Connection, population: str) -> list[str]:
    """A line where a population is new to the ledger, and its people may be those of another one."""
    (count,) = database.execute("select count(*) from now").fetchone()
    others = "select id, population from releases where population <> ?"
    for release, other in database.execute(others, (population,)).fetchall():
        (same,) = database.execute(
            "select count(*) from now join people on people.release = ? and people.person = now.person", (release,)
        ).fetchone()
        if same or not count:
            who = f"{same} of its ids stand" if count else "its people may stand"
            return [
                f"population {population!r} is new to the ledger, but {who} under {other!r} too; if these are the same "
                f"people, name that population: the ledger does not add up answers across populations"
            ]
    return []


@dataclass(frozen=True)
class PeopleBlock:
    """Some of the people asked now, rows first .. first + size - 1; where nobody is known, one who is everyone."""

    database: sqlite3.Connection
    first: int
    size: int
    known: bool

    @property
    def everyone(self) -> Flags:
        return np.ones(self.size, dtype=bool)

    def answer(self, entry: Entry) -> GivenAnswer:
        """What these people answered in an earlier release."""
        if not (entry.people and self.known):
            return GivenAnswer(as_float(entry.gamma), entry.token, self.everyone)
        found = self.database.execute(
            "select n, people.truth from now join people on people.person = now.person "
            "where people.release = ? and n >= ? and n < ?",
            (entry.release, self.first, self.first + self.size),
        ).fetchall()
        who = np.zeros(self.size, dtype=bool)
        who[[n - self.first for n, _ in found]] = True
        return GivenAnswer(
            as_float(entry.gamma), entry.token, who, self._words(found, entry.place) if entry.key else None
        )

    def truth(self, place: int) -> Words | None:
        """The digests of one true value of these people, where answers are keyed."""
        found = self.database.execute(
            "select n, truth from now where n >= ? and n < ?", (self.first, self.first + self.size)
        ).fetchall()
        return self._words(found, place) if self.known and found and found[0][1] is not None else None

    def _words(self, found: list[tuple[int, bytes]], place: int) -> Words:
        out = np.zeros(self.size, dtype=np.uint64)
        for n, truth in found:
            if not isinstance(truth, bytes) or len(truth) < 8 * place + 8:
                raise ReleaseError(
                    "the ledger is damaged: it does not hold a digest of the true value of everybody asked"
                )
            out[n - self.first] = int.from_bytes(truth[8 * place : 8 * place + 8], "little")
        return out


def blocks(database: sqlite3.Connection) -> Iterator[PeopleBlock]:
    """The people asked now, in blocks; one block that stands for everyone where nobody is known."""
    (count,) = database.execute("select count(*) from now").fetchone()
    if not count:
        yield PeopleBlock(database, 0, 1, known=False)
    for first in range(1, count + 1, _BLOCK):
        yield PeopleBlock(database, first, min(_BLOCK, count + 1 - first), known=True)


@contextmanager
def everyone_instead_of_nobody(database: sqlite3.Connection, population: str) -> Iterator[Iterator[PeopleBlock]]:
    """Where it is not known who is asked now: everyone whom the ledger knows, in blocks; otherwise no blocks."""
    if database.execute("select count(*) from now").fetchone() != (0,):
        yield iter(())
        return
    add_everyone(database, population)
    try:
        (count,) = database.execute("select count(*) from now").fetchone()
        yield blocks(database) if count else iter(())
    finally:
        database.execute("delete from now")
