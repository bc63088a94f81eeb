"""Signals that ask the program to stop: it unwinds, so that temporary files and bookings go, and says one line."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

_SAID = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "the terminal was closed"}


class Stopped(BaseException):
    """A signal asked to stop. Not a KeyboardInterrupt, which the command-line parser swallows."""

    def __init__(self, number: int) -> None:
        self.code = 128 + number  # what a shell reports
        self.said = _SAID[signal.Signals(number).name]
        super().__init__(self.said)


@contextmanager
def stoppable() -> Iterator[None]:
    """Turn the first signal that asks to stop into an exception; a second must not break off the cleaning up."""
    signals = [getattr(signal, name) for name in _SAID if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in signals}

    def unwind(number: int, _: Any) -> NoReturn:
        for other in signals:
            signal.signal(other, signal.SIG_IGN)
        raise Stopped(number)

    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, unwind)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
