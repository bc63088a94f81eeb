"""The people of one release beside those of earlier ones, a block at a time, so that memory stays flat."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Bytes, Flags, Words
from sfumato.channels.ratios import as_float
from sfumato.errors import ReleaseError
from sfumato.owner.composition import GivenAnswer
from sfumato.owner.ledger_file import Entry

_BLOCK = 1 << 17  # people who are composed at a time
_RELEASES = 500  # that one question to the file names
_FEW = 100  # people; two tables of fewer may well be of one size by chance


def begin(database: sqlite3.Connection) -> None:
    """A table of the people who are being asked now; SQLite keeps it on disk when it grows."""
    database.execute(
        "create temp table now (n integer primary key, person blob not null unique, truth blob, form integer)"
    )


def add(database: sqlite3.Connection, people: Bytes, truths: Sequence[Words], form: int | None = None) -> None:
    """More people; where answers are keyed, with a digest of each true value; with their form, where there are some."""
    rows = np.ascontiguousarray(people)
    digests = np.column_stack(truths) if truths else None
    database.executemany(
        "insert or ignore into now (person, truth, form) values (?, ?, ?)",
        ((rows[i].tobytes(), None if digests is None else digests[i].tobytes(), form) for i in range(len(rows))),
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

    def answers(self, entries: Sequence[Entry]) -> list[GivenAnswer]:
        """What these people answered in earlier releases, as entries of one attribute.

        Where it is not known who was asked, it is not known who got which form either: the worst counts.
        """
        worst: dict[int, Entry] = {}
        certain = []
        for entry in entries:
            if entry.form is None or (entry.people and self.known):
                certain.append(entry)
            elif entry.release not in worst or as_float(entry.gamma) > as_float(worst[entry.release].gamma):
                worst[entry.release] = entry
        return self.given([*certain, *worst.values()])

    def given(self, entries: Sequence[Entry]) -> list[GivenAnswer]:
        """The answers of these people to every one of these questions; to a keyed one, once for each true value."""
        out, keyed = [], dict[tuple[Hashable, int, int | None], list[Entry]]()
        for entry in entries:
            if not (entry.people and self.known):
                out.append(GivenAnswer(as_float(entry.gamma), entry.token, self.everyone))
            elif entry.key and not entry.plain:
                keyed.setdefault((entry.token, entry.place, entry.form), []).append(entry)
            else:
                who = self._flags(self._found("n", [entry], entry.form))
                out.append(GivenAnswer(as_float(entry.gamma), entry.token, who))
        return out + [answer for alike in keyed.values() for answer in self._keyed(alike)]

    def _keyed(self, alike: Sequence[Entry]) -> Iterator[GivenAnswer]:
        """Releases under one question and key: a person's first true value, then the second, and so on."""
        first = alike[0]
        columns = f"n, substr(people.truth, {8 * first.place + 1}, 8)"
        met: dict[int, set[bytes]] = {}
        for start in range(0, len(alike), _RELEASES):
            for n, truth in self._found(columns, alike[start : start + _RELEASES], first.form):
                met.setdefault(n, set()).add(_digest(truth))
        values = {n: sorted(truths) for n, truths in met.items()}
        for i in range(max(map(len, values.values()), default=0)):
            found = [(n, truths[i]) for n, truths in values.items() if len(truths) > i]
            yield GivenAnswer(as_float(first.gamma), first.token, self._flags(found), self._words(found))

    def _found(self, columns: str, alike: Sequence[Entry], form: int | None) -> list[Any]:
        """Columns of those who were asked in one of these releases."""
        marks = ", ".join("?" * len(alike))
        return self.database.execute(
            f"select distinct {columns} from now join people on people.person = now.person "
            f"where n >= ? and n < ? and (? is null or people.form = ?) and people.release in ({marks})",
            (self.first, self.first + self.size, form, form, *(entry.release for entry in alike)),
        ).fetchall()

    def _flags(self, found: Sequence[Sequence[Any]]) -> Flags:
        who = np.zeros(self.size, dtype=bool)
        who[[row[0] - self.first for row in found]] = True
        return who

    @property
    def forms_known(self) -> bool:
        """Whether it is known which form each of these people is given now."""
        lost = "select 1 from now where n >= ? and n < ? and form is null limit 1"
        return self.known and self.database.execute(lost, (self.first, self.first + self.size)).fetchone() is None

    def asked(self, form: int | None) -> Flags:
        """Who is given a form now; where that is not known, anybody may be."""
        if form is None or not self.known:
            return self.everyone
        found = self.database.execute(
            "select n from now where n >= ? and n < ? and (form is null or form = ?)",
            (self.first, self.first + self.size, form),
        ).fetchall()
        return self._flags(found)

    def truth(self, place: int) -> Words | None:
        """The digests of one true value of these people, where answers are keyed."""
        found = self.database.execute(
            f"select n, substr(truth, {8 * place + 1}, 8) from now where n >= ? and n < ?",
            (self.first, self.first + self.size),
        ).fetchall()
        return self._words(found) if self.known and found and found[0][1] is not None else None

    def _words(self, found: Sequence[tuple[int, bytes]]) -> Words:
        out = np.zeros(self.size, dtype=np.uint64)
        for n, truth in found:
            out[n - self.first] = int.from_bytes(_digest(truth), "little")
        return out


def _digest(truth: object) -> bytes:
    if not isinstance(truth, bytes) or len(truth) < 8:
        raise ReleaseError("the ledger is damaged: it does not hold a digest of the true value of everybody asked")
    return truth


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
