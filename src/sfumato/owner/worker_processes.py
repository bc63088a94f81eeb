"""The pieces of a long randomization, shared out between this process and others."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from typing import Any

from sfumato.errors import ReleaseError
from sfumato.owner.scatter import Job

#: Pieces that a process has been given: one that it does, and one that waits for it.
_AHEAD = 2

_ENDED = (
    "a process that did a part of the work was ended, perhaps for want of memory: run the same again, what was "
    "finished is kept"
)
_READ_FIRST = (
    ". A script that calls this must do so below if __name__ == '__main__': (or with jobs=1), because every process "
    "reads the script first"
)


@contextmanager
def workers(job: Job, jobs: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """Something that does a piece of work for every tuple of arguments, and tells the outcomes as they come.

    This process does its share: it has begun already, while others take seconds to begin.
    """
    if jobs <= 1:
        yield lambda work, each: (work(job, *arguments) for arguments in each)
        return
    pool = ProcessPoolExecutor(jobs - 1, get_context("spawn"), initializer=_begin, initargs=(job,))

    begun = False

    def run(work: Callable[..., Any], each: list[tuple[Any, ...]]) -> Iterator[Any]:
        nonlocal begun
        left, given = deque(each), set[Future[Any]]()
        try:
            while left or given:
                while left and len(given) < _AHEAD * (jobs - 1):
                    given.add(pool.submit(_do, work, left.popleft()))
                if left:
                    yield work(job, *left.popleft())
                else:
                    wait(given, return_when=FIRST_COMPLETED)
                for one in [one for one in given if one.done()]:
                    given.remove(one)
                    outcome = one.result()
                    begun = True
                    yield outcome
        except BrokenProcessPool:
            raise ReleaseError(_ENDED + ("" if begun else _READ_FIRST)) from None

    try:
        yield run
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_job: Job | None = None


def _begin(job: Job) -> None:
    """In a process of its own: one thread each, the processes are what runs at the same time."""
    import pyarrow as pa

    global _job
    _job = job
    pa.set_cpu_count(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A process whose parent was killed would wait for ever, with the key, and still write where another run works."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _do(work: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    if _job is None:
        raise ReleaseError("this process was told no job")
    return work(_job, *arguments)
