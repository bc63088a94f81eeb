"""What a hostile input may cost: five seconds and a gigabyte, and the only way to fail is one line."""

from __future__ import annotations

import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sfumato.errors import SfumatoError

SECONDS = 5.0
BYTES = 1 << 30


class TooSlow(BaseException):  # not an Exception: no handler of the product may swallow it
    pass


@contextmanager
def guarded(seconds: float = SECONDS, memory: int = BYTES) -> Iterator[None]:
    """Run the block with so much time and so much more memory than the process has now."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + memory, hard))
    before = signal.signal(signal.SIGPROF, _too_slow)
    signal.setitimer(signal.ITIMER_PROF, seconds)  # of processor time: a busy machine is not the input's fault
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _too_slow(*_: Any) -> None:
    raise TooSlow


def refused(act: Callable[[], Any]) -> str:
    """The one line with which an act is refused, within the guard."""
    with guarded():
        try:
            act()
        except SfumatoError as problem:
            line = str(problem)
        else:
            raise AssertionError("it was not refused")
    assert line and line.isprintable()
    return line
