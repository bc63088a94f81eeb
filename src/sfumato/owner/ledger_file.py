"""The file behind the owner's ledger: plain SQLite, checked whenever it is read.

It holds no raw value and no id. People are digests under a secret that lies in the same file, so that new people are
told from those who were asked before; what is true of a person is a digest that only the owner's key can test. It still
tells whoever holds it, and a list of ids, who was asked: keep it as you keep the data.
"""

from __future__ import annotations

import math
import os
import re
import sqlite3
import unicodedata
from collections.abc import Hashable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.channels.ratios import Ratio, as_float
from sfumato.errors import ReleaseError

_TABLES = """
create table if not exists releases (
    id integer primary key,
    made text not null,
    population text not null,
    scheme text not null,
    state text not null default 'made' check (state in ('begun', 'made')),
    draft text
);
create table if not exists answers (
    release integer not null references releases (id) on delete cascade,
    attribute text not null,
    question text not null,
    key text,
    gamma text not null,
    plain integer not null,
    id text,
    domain text,
    place integer,
    form integer
);
create index if not exists answers_by_attribute on answers (attribute);
create table if not exists people (
    release integer not null references releases (id) on delete cascade,
    person blob not null,
    truth blob,
    form integer,
    primary key (release, person)
) without rowid;
create table if not exists aliases (name text primary key, attribute text not null);
create table if not exists secret (value blob not null);
create table if not exists bound (gamma real not null);
create table if not exists person_bound (gamma real not null);
"""
_COLUMNS = {
    "releases": {"id", "made", "population", "scheme", "state"},
    "answers": {"release", "attribute", "question", "key", "gamma", "plain"},
}
#: What SQLite complains of although the ledger is whole, and what is said instead.
_SAID = {
    "locked": "is being written by another release; try again when that is done",
    "readonly": "cannot be written: nothing is released that cannot be booked",
    "disk is full": "cannot be written, the disk is full: nothing is released that cannot be booked",
    "disk I/O": "cannot be written, the disk fails or files have a limit: nothing is released that cannot be booked",
}
_RATIO = re.compile(r"[0-9]{1,4000}(/[0-9]{1,4000})?")
_LONG = 2000  # bits of a ratio beyond which the next larger double stands for it
#: Columns that earlier ledgers did not have.
_LATER = {
    "releases": {"draft": "text"},
    "answers": {"id": "text", "domain": "text", "place": "integer", "form": "integer"},
    "people": {"form": "integer"},
}


@dataclass(frozen=True)
class Entry:
    """One release of one attribute. ``key`` is None for fresh draws, else a fingerprint of the key."""

    release: int
    made: str
    population: str
    attribute: str
    question: str  # attributes, domains and channel: what, with the key and the value, decides a keyed answer
    key: str | None
    gamma: Ratio
    plain: bool  # passed on unchanged: a repeat tells nothing new
    scheme: str
    id: str | None = None  # the column that told the records apart
    domain: str | None = None  # a digest of the attribute's values, to recognise it under another name
    place: int = 0  # which of a person's digests of true values speaks of this attribute
    people: bool = False  # whether it is known who was asked
    form: int | None = None  # the form that asks it, where each person answered one of several

    @property
    def token(self) -> Hashable:
        """What repeated answers share: fresh ones nothing, keyed ones question and key, clear ones the question."""
        return self.question if self.plain else (self.question, self.key) if self.key else (self.question, self.release)


class LedgerFile:
    """The tables of one ledger."""

    def __init__(self, path: Path, new: bool) -> None:
        self.path = path
        if not new and not path.is_file():
            raise ReleaseError(f"{path}: there is no such ledger; check the path, or begin one with new=True")
        if not path.parent.is_dir():
            raise ReleaseError(f"{path}: the folder {path.parent} does not exist")
        if new:
            try:
                path.touch(mode=0o600, exist_ok=False)
            except FileExistsError:
                said = f"{path} already exists; leave new=True out to go on with it, or choose another name"
                raise ReleaseError(said) from None
        with self.opened() as database, database:
            if not new:
                self._check_tables(database)
            database.executescript(_TABLES)
            for table, columns in _LATER.items():
                for column in columns.keys() - self._columns(database, table):
                    database.execute(f"alter table {table} add column {column} {columns[column]}")
            if not database.execute("select 1 from secret union all select 1 from people limit 1").fetchall():
                database.execute("insert into secret values (?)", (os.urandom(32),))

    def _check_tables(self, database: sqlite3.Connection) -> None:
        """Raise before anything is added to a database that is not a ledger."""
        present = self._tables(database)
        for table, columns in _COLUMNS.items():
            missing = columns - self._columns(database, table) if table in present else set()
            if missing:
                names = ", ".join(sorted(missing))
                raise ReleaseError(f"{self.path} is not a ledger: its table {table} has no column {names}")
        lost = sorted(set(_COLUMNS) - present)
        if lost:
            raise ReleaseError(f"{self.path} is not a ledger, or a damaged one: it has no table {lost[0]}")

    @staticmethod
    def _tables(database: sqlite3.Connection) -> set[str]:
        return {row[0] for row in database.execute("select name from sqlite_master where type = 'table'")}

    @staticmethod
    def _columns(database: sqlite3.Connection, table: str) -> set[str]:
        return {row[1] for row in database.execute(f"pragma table_info({table})")}

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection]:
        """The file, open; whatever is wrong with it becomes one line. A file that was deleted is not made again."""
        if not self.path.is_file():
            raise ReleaseError(f"{self.path}: the ledger is gone; bring it back before anything is released")
        try:
            where = f"{self.path.resolve().as_uri()}?mode=rw"
            with closing(sqlite3.connect(where, uri=True, timeout=30)) as database:
                database.execute("pragma foreign_keys = on")
                yield database
        except sqlite3.Error as problem:
            said = next((words for sign, words in _SAID.items() if sign in str(problem)), None)
            raise ReleaseError(f"{self.path} {said or f'is not a ledger, or a damaged one: {problem}'}") from None
        except UnicodeDecodeError:  # in what SQLite has to say of the damage
            raise ReleaseError(f"{self.path} is not a ledger, or a damaged one: its text is not UTF-8") from None

    def identity(self) -> tuple[int, int] | None:
        """What tells the file from another one that is put in its place."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def secret(self) -> bytes:
        """What the digests of people are made with."""
        with self.opened() as database:
            found = database.execute("select value from secret").fetchall()
        if len(found) != 1 or not isinstance(found[0][0], bytes) or len(found[0][0]) != 32:
            raise ReleaseError(f"{self.path} is a damaged ledger: its secret is not 32 bytes")
        return bytes(found[0][0])

    def population(self, name: str) -> str:
        """The population as the ledger spells it, where it differs in case or spacing only."""
        with self.opened() as database:
            known = self.populations(database)
        alike = [other for other in known if _plain(other) == _plain(name)]
        return name if name in known or not alike else alike[0]

    def populations(self, database: sqlite3.Connection) -> list[str]:
        """All populations of which something was released."""
        known = [row[0] for row in database.execute("select distinct population from releases order by id")]
        if not all(isinstance(name, str) for name in known):
            raise ReleaseError(f"{self.path} is a damaged ledger: a population has a name that is not text")
        return known

    def entries(self, database: sqlite3.Connection, population: str) -> list[Entry]:
        """Everything that was released of a population, oldest first, every number checked."""
        rows: list[Any] = database.execute(
            "select releases.id, made, population, attribute, question, key, gamma, plain, scheme, answers.id, domain, "
            "place, form, "
            "exists (select 1 from people where people.release = releases.id) "
            "from releases join answers on answers.release = releases.id where population = ? order by releases.id",
            (population,),
        ).fetchall()
        return [self._entry(row) for row in rows]

    def _entry(self, row: Sequence[Any]) -> Entry:
        number, made, population, attribute, question, key, gamma, plain, scheme, id, domain, place, form, people = row
        wrong = None
        try:
            ratio = ratio_from(gamma)
            if ratio < 1:
                wrong = "a gamma below 1"
        except (ValueError, TypeError, ZeroDivisionError):
            wrong = "a gamma that is not a number"
        if plain not in (0, 1):
            wrong = "a mark for clear values that is neither 0 nor 1"
        if not all(isinstance(text, str) for text in (made, population, attribute, question, scheme)):
            wrong = "a name that is not text"
        if not all(isinstance(whole, int | None) and (whole or 0) >= 0 for whole in (place, form)):
            wrong = "a place or a form that is not a whole number"
        if not all(isinstance(text, str | None) for text in (key, id, domain)):
            wrong = "a key or an id column that is not text"
        if wrong is not None:
            raise ReleaseError(f"{self.path} is a damaged ledger: release {number} holds {wrong}")
        return Entry(
            number, made, population, attribute, question, key, ratio, bool(plain), scheme, id, domain, place or 0,
            bool(people), form,
        )  # fmt: skip

    def aliases(self, database: sqlite3.Connection) -> dict[str, str]:
        """Attributes that were said to be another one under a new name."""
        found = database.execute("select name, attribute from aliases").fetchall()
        if not all(isinstance(text, str) for pair in found for text in pair):
            raise ReleaseError(f"{self.path} is a damaged ledger: another name of an attribute is not text")
        return dict(found)

    @staticmethod
    def knows(database: sqlite3.Connection, population: str, scheme: str, draft: str | None) -> bool:
        """Whether answers with this digest were booked; nobody knows those without one."""
        asked = "select 1 from releases where population = ? and scheme = ? and draft = ?"
        return database.execute(asked, (population, scheme, draft)).fetchone() is not None

    def write(
        self,
        database: sqlite3.Connection,
        population: str,
        scheme: str,
        answers: list[tuple[Any, ...]],
        draft: str | None = None,
    ) -> int:
        """One more release; the caller commits."""
        made = datetime.now(UTC).isoformat(timespec="seconds")
        cursor = database.execute(
            "insert into releases (made, population, scheme, state, draft) values (?, ?, ?, 'made', ?)",
            (made, population, scheme, draft),
        )
        number = int(cursor.lastrowid or 0)
        database.executemany(
            "insert into answers (release, attribute, question, key, gamma, plain, id, domain, place, form) "
            "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(number, *answer) for answer in answers],
        )
        return number


def _plain(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def ratio_text(gamma: Ratio) -> str:
    """gamma as the ledger writes it: an exact fraction, or inf; one of very many digits is rounded up to a double.

    >>> ratio_text(Fraction(7, 2)), ratio_text(Fraction(7, 2) ** 800)
    ('7/2', 'inf')
    """
    gamma = gamma if gamma == math.inf or Fraction(gamma).numerator.bit_length() < _LONG else _next_double(gamma)
    return "inf" if gamma == math.inf else str(Fraction(gamma))


def _next_double(gamma: Ratio) -> float:
    return math.nextafter(as_float(gamma), math.inf)


def ratio_from(text: str) -> Ratio:
    """The inverse of ``ratio_text``."""
    if text == "inf":
        return math.inf
    if not _RATIO.fullmatch(text):
        raise ValueError(text)
    return Fraction(text)
