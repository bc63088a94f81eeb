"""The owner's ledger: every release of every attribute, so that no value is answered afresh twice unnoticed.

A fresh answer to a question that was answered before multiplies the likelihood ratios: ten answers under gamma = 3 over
four values raise the adversary's success from .50 to .815. A keyed repeat gives the same answer again and is free.
"""

from __future__ import annotations

import hashlib
import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.channels import Channel
from sfumato.channels.response import Symmetric
from sfumato.errors import ReleaseError
from sfumato.owner.answers import question
from sfumato.scheme import Scheme

_TABLES = """
create table if not exists releases (
    id integer primary key,
    made text not null,
    population text not null,
    scheme text not null,
    state text not null check (state in ('begun', 'made'))
);
create table if not exists answers (
    release integer not null references releases (id) on delete cascade,
    attribute text not null,
    question text not null,
    key text,
    gamma text not null,
    plain integer not null,
    id text
);
create index if not exists answers_by_attribute on answers (attribute);
"""
_COLUMNS = {
    "releases": {"id", "made", "population", "scheme", "state"},
    "answers": {"release", "attribute", "question", "key", "gamma", "plain", "id"},
}


@dataclass(frozen=True)
class Entry:
    """One release of one attribute. ``key`` is None for fresh draws, else a fingerprint of the key."""

    release: int
    made: str
    population: str
    attribute: str
    question: str
    key: str | None
    gamma: Fraction | float
    plain: bool  # passed on unchanged: a repeat tells nothing new
    scheme: str
    state: str
    id: str | None = None  # the column that told the records apart, of keyed answers


class Ledger:
    """A small SQLite file that the owner keeps beside the data; ``population`` names whose records are released.

    >>> import tempfile, sfumato as sf
    >>> schema = sf.Schema({"sex": sf.Categorical(("F", "M"))})
    >>> scheme = sf.Scheme(schema, {"sex": sf.channels.binary(.25, .25)})
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger(folder.name + "/ledger.sqlite")
    >>> with ledger.entry(scheme): pass
    >>> ledger.composed(scheme)["sex"]
    9.0
    >>> folder.cleanup()
    """

    def __init__(self, path: str | Path, population: str = "all records") -> None:
        self.path = Path(path)
        self.population = population
        if not self.path.parent.is_dir():
            raise ReleaseError(f"{self.path}: the folder {self.path.parent} does not exist")
        with self._opened(create=True) as database, database:
            database.executescript(_TABLES)
            for table, columns in _COLUMNS.items():
                found = {row[1] for row in database.execute(f"pragma table_info({table})")}
                if columns - found == {"id"} and table == "answers":  # a ledger from before id columns were booked
                    database.execute("alter table answers add column id text")
                elif not columns <= found:
                    missing = ", ".join(sorted(columns - found))
                    raise ReleaseError(f"{self.path} is not a ledger: its table {table} has no column {missing}")

    @contextmanager
    def _opened(self, create: bool = False) -> Iterator[sqlite3.Connection]:
        """The file, open; whatever is wrong with it becomes one line. A file that was deleted is not made again."""
        if not create and not self.path.is_file():
            raise ReleaseError(f"{self.path}: the ledger is gone; bring it back before anything is released")
        try:
            where = f"{self.path.resolve().as_uri()}?mode={'rwc' if create else 'rw'}"
            with closing(sqlite3.connect(where, uri=True, timeout=30)) as database:
                database.execute("pragma foreign_keys = on")
                yield database
        except sqlite3.Error as problem:
            raise ReleaseError(f"{self.path} is not a ledger, or a damaged one: {problem}") from None

    @contextmanager
    def entry(
        self, scheme: Scheme, key: bytes | None = None, again: bool = False, id: str | None = None
    ) -> Iterator[int]:
        """Book a release before it is made; it is struck out again only if making it fails.

        ``id`` names the column that tells the records of a keyed release apart: under another one, the answers are
        fresh. That the same column holds the same ids as before is the owner's to see to. A release that broke off
        without an error (the machine stopped) stays booked: it may have left the house.
        """
        number = self._begin(scheme, key, again, id)
        try:
            yield number
        except BaseException:
            with self._opened() as database, database:
                database.execute("delete from releases where id = ?", (number,))
            raise
        with self._opened() as database, database:
            database.execute("update releases set state = 'made' where id = ?", (number,))

    def _begin(self, scheme: Scheme, key: bytes | None, again: bool, id: str | None = None) -> int:
        mark, column = fingerprint(key), None if key is None else id
        with self._opened() as database:
            database.execute("begin immediate")  # two releases at once must see each other
            try:
                if not again:
                    self._refuse(database, scheme, key, id)
                made = datetime.now(UTC).isoformat(timespec="seconds")
                cursor = database.execute(
                    "insert into releases (made, population, scheme, state) values (?, ?, ?, 'begun')",
                    (made, self.population, scheme.fingerprint),
                )
                number = int(cursor.lastrowid or 0)
                rows = [(number, a.name, a.question, mark, _text(a.gamma), a.plain, column) for a in _asked(scheme)]
                database.executemany(
                    "insert into answers (release, attribute, question, key, gamma, plain, id) "
                    "values (?, ?, ?, ?, ?, ?, ?)",
                    rows,
                )
                database.commit()
            except BaseException:
                database.rollback()
                raise
        return number

    def _refuse(self, database: sqlite3.Connection, scheme: Scheme, key: bytes | None, id: str | None) -> None:
        repeats = [row for row in _standing(self._read(database), scheme, key, id) if row.answered and row.fresh]
        if not repeats:
            return
        worst = max(repeats, key=lambda row: float(row.composed))
        more = len(repeats) - 1
        others = "" if not more else f" (and {more} other attribute{'' if more == 1 else 's'})"
        free = "release it with the same key, id column and scheme (free), or " if worst.keyed else ""
        raise ReleaseError(
            f"attribute {worst.asked.name!r}{others} was already released {_times(len(worst.answered))}: a fresh "
            f"answer can raise its gamma to {_shown(worst.composed)}; {free}ask for it with again=True"
        )

    def composed(self, scheme: Scheme, key: bytes | None = None, id: str | None = None) -> dict[str, float]:
        """The gamma each attribute would have reached once this scheme is released too (a bound: the product)."""
        return {row.asked.name: float(row.composed) for row in _standing(self.entries(), scheme, key, id)}

    def spent(self) -> dict[str, float]:
        """The gamma that each attribute's independent answers so far multiply to."""
        by_name: dict[str, list[Entry]] = {}
        for entry in self.entries():
            by_name.setdefault(entry.attribute, []).append(entry)
        return {name: float(_product([e.gamma for e in _distinct(rows)])) for name, rows in by_name.items()}

    def entries(self) -> list[Entry]:
        """Everything that was released of this population, oldest first."""
        with self._opened() as database:
            return self._read(database)

    def _read(self, database: sqlite3.Connection) -> list[Entry]:
        rows: list[Any] = database.execute(
            "select releases.id, made, population, attribute, question, key, gamma, plain, scheme, state, answers.id "
            "from releases join answers on answers.release = releases.id where population = ? order by releases.id",
            (self.population,),
        ).fetchall()
        try:
            return [
                Entry(number, made, population, attribute, question, key, _ratio(gamma), bool(plain), scheme, state, id)
                for number, made, population, attribute, question, key, gamma, plain, scheme, state, id in rows
            ]
        except (ValueError, TypeError, ZeroDivisionError):
            raise ReleaseError(f"{self.path} is a damaged ledger: it holds a gamma that is not a number") from None

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r}, population={self.population!r})"


def fingerprint(key: bytes | None) -> str | None:
    """What the ledger keeps of a key: enough to recognise it, nothing to recompute it from."""
    return None if key is None else hashlib.sha256(b"sfumato ledger 2" + bytes(key)).hexdigest()[:32]


@dataclass(frozen=True)
class _Asked:
    """One attribute of a scheme that is about to be released."""

    name: str
    question: str  # attributes, domains and channel: what, with the key, decides a keyed answer
    gamma: Fraction | float
    plain: bool


def _asked(scheme: Scheme) -> list[_Asked]:
    out = [_Asked(name, question(scheme, (name,)).hex(), math.inf, False) for name in scheme.noises]
    for group in scheme.groups:
        asked, plain = question(scheme, group.names).hex(), _is_plain(group.channel)
        out += [_Asked(name, asked, group.channel.exact_gamma, plain) for name in group.names]
    return out


@dataclass(frozen=True)
class _Standing:
    """An attribute about to be released: its independent answers so far, and whether this one adds another."""

    asked: _Asked
    answered: list[Entry]
    fresh: bool

    @property
    def composed(self) -> Fraction | float:
        """The gamma of all answers together, at most."""
        return _product([entry.gamma for entry in self.answered] + ([self.asked.gamma] if self.fresh else []))

    @property
    def keyed(self) -> bool:
        """Whether some earlier answer could be given again."""
        return any(entry.key is not None for entry in self.answered)


def _standing(entries: list[Entry], scheme: Scheme, key: bytes | None, id: str | None) -> list[_Standing]:
    mark, out = fingerprint(key), []
    for asked in _asked(scheme):
        answered = _distinct([entry for entry in entries if entry.attribute == asked.name])
        plain = asked.plain and any(entry.question == asked.question for entry in answered)
        known = mark is not None and (asked.question, mark, id) in {(e.question, e.key, e.id) for e in answered}
        out.append(_Standing(asked, answered, not plain and not known))
    return out


def _distinct(entries: list[Entry]) -> list[Entry]:
    """The independent answers among the entries: repeats of one question under one key and id column count once."""
    kept: dict[Any, Entry] = {}
    for entry in entries:
        again = (entry.question, entry.key, entry.id) if entry.key else entry.release
        kept[entry.question if entry.plain else again] = entry
    return list(kept.values())


def _product(ratios: list[Fraction | float]) -> Fraction | float:
    out: Fraction | float = Fraction(1)
    for ratio in ratios:
        out = math.inf if math.inf in (out, ratio) else out * ratio
    return out


def _is_plain(channel: Channel) -> bool:
    return isinstance(channel, Symmetric) and channel.other == 0


def _text(gamma: Fraction | float) -> str:
    return "inf" if gamma == math.inf else str(Fraction(gamma))


def _ratio(text: str) -> Fraction | float:
    return math.inf if text == "inf" else Fraction(text)


def _times(count: int) -> str:
    return "once" if count == 1 else "twice" if count == 2 else f"{count} times"


def _shown(gamma: Fraction | float) -> str:
    return "infinity" if gamma == math.inf else f"{float(gamma):.6g}"
