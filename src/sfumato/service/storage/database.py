"""The database: opened, brought to the newest version, and kept from a second server."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from sfumato.errors import MissingPartError, SfumatoError
from sfumato.service.storage.migrations import migrate
from sfumato.writing.locked_file import LockedFile

#: What the advisory lock of PostgreSQL is called: the first bytes of "sfumato" as a number.
_LOCK = 0x7366756D61746F
#: That of a transaction that writes; a server that has the other one waits for those which still run.
_WRITES = _LOCK + 1
_PATIENCE = 3.0  # seconds: PostgreSQL lets go of a lock a moment after its holder is gone


_HOLDS = text(
    "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid = :process "
    "AND classid::bigint = :high AND objid::bigint = :low AND objsubid = 1)"
)


class OtherServerError(SfumatoError):
    """Another server writes to this database."""


class Database:
    """An engine for reading and one connection's worth of writing; one server at a time."""

    def __init__(self, url: URL, folder: Path) -> None:
        self.url, self.folder = url, folder
        self.engine = _engine(url)
        self._held: Any = None
        self._process: int | None = None  # of PostgreSQL, which has the lock
        try:
            self._hold()
            with self.engine.begin() as connection:
                migrate(connection)
        except DBAPIError as problem:
            self.close()
            raise SfumatoError(f"the database cannot be opened: {said(problem)}") from None
        except BaseException:
            self.close()
            raise

    def _hold(self) -> None:
        """Keep a second server out: counts and limits are kept in memory, by one process."""
        if self.url.get_backend_name() == "sqlite":
            self._held = LockedFile(self.folder / "server.lock")
            if not self._held.ours:
                raise OtherServerError(
                    f"another server uses the folder {self.folder}: stop it, or choose another folder"
                )
            return
        self._held = self.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        try:
            self._take_lock()
        except BaseException:
            self._let_go()
            raise

    def _take_lock(self) -> None:
        """Both locks, the second for a moment: what another server began to write is there then, and can be read."""
        until = time.monotonic() + _PATIENCE
        for lock in (_LOCK, _WRITES):
            while not self._held.execute(text("SELECT pg_try_advisory_lock(:lock)"), {"lock": lock}).scalar():
                if time.monotonic() > until:
                    raise OtherServerError("another server uses this database: stop it first")
                time.sleep(0.1)
        self._held.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": _WRITES})
        self._process = self._held.execute(text("SELECT pg_backend_pid()")).scalar()

    def _let_go(self) -> None:
        """Close the connection itself: given back to the pool it would keep the lock, also from this server."""
        with suppress(SQLAlchemyError):
            self._held.invalidate()
        with suppress(SQLAlchemyError):
            self._held.close()

    def renewed(self) -> bool:
        """Take the lock again if the connection that held it was lost, as when PostgreSQL restarts; whether it was."""
        if not isinstance(self._held, Connection):
            return False
        try:
            self._held.execute(text("SELECT 1"))
            return False
        except SQLAlchemyError:
            self._let_go()
            self._hold()
            return True

    def alone(self, connection: Connection) -> None:
        """Keep other servers from beginning while the transaction of this connection lasts, or raise if one may have.

        If this server is seen to have its lock once the transaction has the other one, nobody else has had both.
        """
        if not isinstance(self._held, Connection):
            return
        connection.execute(text("SELECT pg_advisory_xact_lock_shared(:lock)"), {"lock": _WRITES})
        mine = {"process": self._process, "high": _LOCK >> 32, "low": _LOCK & 0xFFFFFFFF}
        if not connection.execute(_HOLDS, mine).scalar():
            raise OtherServerError("another server may use this database by now")

    def close(self) -> None:
        if self._held is not None:
            with suppress(DBAPIError):
                self._held.close()
        self.engine.dispose()


def open_database(folder: Path, url: str | None = None) -> Database:
    """The database of a data folder: SQLite inside it, or the one that the URL names."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if url is None:
        (folder / "sfumato.db").touch(mode=0o600)  # whoever else may read the folder
        return Database(URL.create("sqlite", database=str(folder / "sfumato.db")), folder)
    try:
        named = make_url(url)
    except (ArgumentError, ValueError):  # the second: of a port that is no number
        raise SfumatoError("the database URL must look like postgresql://user@host/name") from None
    if named.get_backend_name() not in ("postgresql", "sqlite"):
        raise SfumatoError("the database must be PostgreSQL (postgresql://user@host/name) or SQLite (sqlite:///file)")
    return Database(named.set(drivername="postgresql+psycopg") if "postgres" in named.drivername else named, folder)


def _engine(url: URL) -> Engine:
    if url.get_backend_name() == "sqlite":
        engine = create_engine(url, connect_args={"check_same_thread": False, "timeout": 30})
        event.listen(engine, "connect", _durable_sqlite)
        event.listen(engine, "begin", _begin)
        return engine
    try:
        engine = create_engine(url, pool_pre_ping=True, connect_args={"connect_timeout": 10})
    except ImportError:
        raise MissingPartError.named("PostgreSQL", "psycopg", "server") from None
    event.listen(engine, "connect", _durable_postgresql)
    return engine


def _durable_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say, not where the driver guesses
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _durable_postgresql(connection: Any, _: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit TO on")
    connection.commit()


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN")


def said(problem: DBAPIError) -> str:
    """What the database says, in one line, without the statement and its values."""
    return " ".join(str(problem.orig).split())[:200] if problem.orig is not None else type(problem).__name__
