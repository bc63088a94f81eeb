"""The people of one release beside those of earlier ones, a block at a time, so that memory stays flat."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.arrays import Bytes, Flags, Index, Words
from sfumato.channels.ratios import as_float
from sfumato.errors import ReleaseError
from sfumato.owner.composition import GivenAnswer
from sfumato.owner.ledger_file import Entry

_BLOCK = 1 << 15  # people who are composed at a time
_DAMAGED = "the ledger is damaged: it does not hold a digest of the true value of everybody asked"
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
            who = f"{same:,} of its ids stand" if count else "its people may stand"
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
                out.append(GivenAnswer(as_float(entry.gamma), entry.token, self._flags(self._met(entry)[0])))
        return out + [answer for alike in keyed.values() for answer in self._keyed(alike)]

    def _keyed(self, alike: Sequence[Entry]) -> Iterator[GivenAnswer]:
        """Releases under one question and key: a person's first true value, then the second, and so on."""
        first, met = alike[0], [self._met(entry) for entry in alike]
        people, truth = (np.concatenate([one[i] for one in met]) for i in range(2))
        order = np.lexsort((truth, people))
        people, truth = people[order], truth[order].astype(np.uint64)
        new = np.ones(len(people), dtype=bool)
        new[1:] = (people[1:] != people[:-1]) | (truth[1:] != truth[:-1])
        people, truth = people[new], truth[new]
        rank = np.arange(len(people)) - np.searchsorted(people, people)
        for i in range(int(rank.max(initial=-1)) + 1):
            own = rank == i
            words = np.zeros(self.size, dtype=np.uint64)
            words[people[own]] = truth[own]
            yield GivenAnswer(as_float(first.gamma), first.token, self._flags(people[own]), words)

    def _met(self, entry: Entry) -> tuple[Index, Words]:
        """Who of these people answered in an earlier release, by place, and a digest of what was true of them."""
        people, truth, form = self._of_release(entry.release)
        asked = np.ones(len(people), dtype=bool) if entry.form is None else form == entry.form
        if len(people) and entry.key and not entry.plain:
            if truth is None or truth.shape[1] <= entry.place:
                raise ReleaseError(_DAMAGED)
            return people[asked], truth[asked, entry.place]
        return people[asked], np.zeros(int(asked.sum()), dtype=np.uint64)

    def _of_release(self, release: int) -> tuple[Index, Words | None, Index]:
        """The people of an earlier release who are here, their digests, and the form of each; -1 for none."""
        if release not in self._kept:
            found = self.database.execute(
                "select n, people.truth, people.form from now join people on people.release = ? "
                "and people.person = now.person where n >= ? and n < ?",
                (release, self.first, self.first + self.size),
            ).fetchall()
            if not all(isinstance(row[2], int | None) for row in found):
                raise ReleaseError("the ledger is damaged: somebody's form is not a whole number")
            people = np.array([row[0] for row in found], dtype=np.int64) - self.first
            form = np.array([-1 if row[2] is None else row[2] for row in found], dtype=np.int64)
            self._kept[release] = people, _digests([row[1] for row in found]), form
        return self._kept[release]

    @cached_property
    def _kept(self) -> dict[int, tuple[Index, Words | None, Index]]:
        """What was read of earlier releases: every attribute asks for the same."""
        return {}

    def _flags(self, people: Index) -> Flags:
        who = np.zeros(self.size, dtype=bool)
        who[people] = True
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
        return self._flags(np.array([n for (n,) in found], dtype=np.int64) - self.first)

    def truth(self, place: int) -> Words | None:
        """The digests of one true value of these people, where answers are keyed."""
        if not self.known:
            return None
        if self._now is not None and self._now.shape[1] <= place:
            raise ReleaseError(_DAMAGED)
        return None if self._now is None else self._now[:, place]

    @cached_property
    def _now(self) -> Words | None:
        """The digests of what is true of these people now."""
        found = self.database.execute(
            "select truth from now where n >= ? and n < ? order by n", (self.first, self.first + self.size)
        ).fetchall()
        return _digests([row[0] for row in found])


def _digests(truths: Sequence[bytes | None]) -> Words | None:
    """A row of 8-byte digests for each person; None where answers are not keyed."""
    if any(truth is None for truth in truths) or not truths:
        return None
    whole = [truth for truth in truths if isinstance(truth, bytes) and truth]
    if len(whole) < len(truths) or len(whole[0]) % 8 or any(len(truth) != len(whole[0]) for truth in whole):
        raise ReleaseError(_DAMAGED)
    return np.frombuffer(b"".join(whole), dtype="<u8").reshape(len(truths), -1)


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
