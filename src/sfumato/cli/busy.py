"""A line at the foot of the terminal: what is being done, and for how long. It gives way to every output."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

#: Work that ends sooner shows nothing.
PATIENCE = 1.0
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Busy:
    """Shows nothing unless the console is a terminal that a person looks at."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._lock = threading.Lock()
        self._title = ""
        self._quiet_since = 0.0
        self._held = 0
        self._shown = False

    @contextmanager
    def working(self, title: str) -> Iterator[None]:
        """While the block runs, its title and the seconds since it began."""
        if not self._console.is_terminal or self._console.is_dumb_terminal:
            yield
            return
        done = threading.Event()
        self._title, began = title, time.monotonic()
        self._quiet_since = began
        thread = threading.Thread(target=self._tick, args=(done, began), daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            self.clear()

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

    def _write(self, text: str) -> None:
        self._console.file.write(text)
        self._console.file.flush()
