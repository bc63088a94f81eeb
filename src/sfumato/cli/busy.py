"""What is being done, and for how long: a line at the foot of a terminal, which gives way to every output.

A file or a pipe gets a line now and then instead, ever more rarely.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import count

from rich.console import Console

#: Work that ends sooner shows nothing on a terminal.
PATIENCE = 1.0
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Busy:
    """Shows on one console what goes on."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._lock = threading.Lock()
        self._title = ""
        self._quiet_since = 0.0
        self._held = 0
        self._shown = False
        self._running = False

    @property
    def lively(self) -> bool:
        """Whether a person looks at a terminal that can write a line anew."""
        return self._console.is_terminal and not self._console.is_dumb_terminal

    @contextmanager
    def working(self, title: str) -> Iterator[None]:
        """While the block runs, its title and the seconds since it began, or since the block around it did."""
        around, self._title = self._title, title
        try:
            with nullcontext() if self._running else self._watched():
                yield
        finally:
            self._title = around

    @contextmanager
    def counted(self, title: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """The same with how much is done, which the block says step by step."""
        done, whole = 0, "" if total is None else f" of {total:,}"

        def advance(some: int) -> None:
            nonlocal done
            done += some
            self.step(f"{title}, {done:,}{whole} done")

        with self.working(title):
            yield advance

    def step(self, title: str) -> None:
        """Say what is done now."""
        self._title = title

    def clear(self) -> None:
        """Make room for output."""
        with self._lock:
            self._quiet_since = time.monotonic()
            if self._shown:
                self._write("\r\x1b[2K")
                self._shown = False

    @contextmanager
    def giving_way(self) -> Iterator[None]:
        """Nothing is shown during the block: it has a progress bar of its own."""
        self.clear()
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1
            self._quiet_since = time.monotonic()

    @contextmanager
    def _watched(self) -> Iterator[None]:
        done, began = threading.Event(), time.monotonic()
        self._quiet_since, self._running = began, True
        thread = threading.Thread(target=self._tick if self.lively else self._log, args=(done, began), daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            self._running = False
            self.clear()

    def _tick(self, done: threading.Event, began: float) -> None:
        turn = 0
        while not done.wait(0.12):
            with self._lock:
                now = time.monotonic()
                if self._held or now - self._quiet_since < PATIENCE:
                    continue
                turn += 1
                width = max(self._console.width - 14, 10)
                self._write(f"\r\x1b[2K{_FRAMES[turn % len(_FRAMES)]} {self._title[:width]}, {now - began:.0f} s")
                self._shown = True

    def _log(self, done: threading.Event, began: float) -> None:
        for mark in _marks():
            if done.wait(max(began + mark - time.monotonic(), 0.0)):
                return
            self._write(f"still at work after {mark:,} s: {self._title}\n")

    def _write(self, text: str) -> None:
        self._console.file.write(text)
        self._console.file.flush()


def _marks() -> Iterator[float]:
    """The seconds after which a file or a pipe gets a line."""
    yield from (3, 10, 30, 100)
    yield from count(300, 300)
