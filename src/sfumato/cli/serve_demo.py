"""The study of sfumato serve --demo: census records in the part of respondents, who answer one after the other."""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING, Any

from sfumato import datasets
from sfumato.owner.randomize import randomize
from sfumato.schema import Categorical, Numeric, Schema
from sfumato.scheme import Scheme

if TYPE_CHECKING:
    from sfumato.service.collection import Collection

STUDY = "census"
#: How many have answered when the page is opened, in the last so many hours, and how many a second answer then.
FIRST, HOURS, RATE = 5_000, 20, 10
SCHEMA = Schema(
    {
        "sex": Categorical(("Female", "Male")),
        "age": Numeric(15, 95, bins=8, clip=True),
        "hours-per-week": Numeric(0, 100, bins=10),
        "income": Categorical(("<=50K", ">50K")),
    }
)
QUESTIONS = {
    "sex": {"text": "Are you a woman or a man?", "labels": {"Female": "A woman", "Male": "A man"}},
    "age": {"text": "How old are you?"},
    "hours-per-week": {"text": "How many hours do you work in a week?"},
    "income": {
        "text": "What do you earn in a year?",
        "labels": {"<=50K": "At most 50 000 dollars", ">50K": "More than 50 000 dollars"},
    },
}


class Shifted:
    """The time, some hours back: the first respondents came before now."""

    def __init__(self) -> None:
        self.back = 3600.0 * HOURS

    def __call__(self) -> float:
        return time.time() - self.back


class DemoStudy:
    """An open study in a collection, and the respondents who have not answered yet. Each is randomized once."""

    def __init__(self, collection: Collection, clock: Shifted, gamma: float = 4.0) -> None:
        self.scheme = Scheme.for_gamma(SCHEMA, gamma)
        fields = {
            "title": "Work and pay",
            "text": "A demonstration. The respondents are 48,842 records of a census of 1994; you may answer too.",
            "scheme": self.scheme.to_dict(),
            "questions": QUESTIONS,
        }
        write = collection.writer.now
        write(collection.studies.create(STUDY, fields))
        write(collection.studies.open(STUDY))
        ((_, self.miner),) = write(collection.tokens.make("miner", STUDY, "demonstration"))
        self._bodies = self._respondents()
        for hour in range(HOURS + 1):
            clock.back = 3600.0 * (HOURS - hour)
            asyncio.run(self._store(collection, -(-FIRST // (HOURS + 1))))
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    async def _store(self, collection: Collection, many: int) -> None:
        held = collection.responses
        reports = [held.report(STUDY, form=None, **next(self._bodies)) for _ in range(many)]
        await asyncio.gather(*(collection.writer.soon(held, report) for report in reports))

    def _respondents(self) -> Iterator[dict[str, Any]]:
        """What each of them sends; rows leave in random order."""
        released = randomize(datasets.load("adult").select(list(SCHEMA.names)), self.scheme).arrow()
        for batch in released.to_batches(max_chunksize=1000):
            for row in batch.to_pylist():
                yield {"id": secrets.token_hex(16), "fingerprint": self.scheme.fingerprint, "answers": row}

    def start(self, host: str, port: int) -> None:
        """Let the others answer over HTTP, as a browser does."""
        self._thread = threading.Thread(target=self._answer, args=(host, port), daemon=True)
        self._thread.start()

    def _answer(self, host: str, port: int) -> None:
        headers = {"content-type": "application/json"}
        for body in self._bodies:
            while not self._stop.wait(1 / RATE):
                line = HTTPConnection(host, port, timeout=10)
                try:
                    line.request("POST", f"/v1/studies/{STUDY}/responses", json.dumps(body), headers)
                    if line.getresponse().status < 400:
                        break  # otherwise the same again, later
                except (OSError, HTTPException):
                    continue
                finally:
                    line.close()
            if self._stop.is_set():
                return

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
