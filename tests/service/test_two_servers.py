"""Two servers at one PostgreSQL: only the one that holds the lock writes, also after the lock was lost."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Connection, event, text
from sqlalchemy.exc import DataError, OperationalError

from service_client import SCHEME, Clock, new_id
from sfumato.errors import SfumatoError
from sfumato.service.collection import Collection, open_collection
from sfumato.service.refusals import RefusalError
from sfumato.service.storage import database
from sfumato.service.storage.writer import Alone

LOST = "SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = 'advisory'"


@pytest.fixture
def first(folder, postgres, monkeypatch):
    """A server that lost its lock, as it does when the database restarts."""
    monkeypatch.setattr(database, "_PATIENCE", 0.2)
    postgres.clear()
    held = open_collection(folder, postgres.url, now=Clock())
    held.writer.now(held.studies.create("commuting", {"scheme": SCHEME.to_dict(), "minimum": 2}))
    held.writer.now(held.studies.open("commuting"))
    with held.database.engine.connect() as connection:
        connection.execute(text(LOST))
    yield held
    held.close()


def respond(held: Collection) -> str:
    report = held.responses.report("commuting", new_id(), SCHEME.fingerprint, None, {"car": 1, "sex": 0})
    status: str = held.writer.now(held.responses, report).status
    return status


def counted(held: Collection) -> int:
    return held.responses.collected(held.studies["commuting"]).responses


def test_a_server_takes_its_lock_again(first, folder, postgres) -> None:
    assert respond(first) == "accepted"
    with pytest.raises(SfumatoError, match="another server"):
        open_collection(folder / "other", postgres.url, now=Clock())


def test_a_server_whose_check_failed_does_not_keep_itself_out(folder, postgres, monkeypatch) -> None:
    """The connection lives on: in the pool it would hold the lock that the next one waits for."""
    monkeypatch.setattr(database, "_PATIENCE", 0.2)
    postgres.clear()
    held = open_collection(folder, postgres.url, now=Clock())
    failures = iter([True, True])

    def fail(_: Any, __: Any, statement: str, *___: Any) -> None:
        if statement == "SELECT 1" and next(failures, False):
            raise OperationalError(statement, {}, Exception("a moment without the network"))

    try:
        held.writer.now(held.studies.create("commuting", {"scheme": SCHEME.to_dict(), "minimum": 2}))
        held.writer.now(held.studies.open("commuting"))
        event.listen(held.database.engine, "before_cursor_execute", fail)
        with held.database.engine.connect(), held.database.engine.connect():  # others are at hand in the pool
            pass
        assert [respond(held), respond(held), respond(held)] == ["accepted"] * 3 and next(failures, None) is None
        with pytest.raises(SfumatoError, match="another server"):
            open_collection(folder / "other", postgres.url, now=Clock())
    finally:
        held.close()


def test_a_server_whose_place_was_taken_writes_nothing_until_it_is_alone(first, folder, postgres) -> None:
    second = open_collection(folder / "other", postgres.url, now=Clock())
    assert respond(second) == "accepted"
    for _ in range(2):
        with pytest.raises(RefusalError, match="cannot store this now"):
            respond(first)
    assert first.writer.failing and (counted(first), counted(second)) == (0, 1)
    second.close()
    assert respond(first) == "accepted" and counted(first) == 2


def test_a_server_waits_for_what_another_one_still_writes(folder, postgres, monkeypatch) -> None:
    """It read the tables before that was there, and showed wrong counts until its next start."""
    monkeypatch.setattr(database, "_PATIENCE", 0.2)
    postgres.clear()
    held = open_collection(folder, postgres.url, now=Clock())

    def write(connection: Connection) -> None:
        connection.execute(text("UPDATE studies SET state = state"))
        with held.database.engine.connect() as other:
            other.execute(text(LOST + " AND mode = 'ExclusiveLock'"))
        open_collection(folder / "other", postgres.url, now=Clock()).close()

    try:
        with pytest.raises(RefusalError, match="cannot store this now"):  # the other one does not begin
            held.writer.now(Alone(write))
        open_collection(folder / "other", postgres.url, now=Clock()).close()
    finally:
        held.close()


def test_a_server_that_lost_its_lock_in_a_transaction_stores_nothing(folder, postgres, monkeypatch) -> None:
    """Between the look at its lock and the transaction another one may have begun, and read the tables."""
    monkeypatch.setattr(database, "_PATIENCE", 0.2)
    postgres.clear()
    held = open_collection(folder, postgres.url, now=Clock())
    looked = held.writer.renewed

    def lose() -> bool:
        found = looked()
        with held.database.engine.connect() as other:
            other.execute(text(LOST))
        return found

    try:
        held.writer.now(held.studies.create("commuting", {"scheme": SCHEME.to_dict(), "minimum": 2}))
        held.writer.now(held.studies.open("commuting"))
        held.writer.renewed = lose
        with pytest.raises(RefusalError, match="cannot store this now"):
            respond(held)
        held.writer.renewed = looked
        assert respond(held) == "accepted" and counted(held) == 1
    finally:
        held.close()


def test_values_that_the_database_does_not_take_stop_nobody_else(first) -> None:
    respond(first)
    with pytest.raises(DataError):
        first.writer.now(Alone(lambda connection: connection.execute(text("SELECT 9223372036854775808::bigint"))))
    assert not first.writer.failing and respond(first) == "accepted"
