"""Work in a process of its own: limits on time and memory, and after each of them the next request is answered."""

from __future__ import annotations

import contextlib
import threading
import time

import pytest

from sfumato.service.refusals import RefusalError
from sfumato.service.worker import MB, Worker

MODULE = """
import time
from sfumato.errors import SfumatoError
from sfumato.service.refusals import RefusalError

def answered(request):
    match request["do"]:
        case "sleep":
            time.sleep(60)
        case "eat":
            bytearray(1 << 31)
        case "crash":
            raise KeyError("raw value 4711")
        case "refuse":
            raise RefusalError("malformed", "not so", where="do")
        case "fail":
            raise SfumatoError("that cannot be")
    return {"said": request["do"]}
"""


@pytest.fixture
def worker(tmp_path, monkeypatch):
    (tmp_path / "sfumato_worker_at_test.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    held = Worker("sfumato_worker_at_test", 1.0, 600 * MB)
    yield held
    held.close()


def test_what_takes_too_much_is_refused_and_the_next_is_answered(worker):
    assert worker.ask({"do": "ä\n"}) == {"said": "ä\n"}
    for what, words in (("sleep", "longer than 1 seconds"), ("eat", "more memory")):
        with pytest.raises(RefusalError, match=words) as refused:
            worker.ask({"do": what})
        assert refused.value.code == "not_possible"
        assert worker.ask({"do": "next"}) == {"said": "next"}


def test_what_takes_too_much_is_told_with_the_limit_and_the_advice(tmp_path, monkeypatch):
    (tmp_path / "sfumato_worker_out_of_memory.py").write_text("def answered(request):\n    raise MemoryError\n")
    monkeypatch.syspath_prepend(tmp_path)
    held = Worker("sfumato_worker_out_of_memory", 1.0, 600 * MB, apart=False, advice=lambda given: f"less of {given}")
    with pytest.raises(RefusalError, match=r"more memory than 600 MB, the most here: less of {'a': 1}$"):
        held.ask({"a": 1})


def test_refusals_pass_through_and_mistakes_say_nothing_of_what_was_asked(worker):
    for what, code, details in (("refuse", "malformed", {"where": "do"}), ("fail", "not_possible", {})):
        with pytest.raises(RefusalError) as refused:
            worker.ask({"do": what})
        assert (refused.value.code, refused.value.details) == (code, details)
    with pytest.raises(RuntimeError) as failed:
        worker.ask({"do": "crash"})
    assert "4711" not in str(failed.value)


def test_more_than_may_wait_are_sent_away_and_all_of_them_at_the_end(worker):
    worker.ask({"do": "start"})
    waiting = [threading.Thread(target=_quietly, args=(worker,)) for _ in range(8)]
    for one in waiting:
        one.start()
    time.sleep(0.2)
    with pytest.raises(RefusalError) as refused:
        worker.ask({"do": "one too many"})
    assert (refused.value.code, refused.value.details) == ("busy", {"seconds": 2})
    process = worker._process
    worker.close()
    assert process.poll() is not None  # it ends with the server
    for one in waiting:
        one.join(20)


def _quietly(worker):
    with contextlib.suppress(RefusalError, RuntimeError):
        worker.ask({"do": "sleep"})
