"""One thread writes: whatever waits at the time is committed together, and acknowledged only after that.

A commit that reaches the disk takes milliseconds, whatever it holds. With one commit for all that waits, a thousand
responses a second need a hundred commits, and not a thousand.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DataError, SQLAlchemyError

from sfumato.service.refusals import busy
from sfumato.service.storage.database import OtherServerError

#: The most jobs that are committed together.
TOGETHER = 1000
#: The most jobs that may wait; beyond it clients are asked to come back.
WAITING = 20_000
#: Seconds of rest after which the database forgets its traces, and the most until it does while there is no rest.
REST, BUSY = 1.0, 60.0
#: How many times as long as it took to forget is left for writing.
SPARED = 20


class Kind(Protocol):
    """How jobs of one kind are written. Those that wait at the same time are written together."""

    def write(self, connection: Connection, jobs: Sequence[Any]) -> list[Any]:
        """The outcome of each, inside a transaction; an outcome that is an exception is raised at whoever asked."""
        ...

    def committed(self, jobs: Sequence[Any], outcomes: Sequence[Any]) -> None:
        """Called once they are on the disk, before anybody hears of it."""
        ...


@dataclass(frozen=True)
class Alone:
    """A function of a connection, written in a transaction of its own; ``then`` is called once it is committed."""

    run: Callable[[Connection], Any]
    then: Callable[[Any], None] | None = None

    def write(self, connection: Connection, jobs: Sequence[Any]) -> list[Any]:
        return [self.run(connection)]

    def committed(self, jobs: Sequence[Any], outcomes: Sequence[Any]) -> None:
        if self.then is not None:
            self.then(outcomes[0])


class _Waiting:
    """A job, and who waits for it: a thread (``future``) or a coroutine (``loop`` and its future)."""

    __slots__ = ("future", "job", "kind", "loop")

    def __init__(self, kind: Kind, job: Any, future: Any, loop: asyncio.AbstractEventLoop | None) -> None:
        self.kind, self.job, self.future, self.loop = kind, job, future, loop


class Writer:
    """The writing thread of one database.

    After a commit that failed nobody knows whether it reached the disk. Then ``reload`` reads again what memory holds,
    before anything more is written. ``renewed`` sees to it that no other server writes, and says whether one may have.
    ``alone`` keeps another one from beginning before a transaction ends. ``forget`` takes away what the database keeps
    beside its tables, and says whether it could.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.reload: Callable[[Connection], None] = lambda _: None
        self.renewed: Callable[[], bool] = lambda: False
        self.alone: Callable[[Connection], None] = lambda _: None
        self.forget: Callable[[], bool] = lambda: True
        self._traced: float | None = time.monotonic()  # since when there may be traces: also of one that was killed
        self._rest = REST
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._closed = False
        self.failing = False  # whether the last commit failed
        self.commits = 0
        self._thread = threading.Thread(target=self._run, name="sfumato writer", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        return self._queue.qsize()

    def now(self, kind: Kind, job: Any = None) -> Any:
        """Write it, and wait in this thread until it is on the disk."""
        future: Future[Any] = Future()
        self._put(_Waiting(kind, job, future, None))
        return future.result()

    def soon(self, kind: Kind, job: Any = None) -> asyncio.Future[Any]:
        """Write it; the future is done when it is on the disk."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._put(_Waiting(kind, job, future, loop))
        return future

    def later(self, kind: Kind) -> None:
        """Write it when there is time; nobody waits."""
        if not self._closed:
            self._queue.put(_Waiting(kind, None, Future(), None))

    def _put(self, one: _Waiting) -> None:
        if self._closed or self._queue.qsize() >= WAITING:
            raise busy()
        self._queue.put(one)

    def close(self) -> None:
        """Write what waits, and stop."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
            self._thread.join()

    def _run(self) -> None:
        held: _Waiting | None = None
        while True:
            first = held if held is not None else self._next()
            held = None
            if first is None:
                return
            together, stop = [first], False
            while len(together) < TOGETHER and not isinstance(first.kind, Alone):
                try:
                    more = self._queue.get_nowait()
                except queue.Empty:
                    break
                if more is None:
                    stop = True
                    break
                if more.kind is not first.kind:
                    held = more
                    break
                together.append(more)
            self._write(first.kind, together)
            if stop:
                self._queue.put(None)

    def _next(self) -> _Waiting | None:
        """The next job. When none comes for a moment, and else now and then, the database forgets its traces."""
        while self._traced is not None:
            if time.monotonic() < self._traced + max(BUSY, self._rest):
                try:
                    return self._queue.get(timeout=self._rest)
                except queue.Empty:
                    pass
            began = time.monotonic()
            try:
                done = self.forget()
            except (SQLAlchemyError, sqlite3.Error, OtherServerError):  # whoever writes next finds out more
                done = False
            ended = time.monotonic()
            self._traced = None if done else ended
            self._rest = max(SPARED * (ended - began), REST if done else min(2 * self._rest, BUSY))
        return self._queue.get()

    def _write(self, kind: Kind, waiting: list[_Waiting]) -> None:
        jobs = [one.job for one in waiting]
        try:
            self.failing |= self.renewed()
            with self._engine.connect() as connection, connection.begin():
                self.alone(connection)
                if self.failing:
                    self.reload(connection)
                outcomes = kind.write(connection, jobs)
            self.failing = False
            self.commits += 1
            self._traced = self._traced or time.monotonic()
            kind.committed(jobs, outcomes)
        except DataError as problem:  # the database does not take these values: nothing was written
            outcomes = [problem] * len(waiting)
        except (SQLAlchemyError, OtherServerError):
            self.failing = True
            outcomes = [busy() for _ in waiting]
        except Exception as problem:
            outcomes = [problem] * len(waiting)
        _deliver(waiting, outcomes)


def _deliver(waiting: list[_Waiting], outcomes: Sequence[Any]) -> None:
    loops: dict[asyncio.AbstractEventLoop, list[tuple[Any, Any]]] = {}
    for one, outcome in zip(waiting, outcomes, strict=True):
        if one.loop is not None:
            loops.setdefault(one.loop, []).append((one.future, outcome))
        elif isinstance(outcome, Exception):
            one.future.set_exception(outcome)
        else:
            one.future.set_result(outcome)
    for loop, found in loops.items():
        try:
            loop.call_soon_threadsafe(_settle, found)  # once for all of them: waking the loop is what costs
        except RuntimeError:  # the loop is gone, and with it everybody who waited
            continue


def _settle(found: list[tuple[Any, Any]]) -> None:
    for future, outcome in found:
        if future.done():  # whoever waited has gone
            continue
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
