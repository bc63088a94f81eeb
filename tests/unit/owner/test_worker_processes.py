"""Pieces of work are done once each, by others and by this process."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import pytest

from sfumato.errors import ReleaseError
from sfumato.owner import worker_processes
from sfumato.owner.worker_processes import workers


def work(job, number):
    time.sleep(0.01)
    return number, threading.current_thread() is threading.main_thread()


@pytest.fixture
def threads(monkeypatch):
    """Threads in place of processes, which take seconds to begin."""
    monkeypatch.setattr(worker_processes, "get_context", lambda _: None)
    monkeypatch.setattr(
        worker_processes,
        "ProcessPoolExecutor",
        lambda jobs, _, initializer, initargs: ThreadPoolExecutor(jobs),
    )
    monkeypatch.setattr(worker_processes, "_job", "job")


@pytest.mark.parametrize("jobs", [1, 2, 5])
@pytest.mark.parametrize("pieces", [0, 1, 2, 40])
def test_every_piece_is_done_once_and_some_of_many_here(threads, jobs, pieces):
    with workers("job", jobs) as run:
        found = list(run(work, [(number,) for number in range(pieces)]))
        again = list(run(work, [(number,) for number in range(pieces)]))
    assert sorted(number for number, _ in found) == sorted(number for number, _ in again) == list(range(pieces))
    here = sum(own for _, own in found)
    assert here == pieces if jobs == 1 else here <= pieces
    if pieces == 40 and jobs > 1:
        assert 0 < here < pieces


def test_a_process_that_was_ended_is_told_in_one_line(threads):
    def ended(job, number):
        if number < 0:
            raise BrokenProcessPool
        return number

    with pytest.raises(ReleaseError, match=r"is kept\. .*__main__"), workers("job", 2) as run:
        list(run(ended, [(-1,)]))
    with pytest.raises(ReleaseError, match="is kept$"), workers("job", 2) as run:  # which had begun well
        assert list(run(ended, [(1,)])) == [1]
        list(run(ended, [(-1,)]))
