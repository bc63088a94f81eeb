"""What somebody learns who reads the disk of a server, or its database, and not its answers.

Told was the order in which people answered, which invitation came with which response, and what was withdrawn.
"""

from __future__ import annotations

import random
import threading
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from service_client import SCHEME, Clock, new_id
from sfumato.service.collection import Collection, open_collection
from sfumato.service.storage import writer
from sfumato.service.storage.traces import Traces


@pytest.fixture
def invited(folder, url):
    """A server whose study takes invitations, and that forgets when the tests say so."""
    held = open_collection(folder, url, now=Clock())
    held.writer.forget = lambda: True
    held.writer.now(held.studies.create("commuting", {"scheme": SCHEME.to_dict(), "access": "invitation"}))
    held.writer.now(held.studies.open("commuting"))
    yield held
    held.close()


def answers(held: Collection, people: int = 30) -> list[tuple[str, str]]:
    """People who answer one after the other: the ids of their invitation and of their response."""
    made = held.writer.now(held.tokens.make("invitation", "commuting", "", people))
    random.Random(5).shuffle(made)
    out = []
    for token, secret in made:
        given = {"car": 1, "sex": 2}
        report = held.responses.report("commuting", new_id(), SCHEME.fingerprint, None, given, token, secret)
        held.writer.now(held.responses, report)
        out.append((token.id, report.id))
    return out


def on_the_disk(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.glob("sfumato.db*")))


def in_order(places: list[int]) -> float:
    """The share of pairs that lie in the order of the list, or against it: 1/2 by chance."""
    found = [a < b for a, b in combinations(places, 2)]
    return max(sum(found), len(found) - sum(found)) / len(found)


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_the_disk_does_not_tell_who_answered_after_whom(invited, folder) -> None:
    """All 435 pairs of 30 answers could be told, from the log and from the file."""
    sent = answers(invited)
    assert Traces(invited.database).forget()
    held = on_the_disk(folder)
    for at in (0, 1):  # the table, and the index
        start = 0 if not at else min(held.find(id.encode()) for _, id in sent) + 4096
        places = [held.find(id.encode(), start) for _, id in sent]
        assert -1 in places or in_order(places) < 0.8
    assert not (folder / "sfumato.db-wal").read_bytes()


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_what_was_withdrawn_leaves_the_disk(invited, folder) -> None:
    """Codes and receipt stood in the log, many times, until hundreds of others had answered."""
    (_, id), *_ = answers(invited, 3)
    with invited.database.engine.connect() as connection:
        receipt = invited.responses.find(connection, "commuting", id).receipt
    assert receipt in on_the_disk(folder)
    invited.writer.now(invited.responses.delete("commuting", id))
    assert Traces(invited.database).forget()
    assert receipt not in on_the_disk(folder) and id.encode() in on_the_disk(folder)


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_who_reads_is_waited_for(invited) -> None:
    answers(invited, 3)
    with invited.database.engine.connect() as connection:
        connection.execute(text("SELECT * FROM responses")).first()
        assert not Traces(invited.database).forget()
    assert Traces(invited.database).forget()


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_the_database_does_not_tell_whose_invitation_came_with_a_response(invited) -> None:
    """A join of both tables by the transaction that wrote the rows named all of them; so did their places."""
    sent = answers(invited)
    linked = "SELECT count(*) FROM tokens t JOIN responses r ON t.xmin::text = r.xmin::text WHERE t.used IS NOT NULL"
    with invited.database.engine.connect() as connection:
        assert connection.execute(text(linked)).scalar() == len(sent)
    assert Traces(invited.database).forget()
    with invited.database.engine.connect() as connection:
        assert connection.execute(text(linked)).scalar() == 0
        used = connection.execute(text("SELECT xmin::text, id FROM tokens WHERE used IS NOT NULL ORDER BY ctid")).all()
    assert len({mark for mark, _ in used}) == 1
    assert [id for _, id in used] == sorted(id for _, id in used)


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_a_backup_is_not_waited_for(invited) -> None:
    """It reads the invitations to its end, and nobody's answer was stored until then."""
    answers(invited, 3)
    with invited.database.engine.connect() as connection:
        connection.execute(text("LOCK TABLE tokens IN ACCESS SHARE MODE"))
        with pytest.raises(OperationalError, match="lock timeout"):
            Traces(invited.database).forget()
    assert Traces(invited.database).forget()


@pytest.mark.parametrize("url", ["sqlite", "postgresql"], indirect=True)
def test_a_server_that_rests_forgets_by_itself(invited, monkeypatch) -> None:
    done, traces = threading.Event(), Traces(invited.database)
    monkeypatch.setattr(invited.writer, "_rest", 0.01)
    monkeypatch.setattr(invited.writer, "forget", lambda: traces.forget() and (done.set() or True))
    answers(invited, 2)
    assert done.wait(30)


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)
def test_who_takes_long_to_forget_forgets_seldom(invited, monkeypatch) -> None:
    """A hundred thousand used invitations take PostgreSQL seconds, in which nobody's answer is stored."""
    now, began = [0.0], threading.Event()

    def slowly() -> bool:
        now[0] += 5
        began.set()
        return True

    monkeypatch.setattr(writer, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(invited.writer, "_rest", 0.01)
    monkeypatch.setattr(invited.writer, "forget", slowly)
    answers(invited, 2)
    assert began.wait(30)
    answers(invited, 1)
    assert (invited.writer._rest, now) == (100.0, [5.0])
