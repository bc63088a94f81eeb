"""Work in a process of its own, with limits on its memory and its time: what goes wrong there stops nothing here."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

_MEMORY = 3 << 29  # bytes of that process


class NoAnswerError(Exception):
    """The process ended without an answer, as when its memory did not do; ``late`` where its time did not."""

    def __init__(self, late: bool) -> None:
        super().__init__()
        self.late = late


def ask(module: str, given: bytes, seconds: float) -> dict[str, Any]:
    """What ``python -m module`` answers on standard output, in JSON, to these bytes on its standard input."""
    try:
        ran = subprocess.run(
            [sys.executable, "-m", module],
            input=given,
            capture_output=True,
            timeout=seconds,
            env=environment(),
        )
    except subprocess.TimeoutExpired:
        raise NoAnswerError(late=True) from None
    try:
        answer: dict[str, Any] = json.loads(ran.stdout)
    except ValueError:
        raise NoAnswerError(late=ran.returncode == -getattr(signal, "SIGXCPU", 0)) from None
    return answer


def environment() -> dict[str, str]:
    """The environment of such a process: one thread, and memory that goes back to the system."""
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    return {**os.environ, **one_thread, "ARROW_DEFAULT_MEMORY_POOL": "system"}


def limit_memory(most: int = _MEMORY) -> None:
    """Hold this process to so many bytes of data, where the system can."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_time(seconds: int) -> None:
    """Hold this process to so many seconds of a processor, where the system can."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
