"""All studies, kept in memory and on the disk: made, changed, opened, closed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update

from sfumato.service.clock import Clock, hour_of
from sfumato.service.refusals import RefusalError
from sfumato.service.storage import tables
from sfumato.service.storage.writer import Alone
from sfumato.service.study import Study, new_study


class Studies:
    """The studies of one server. What changes them is a job for the writer; memory follows once it is on the disk."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._held: dict[str, Study] = {}
        self.dropped: list[Callable[[str], None]] = []  # who hears of a study that was deleted

    def load(self, connection: Connection) -> None:
        """Read what the database holds."""
        found = connection.execute(select(tables.studies).order_by(tables.studies.c.id)).mappings().all()
        self._held = {row["id"]: Study(**{**row, "document": _read(row)}) for row in found}

    def __iter__(self) -> Iterator[Study]:
        return iter(list(self._held.values()))

    def __getitem__(self, id: str) -> Study:
        try:
            return self._held[id]
        except KeyError:
            raise _unknown() from None

    def public(self, id: str) -> Study:
        """A study that strangers may know of. A draft is none: its id may say what is going to be asked."""
        found = self[id]
        if found.state == "draft":
            raise _unknown()
        return found

    def create(self, id: str, fields: Mapping[str, Any]) -> Alone:
        """A draft; the outcome is the study, and whether it is new."""
        made = new_study(id, fields, hour_of(self._clock()))

        def run(connection: Connection) -> tuple[Study, bool]:
            known = self._held.get(id)
            if known is not None:
                if dict(known.document) != dict(made.document):
                    raise RefusalError("conflict", "there is another study with this id")
                return known, False
            connection.execute(insert(tables.studies).values(**_row(made)))
            return made, True

        return Alone(run, lambda outcome: self._keep(outcome[0]))

    def change(self, id: str, fields: Mapping[str, Any]) -> Alone:
        """Some fields of a study, as far as its state allows."""
        return self._moved(id, lambda study: study.changed(fields))

    def open(self, id: str) -> Alone:
        """From draft to open; a study that is open stays so."""

        def opened(study: Study) -> Study:
            if study.state == "closed":
                raise RefusalError("closed", f"the study {study.id!r} is closed, and does not open again")
            now = hour_of(self._clock())
            return study if study.state == "open" else replace(study, state="open", opened=now)

        return self._moved(id, opened)

    def close(self, id: str) -> Alone:
        """From open to closed; a study that is closed stays so."""

        def closed(study: Study) -> Study:
            if study.state == "draft":
                raise RefusalError("too_early", f"the study {study.id!r} was never open: delete it, or open it")
            now = hour_of(self._clock())
            return study if study.state == "closed" else replace(study, state="closed", closed=now)

        return self._moved(id, closed)

    def delete(self, id: str) -> Alone:
        """Remove a draft, with its tokens."""

        def run(connection: Connection) -> Study:
            study = self[id]
            if study.state != "draft":
                raise RefusalError("frozen", f"the study is {study.state}: only a draft can be deleted")
            connection.execute(delete(tables.tokens).where(tables.tokens.c.study == id))
            connection.execute(delete(tables.studies).where(tables.studies.c.id == id))
            return study

        return Alone(run, self._drop)

    def _drop(self, study: Study) -> None:
        self._held.pop(study.id, None)
        for told in self.dropped:
            told(study.id)

    def _moved(self, id: str, move: Callable[[Study], Study]) -> Alone:
        def run(connection: Connection) -> Study:
            after = move(self[id])
            connection.execute(update(tables.studies).where(tables.studies.c.id == id).values(**_row(after)))
            return after

        return Alone(run, self._keep)

    def _keep(self, study: Study) -> None:
        self._held[study.id] = study


def _unknown() -> RefusalError:
    return RefusalError("unknown_study", "there is no such study")


def _row(study: Study) -> dict[str, Any]:
    row = {name: getattr(study, name) for name in ("id", "state", "created", "opened", "closed")}
    return {**row, "document": json.dumps(dict(study.document), ensure_ascii=False)}


def _read(row: Any) -> dict[str, Any]:
    return dict(json.loads(row["document"]))
