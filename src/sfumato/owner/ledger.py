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
from sfumato.scheme import Group, Scheme

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
    plain integer not null
);
create index if not exists answers_by_attribute on answers (attribute);
"""


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
        try:
            with closing(self._open()) as database, database:
                database.executescript(_TABLES)
        except sqlite3.DatabaseError as problem:
            raise ReleaseError(f"{self.path} is not a ledger: {problem}") from None

    def _open(self) -> sqlite3.Connection:
        database = sqlite3.connect(self.path, timeout=30)
        database.execute("pragma foreign_keys = on")
        return database

    @contextmanager
    def entry(self, scheme: Scheme, key: bytes | None = None, again: bool = False) -> Iterator[int]:
        """Book a release before it is made; it is struck out again only if making it fails.

        A release that broke off without an error (the machine stopped) stays booked: it may have left the house.
        """
        number = self._begin(scheme, key, again)
        try:
            yield number
        except BaseException:
            with closing(self._open()) as database, database:
                database.execute("delete from releases where id = ?", (number,))
            raise
        with closing(self._open()) as database, database:
            database.execute("update releases set state = 'made' where id = ?", (number,))

    def _begin(self, scheme: Scheme, key: bytes | None, again: bool) -> int:
        database = self._open()
        with closing(database):
            database.execute("begin immediate")  # two releases at once must see each other
            try:
                if not again:
                    self._refuse(database, scheme, key)
                made = datetime.now(UTC).isoformat(timespec="seconds")
                cursor = database.execute(
                    "insert into releases (made, population, scheme, state) values (?, ?, ?, 'begun')",
                    (made, self.population, scheme.fingerprint),
                )
                number = int(cursor.lastrowid or 0)
                rows = [
                    (number, name, _question(scheme, group), fingerprint(key), *_kept(group.channel))
                    for group in scheme.groups
                    for name in group.names
                ]
                database.executemany("insert into answers values (?, ?, ?, ?, ?, ?)", rows)
                database.commit()
            except BaseException:
                database.rollback()
                raise
        return number

    def _refuse(self, database: sqlite3.Connection, scheme: Scheme, key: bytes | None) -> None:
        repeats = self._repeats(self._read(database), scheme, key)
        if not repeats:
            return
        name, earlier, composed = repeats[0]
        others = f" (and {len(repeats) - 1} other attributes)" if len(repeats) > 1 else ""
        raise ReleaseError(
            f"attribute {name!r}{others} was already released {_times(earlier)}: a fresh answer would raise its gamma "
            f"to {_shown(composed)}; release it with the same key and scheme (free), or ask for it with again=True"
        )

    def _repeats(
        self, entries: list[Entry], scheme: Scheme, key: bytes | None
    ) -> list[tuple[str, int, Fraction | float]]:
        """Attributes that would get another independent answer: how many they have, and the gamma of all together."""
        out: list[tuple[str, int, Fraction | float]] = []
        for group in scheme.groups:
            question, mark = _question(scheme, group), fingerprint(key)
            for name in group.names:
                answered = _distinct([entry for entry in entries if entry.attribute == name])
                known = {(entry.question, entry.key) for entry in answered}
                same = _is_plain(group.channel) and question in {entry.question for entry in answered}
                free = same or (mark is not None and (question, mark) in known)
                if answered and not free:
                    composed = _product([entry.gamma for entry in answered] + [group.channel.exact_gamma])
                    out.append((name, len(answered), composed))
        return sorted(out, key=lambda row: -float(row[2]))

    def composed(self, scheme: Scheme, key: bytes | None = None) -> dict[str, float]:
        """The gamma each attribute would have reached once this scheme is released too (a bound: the product)."""
        with closing(self._open()) as database:
            entries = self._read(database)
        out: dict[str, float] = {}
        for group in scheme.groups:
            for name in group.names:
                answered = _distinct([entry for entry in entries if entry.attribute == name])
                same = key is not None and (_question(scheme, group), fingerprint(key)) in {
                    (entry.question, entry.key) for entry in answered
                }
                own = [] if same else [group.channel.exact_gamma]
                out[name] = float(_product([entry.gamma for entry in answered] + own))
        return out

    def spent(self) -> dict[str, float]:
        """The gamma that each attribute's independent answers so far multiply to."""
        by_name: dict[str, list[Entry]] = {}
        for entry in self.entries():
            by_name.setdefault(entry.attribute, []).append(entry)
        return {name: float(_product([e.gamma for e in _distinct(rows)])) for name, rows in by_name.items()}

    def entries(self) -> list[Entry]:
        """Everything that was released of this population, oldest first."""
        with closing(self._open()) as database:
            return self._read(database)

    def _read(self, database: sqlite3.Connection) -> list[Entry]:
        rows: list[Any] = database.execute(
            "select releases.id, made, population, attribute, question, key, gamma, plain, scheme, state "
            "from releases join answers on answers.release = releases.id where population = ? order by releases.id",
            (self.population,),
        ).fetchall()
        return [
            Entry(number, made, population, attribute, question, key, _ratio(gamma), bool(plain), scheme, state)
            for number, made, population, attribute, question, key, gamma, plain, scheme, state in rows
        ]

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r}, population={self.population!r})"


def fingerprint(key: bytes | None) -> str | None:
    """What the ledger keeps of a key: enough to recognise it, nothing to recompute it from."""
    return None if key is None else hashlib.sha256(b"sfumato ledger 1" + bytes(key)).hexdigest()[:32]


def _question(scheme: Scheme, group: Group) -> str:
    """Attributes, domains and channel: what, with the key, decides a keyed answer."""
    return scheme.select(group.names).fingerprint


def _distinct(entries: list[Entry]) -> list[Entry]:
    """The independent answers among the entries: keyed repeats of one question under one key count once."""
    kept: dict[Any, Entry] = {}
    for entry in entries:
        kept[entry.question if entry.plain else (entry.question, entry.key) if entry.key else entry.release] = entry
    return list(kept.values())


def _product(ratios: list[Fraction | float]) -> Fraction | float:
    out: Fraction | float = Fraction(1)
    for ratio in ratios:
        out = math.inf if math.inf in (out, ratio) else out * ratio
    return out


def _is_plain(channel: Channel) -> bool:
    return isinstance(channel, Symmetric) and channel.other == 0


def _kept(channel: Channel) -> tuple[str, int]:
    gamma = channel.exact_gamma
    return "inf" if gamma == math.inf else str(Fraction(gamma)), int(_is_plain(channel))


def _ratio(text: str) -> Fraction | float:
    return math.inf if text == "inf" else Fraction(text)


def _times(count: int) -> str:
    return "once" if count == 1 else "twice" if count == 2 else f"{count} times"


def _shown(gamma: Fraction | float) -> str:
    return "infinity" if gamma == math.inf else f"{float(gamma):.6g}"
