"""What a database keeps beside its tables, and how it is made to forget that.

SQLite writes to a log first (``sfumato.db-wal``). It holds the last answers one after the other, also those that were
deleted, and each beside the invitation it came with. In the file itself, the rows of a page lie in the order in which
they came, until the page is split. PostgreSQL knows of every row the transaction that wrote it, and its place: a used
invitation has the transaction of its response, and those that were used lie in the order of use.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

from sqlalchemy import text

from sfumato.service.storage.database import Database

#: A file of SQLite is written anew up to so many bytes, in a twentieth of a second. Nearly every page of a larger one
#: has been split.
REWRITTEN = 1 << 21


class Traces:
    """The traces of one database; whoever writes calls ``forget`` in a moment of rest."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._mixed: list[str] = []  # the transaction of all used invitations, since they were last written

    def forget(self) -> bool:
        """Whether nothing is left; what somebody reads meanwhile stays until the next time."""
        if self._database.engine.dialect.name == "sqlite":
            return self._forget_log()
        self._mix_invitations()
        return True

    def _forget_log(self) -> bool:
        with closing(self._database.engine.raw_connection()) as held:
            ask: Any = held.cursor().execute
            (patience,) = ask("PRAGMA busy_timeout").fetchone()
            ask("PRAGMA busy_timeout = 0")  # answers wait while this does
            ask("PRAGMA temp_store = MEMORY")  # no copy of the rows elsewhere
            try:
                pages, size = (ask(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
                if pages * size <= REWRITTEN:
                    ask("VACUUM")
                return not int(ask("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0])
            except sqlite3.OperationalError:  # somebody reads, or the disk is full
                return False
            finally:
                ask(f"PRAGMA busy_timeout = {patience}")

    def _mix_invitations(self) -> None:
        """Write all used invitations in one transaction of their own, then all in the order of their random ids."""
        patience = text("SET LOCAL lock_timeout = '100ms'")  # answers wait while this does: a backup reads for hours
        marks = text("SELECT DISTINCT xmin::text FROM tokens WHERE used IS NOT NULL")
        with self._database.engine.begin() as held:
            self._database.alone(held)
            held.execute(patience)
            if held.execute(marks).scalars().all() == self._mixed:
                return
            held.execute(text("UPDATE tokens SET used = used WHERE used IS NOT NULL"))
            mixed = list(held.execute(marks).scalars())
        with self._database.engine.begin() as held:
            self._database.alone(held)
            held.execute(patience)
            held.execute(text("CLUSTER tokens USING tokens_pkey"))
        self._mixed = mixed
