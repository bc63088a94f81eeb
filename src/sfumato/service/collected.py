"""What a study has collected so far, in memory: the tables of its responses, and how many came in each hour.

Tables of finished hours are kept apart from those of the hour that runs. So the former can be written down as a
snapshot, and a start counts again only what came later.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Any

import numpy as np
from sqlalchemy import Connection, delete, insert, select

from sfumato.arrays import Array
from sfumato.service.layout import Layout
from sfumato.service.storage import tables
from sfumato.service.study import Study
from sfumato.service.tallies import Tally, fold

_ROWS = 100_000  # rows that are read and counted at a time


class Collected:
    """The counts of one study's responses."""

    def __init__(self, study: Study) -> None:
        self.layouts: tuple[Layout, ...] = study.forms
        self.study = study.id
        self.hours: Counter[int] = Counter()
        self.last = -1  # the last hour in which something came
        self.upto = -1  # the last hour in ``finished``
        self.stale = False  # whether ``finished`` holds something that no snapshot does
        self._finished = self._empty()
        self._current = self._empty()
        self._pending: list[list[bytes]] = [[] for _ in self.layouts]
        self._lock = Lock()

    def _empty(self) -> list[Tally]:
        return [Tally(layout.scheme) for layout in self.layouts]

    @property
    def responses(self) -> int:
        return sum(self.hours.values())

    def add(self, form: int, codes: bytes, hour: int) -> bool:
        """A response that is on the disk; hours never go back. Whether it ended an hour, whose tables can be kept."""
        with self._lock:
            turned = hour > self.last >= 0
            if turned:
                self._finish(self.last)
            self.last = hour
            self._pending[form].append(codes)
            self.hours[hour] += 1
            return turned

    def remove(self, form: int, codes: bytes, hour: int) -> None:
        """Take a deleted response out."""
        with self._lock:
            self._fold()
            tally = (self._finished if hour <= self.upto else self._current)[form]
            fold(tally, self.layouts[form], [codes], -1)
            self.stale = self.stale or hour <= self.upto
            self.hours[hour] -= 1

    def asked(self) -> list[int]:
        """How many answered each form."""
        with self._lock:
            self._fold()
            return [a.n + b.n for a, b in zip(self._finished, self._current, strict=True)]

    def tallies(self) -> list[Tally]:
        """The tables of each form as they stand now."""
        with self._lock:
            self._fold()
            return [_sum(old, new) for old, new in zip(self._finished, self._current, strict=True)]

    def counts(self, form: int, columns: Sequence[str]) -> Array | None:
        """The table of some columns of a form, flat; None where it is not kept."""
        with self._lock:
            self._fold()
            old, new = (held[form].counts(columns) for held in (self._finished, self._current))
        return None if old is None or new is None else old + new

    def _fold(self) -> None:
        for tally, layout, rows in zip(self._current, self.layouts, self._pending, strict=True):
            fold(tally, layout, rows)
            rows.clear()

    def _finish(self, hour: int) -> None:
        self._fold()
        for old, new in zip(self._finished, self._current, strict=True):
            self.stale = self.stale or new.n > 0
            old.merge(new)
        self._current, self.upto = self._empty(), hour

    # Snapshots.

    def save(self, connection: Connection) -> None:
        """Write down the finished hours."""
        with self._lock:
            held = [list(tally.tables.values()) for tally in self._finished]
            arrays = {f"{i}.{j}": table for i, tables in enumerate(held) for j, table in enumerate(tables)}
            about = {
                "kept": [[list(columns) for columns in tally.tables] for tally in self._finished],
                "n": [tally.n for tally in self._finished],
                "hours": {hour: n for hour, n in self.hours.items() if hour <= self.upto},
            }
            buffer, hour = io.BytesIO(), self.upto
            np.savez_compressed(buffer, about=np.array(json.dumps(about)), **arrays)  # type: ignore[arg-type]
            self.stale = False
        connection.execute(delete(tables.snapshots).where(tables.snapshots.c.study == self.study))
        row = {"study": self.study, "hour": hour, "counts": buffer.getvalue()}
        connection.execute(insert(tables.snapshots).values(**row))

    @classmethod
    def load(cls, connection: Connection, study: Study, hour: int) -> Collected:
        """From the last snapshot and the responses that came after it; ``hour`` is the one that runs."""
        made = cls(study)
        known = select(tables.snapshots).where(tables.snapshots.c.study == study.id)
        found = connection.execute(known).mappings().first()
        if found is not None:
            made._restore(found["hour"], found["counts"])
        r = tables.responses.c
        newer = (
            select(r.form, r.codes, r.hour)
            .where(r.study == study.id, r.hour > made.upto, r.codes.is_not(None))
            .execution_options(stream_results=True)
        )
        before = made.responses
        for rows in connection.execute(newer).partitions(_ROWS):
            made._count(rows, hour - 1)
        made.last = max(made.hours, default=-1)
        made.upto = max((one for one in made.hours if one < hour), default=-1)
        made.stale = sum(n for one, n in made.hours.items() if one < hour) > before
        return made

    def _count(self, rows: Iterable[Any], last: int) -> None:
        split: dict[tuple[int, bool], list[bytes]] = {}
        for form, codes, hour in rows:
            split.setdefault((form, hour <= last), []).append(bytes(codes))
            self.hours[hour] += 1
        for (form, done), held in split.items():
            fold((self._finished if done else self._current)[form], self.layouts[form], held)

    def _restore(self, hour: int, counts: bytes) -> None:
        """A snapshot; one that another version of the program wrote differently is passed over, and all is counted."""
        with np.load(io.BytesIO(counts), allow_pickle=False) as held:
            about = json.loads(str(held["about"]))
            mine = [[list(columns) for columns in tally.tables] for tally in self._finished]
            if about["kept"] != mine:
                return
            for i, tally in enumerate(self._finished):
                tally.n = about["n"][i]
                for j, table in enumerate(tally.tables.values()):
                    table[:] = held[f"{i}.{j}"]
        self.hours.update({int(key): n for key, n in about["hours"].items()})
        self.upto = hour


def _sum(old: Tally, new: Tally) -> Tally:
    """Both together, in tables that nobody else changes."""
    return Tally(
        old.scheme, old.n + new.n, {columns: table + new.tables[columns] for columns, table in old.tables.items()}
    )
