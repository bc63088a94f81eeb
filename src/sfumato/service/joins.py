"""The tables of records whose columns several parties pushed: computed when a file is taken, and kept."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import Connection, delete, insert, select

from sfumato.service import reader
from sfumato.service.packed_tables import PackedTables
from sfumato.service.parties import Held
from sfumato.service.refusals import RefusalError
from sfumato.service.storage import tables
from sfumato.service.storage.writer import Alone, Writer
from sfumato.service.study import Study
from sfumato.service.upload import Upload

_j = tables.joins.c


class Joins:
    """The joined tables of every study, by the key of the pseudonyms."""

    def __init__(self, folder: Path, writer: Writer, apart: bool = True) -> None:
        self._apart = apart
        self._folder, self._writer = folder, writer
        self._held: dict[tuple[str, str], tuple[list[str], PackedTables]] = {}
        self._joining = threading.Lock()

    def load(self, connection: Connection) -> None:
        """Read what the database holds."""
        self._held = {}
        for row in connection.execute(select(tables.joins)).mappings():
            packed = PackedTables(json.loads(row["parts"]), bytes(row["counts"]))
            self._held[row["study"], row["link"]] = (json.loads(row["uploads"]), packed)

    def note(self, upload: Upload) -> str | None:
        """What a party has to know of columns that were taken and do not count: nobody else has their records yet."""
        if upload.state != "accepted" or upload.about is None or upload.about["attributes"] is None:
            return None
        _, packed = self._held.get((upload.study, upload.about["link"]), ([], None))
        if packed is not None and packed.about["rows"]:
            return None
        return (
            "its rows do not count yet: no record has the columns of all parties. They wait for other files, "
            "or the pseudonyms of the parties do not match"
        )

    def tables(self, study: Study, link: str, held: Sequence[Held], wait: bool = False) -> PackedTables:
        """From memory where these very files were joined before; otherwise computed now, and written down.

        While somebody else joins, there is the table from before, or none yet; ``wait`` waits for the new one.
        """
        whose = sorted(one["id"] for one in held)
        known = self._held.get((study.id, link))
        if known is not None and known[0] == whose:
            return known[1]
        if not self._joining.acquire(blocking=wait):
            if known is not None:
                return known[1]
            raise RefusalError("busy", "the columns of several parties are being joined: ask again later", seconds=5)
        try:
            known = self._held.get((study.id, link))
            if known is not None and known[0] == whose:
                return known[1]
            about, counts = reader.join(study, self._folder / study.id, held, self._apart)
            packed = PackedTables(about, counts)
            row = {"uploads": json.dumps(whose), "parts": json.dumps(about), "counts": counts}

            def run(connection: Connection) -> None:
                connection.execute(delete(tables.joins).where(_j.study == study.id, _j.link == link))
                connection.execute(insert(tables.joins).values(study=study.id, link=link, **row))

            self._writer.now(Alone(run))
            self._held[study.id, link] = (whose, packed)
            return packed
        finally:
            self._joining.release()

    def drop(self, study: str, link: str) -> None:
        """Forget the table of files of which one was deleted: a next look makes that of the others."""

        def run(connection: Connection) -> None:
            connection.execute(delete(tables.joins).where(_j.study == study, _j.link == link))

        with self._joining:  # whoever still joins them writes before this
            self._writer.now(Alone(run))
            self._held.pop((study, link), None)
