"""Work that may take long, in a process of its own: ``python -m sfumato.service.worker MODULE``.

The process answers one request after the other, each a line of JSON, by the function ``answered`` of a module. It has a
limit on its memory, and every answer one on its time: what takes longer is broken off together with the process, and
the next request starts another one. So the server goes on collecting, whatever it is asked to work out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any

from sfumato.errors import SfumatoError
from sfumato.service.own_process import environment, limit_memory
from sfumato.service.refusals import RefusalError

MB = 1 << 20
_START = 60.0  # seconds until the process must be ready: it loads the package first
_WAITING = 8  # requests that may wait for their turn; more are sent away, so that they do not fill the server's threads


class Worker:
    """Answers requests one after the other. ``apart`` is False in tests that need no process.

    ``advice`` says of a request that takes too much what to do instead.
    """

    def __init__(
        self,
        module: str,
        seconds: float,
        memory: int = 1024 * MB,
        apart: bool = True,
        advice: Callable[[dict[str, Any]], str] = lambda _: "ask about less",
    ) -> None:
        self._module, self._seconds, self._memory, self._apart, self._advice = module, seconds, memory, apart, advice
        self._turn, self._room = threading.Lock(), threading.BoundedSemaphore(_WAITING)
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer; refused where the module refuses, or where it takes too much time or memory."""
        if not self._apart:
            return self._outcome(answer(self._module, request), request)
        if not self._room.acquire(blocking=False):
            raise _busy()
        try:
            if not self._turn.acquire(timeout=2 * self._seconds):
                raise _busy()
            try:
                if self._closed:
                    raise _busy()
                return self._outcome(self._asked(request), request)
            finally:
                self._turn.release()
        finally:
            self._room.release()

    def close(self) -> None:
        """End the process, if there is one; who waits for it is sent away."""
        self._closed = True
        if self._process is not None:
            self._process.kill()
        with self._turn:
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with process:  # closes its pipes, and waits until it is gone
                pass

    def _asked(self, request: dict[str, Any]) -> dict[str, Any]:
        process = self._started()
        line, late = _exchange(process, json.dumps(request).encode() + b"\n", self._seconds)
        if line:
            found: dict[str, Any] = json.loads(line)
            return found
        self._end()
        status = process.returncode
        if late:
            raise RefusalError(
                "not_possible",
                f"this takes longer than {self._seconds:g} seconds, the most here: {self._advice(request)}",
                seconds=2,
            )
        if self._closed:
            raise _busy()
        if status < 0:
            raise self._too_much_memory(request)
        raise RuntimeError("the process that works things out has failed")

    def _outcome(self, found: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
        if "out_of_memory" in found:
            raise self._too_much_memory(request)
        if "refused" in found:
            code, message, details = found["refused"]
            raise RefusalError(code, message, **details)
        out: dict[str, Any] = found["answer"]
        return out

    def _too_much_memory(self, request: dict[str, Any]) -> RefusalError:
        most = f"{self._memory // MB:,} MB"
        return RefusalError(
            "not_possible", f"this takes more memory than {most}, the most here: {self._advice(request)}"
        )

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "sfumato.service.worker", self._module, str(self._memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # a trace may hold what was asked
            env=environment(),
        )
        _exchange(self._process, b"", _START)
        return self._process


def _exchange(process: subprocess.Popen[bytes], sent: bytes, seconds: float) -> tuple[bytes, bool]:
    """A line for a line; and whether the process was ended because it took too long."""
    late = threading.Event()

    def end() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(seconds, end)
    timer.start()
    try:
        if process.stdin is not None and sent:
            process.stdin.write(sent)
            process.stdin.flush()
        line = process.stdout.readline() if process.stdout is not None else b""
        return line, late.is_set()
    except OSError:
        return b"", late.is_set()
    finally:
        timer.cancel()


def answer(module: str, request: dict[str, Any]) -> dict[str, Any]:
    """What the module answers, or why it does not."""
    answered: Callable[[dict[str, Any]], dict[str, Any]] = import_module(module).answered
    try:
        return {"answer": answered(request)}
    except RefusalError as refusal:
        return {"refused": [refusal.code, str(refusal), refusal.details]}
    except SfumatoError as problem:
        return {"refused": ["not_possible", str(problem), {}]}
    except MemoryError:
        return {"out_of_memory": True}


def _busy() -> RefusalError:
    return RefusalError("busy", "as many as the server takes are being answered: ask again in a moment", seconds=2)


def main() -> None:
    """Answer requests on standard input until it ends."""
    module, memory = sys.argv[1], int(sys.argv[2])
    import_module(module)
    limit_memory(memory)
    if hasattr(os, "nice"):
        os.nice(5)  # answers that arrive come first
    said = sys.stdout
    said.write("ready\n")
    said.flush()
    for line in sys.stdin.buffer:
        said.write(json.dumps(answer(module, json.loads(line)), allow_nan=False) + "\n")
        said.flush()


if __name__ == "__main__":
    main()
