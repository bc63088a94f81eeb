"""Random operations with lost requests, lost answers, failed commits and crashes: every acknowledged response is there once.

Every response carries a number of its own, so that one counted twice, or taken for another, would show.
"""

from __future__ import annotations

import asyncio
import random
import struct

import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from starlette.testclient import TestClient

import sfumato as sf
from service_client import SCHEME, Clock, new_id
from sfumato.service.app import create_app
from sfumato.service.client import Client
from sfumato.service.collection import open_collection
from sfumato.service.push import push
from sfumato.service.refusals import RefusalError
from sfumato.service.settings import Settings

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")


def scheme():
    """A column to count, and one that holds a number of the response's own."""
    schema = sf.Schema({"car": sf.Categorical(("no", "yes")), "mark": sf.Numeric(0, 1e9, bins=2)})
    return sf.Scheme(schema, {"car": sf.channels.symmetric(2, 0.2), "mark": sf.channels.gaussian(1.0)})


class Failing:
    """Commits that fail, before they reach the disk or after: nobody can tell which."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.share, self.failed = rng, 0.0, 0

    def __call__(self, connection) -> None:
        if self.rng.random() < self.share:
            self.failed += 1
            if self.rng.random() < 0.5:
                if connection.dialect.name == "sqlite":
                    connection.connection.execute("COMMIT")
                else:
                    connection.connection.commit()
            raise OperationalError("COMMIT", {}, Exception("the connection is gone"))


class Respondent:
    """Sends the same answer until it hears that it was taken."""

    def __init__(self, number: int) -> None:
        self.id, self.answers = new_id(), {"car": number % 2, "mark": float(number)}
        self.told: str | None = None


class World:
    def __init__(self, seed: int, folder, url, settings: Settings | None = None) -> None:
        self.rng, self.clock, self.place = random.Random(seed), Clock(), (folder, url, settings)
        self.scheme = scheme()
        self.failing = Failing(self.rng)
        self.open()
        self.collection.writer.now(
            self.collection.studies.create("marks", {"scheme": self.scheme.to_dict(), "minimum": 2})
        )
        self.collection.writer.now(self.collection.studies.open("marks"))
        self.waiting: list[Respondent] = []
        self.done: list[Respondent] = []
        self.deleted: set[str] = set()
        self.number = 0

    def open(self) -> None:
        self.collection = open_collection(*self.place, now=self.clock)
        event.listen(self.collection.database.engine, "commit", self.failing)

    def crash(self) -> None:
        """The process ends without a word: no snapshot is written, nothing is handed over."""
        self.collection.writer.close()
        self.collection.database.close()
        self.open()

    async def send(self, one: Respondent) -> None:
        if self.rng.random() < 0.2:
            return  # the request is lost
        held = self.collection.responses
        try:
            report = held.report("marks", one.id, self.scheme.fingerprint, None, one.answers)
            outcome = (await self.collection.writer.soon(held, report)).status
        except RefusalError as refusal:
            outcome = refusal.code
        if self.rng.random() < 0.2:
            return  # the answer is lost
        assert outcome in ("accepted", "replayed", "busy", "deleted"), outcome
        if outcome != "busy":
            one.told = outcome

    async def round(self, most: int = 30) -> None:
        for _ in range(self.rng.randrange(most) if most else 0):
            self.number += 1
            self.waiting.append(Respondent(self.number))
        sent = [one for one in self.waiting if self.rng.random() < 0.7]
        sent += self.rng.sample(sent, len(sent) // 4)  # some press twice
        sent += self.rng.sample(self.done, min(len(self.done), 3))  # late copies of old requests
        self.rng.shuffle(sent)
        await asyncio.gather(*(self.send(one) for one in sent))
        self.done += [one for one in self.waiting if one.told]
        self.waiting = [one for one in self.waiting if not one.told]

    def delete_one(self) -> None:
        if self.done:
            one = self.rng.choice(self.done)
            try:
                self.collection.writer.now(self.collection.responses.delete("marks", one.id))
            except RefusalError as refusal:
                assert refusal.code == "busy"  # it may be deleted or not: ask again until it is
                return self.settle(one)
            self.deleted.add(one.id)

    def settle(self, one: Respondent) -> None:
        share, self.failing.share = self.failing.share, 0.0
        self.collection.writer.now(self.collection.responses.delete("marks", one.id))
        self.failing.share = share
        self.deleted.add(one.id)

    def check(self) -> None:
        """The disk and the counts hold exactly what was acknowledged, and perhaps what nobody heard of yet."""
        with self.collection.database.engine.connect() as connection:
            rows = connection.exec_driver_sql("SELECT id, codes FROM responses").all()
        held = {row.id: struct.unpack("<Bd", bytes(row.codes)) for row in rows if row.codes is not None}
        sent = {one.id: (one.answers["car"], one.answers["mark"]) for one in [*self.done, *self.waiting]}
        assert len(rows) == len({row.id for row in rows})
        assert all(sent[id] == codes for id, codes in held.items())
        assert {one.id for one in self.done} - self.deleted <= set(held)
        assert not self.deleted & set(held)
        counted = self.collection.responses.collected(self.collection.studies["marks"])
        if not self.collection.writer.failing:
            expected = [sum(car == value for car, _ in held.values()) for value in (0, 1)]
            assert counted.counts(0, ["car"]).tolist() == expected
            assert counted.responses == len(held)


@pytest.mark.parametrize("seed", [1, 2])
def test_every_acknowledged_response_is_there_once(seed, folder, url):
    world = World(seed, folder, url)

    async def some_rounds() -> None:
        for _ in range(4):
            await world.round()

    for step in range(12):
        world.failing.share = 0.5 * (step % 2)
        asyncio.run(some_rounds())
        world.delete_one()
        world.check()
        if world.rng.random() < 0.4:
            world.clock.now += world.rng.randrange(3 * 3600)
        if step % 3 == 2:
            world.failing.share = 0.0
            world.crash()
            world.check()
    world.failing.share = 0.0
    while world.waiting:
        asyncio.run(world.round(0))
    world.check()
    assert world.failing.failed > 0 and len(world.deleted) > 3 and len(world.done) > 200
    world.collection.close()


def test_the_check_sees_a_response_that_counts_twice(folder):
    """The control: a response stored under two ids is found out."""
    world = World(3, folder, None)
    asyncio.run(world.round())
    one = Respondent(world.number)
    one.answers = {"car": 0, "mark": 5.0}
    held = world.collection.responses
    world.collection.writer.now(held, held.report("marks", one.id, world.scheme.fingerprint, None, one.answers))
    with pytest.raises(KeyError):
        world.check()
    world.collection.close()


class Flaky(Client):
    """A client whose requests are lost on the way, or whose answers are; now and then the server ends in between."""

    def __init__(self, world: World, token: str) -> None:
        super().__init__("http://localhost", token, sleep=lambda _: None)
        self._world, self.lost = world, 0
        self._reach()

    def _reach(self) -> None:
        self._server = TestClient(create_app(self._world.collection))

    def _once(self, method, path, body, headers):
        rng = self._world.rng
        if rng.random() < 0.15:
            self.lost += 1
            raise ConnectionResetError
        answer = self._server.request(method, path, content=body, headers=dict(headers))
        if rng.random() < 0.05:
            self._world.crash()
            self._reach()
        if rng.random() < 0.15:
            self.lost += 1
            raise ConnectionResetError
        return answer.status_code, answer.content, answer.headers.get("Retry-After")


def test_every_pushed_file_counts_once(folder, url, tmp_path, monkeypatch):
    """Each file has a number of rows of its own, so that one taken twice, or in part, would show."""
    monkeypatch.setattr("sfumato.service.push.PIECE", 500)
    world = World(4, folder, url, Settings(per_address=0, per_token=0, read_apart=False))
    write = world.collection.writer.now
    write(world.collection.studies.create("rows", {"scheme": SCHEME.to_dict(), "minimum": 2}))
    write(world.collection.studies.open("rows"))
    ((_, token),) = write(world.collection.tokens.make("site", "rows"))
    client, taken = Flaky(world, token), {}
    for number in range(8):
        rows = 2**number
        table = {"car": ["yes"] * rows, "sex": ["M"] * rows}
        file = sf.randomize(table, SCHEME, rng=sf.experiment(number)).save(tmp_path / f"{number}.parquet")
        for _ in range(20):
            try:
                taken[number] = push(client, file, "rows")["rows"]
                break
            except sf.SfumatoError as problem:  # it gave up: whoever pushes starts it again
                assert "does not answer" in str(problem)
    assert taken == {number: 2**number for number in range(8)}
    assert world.collection.uploads.progress("rows") == {"uploads": 8, "rows": 255}
    assert client.lost > 20
    world.collection.close()
