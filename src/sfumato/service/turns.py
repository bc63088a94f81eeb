"""Work that takes long: so many requests at a time, a few more wait, others are asked to come back.

Without it one reader who asks for all rows forty times at once would keep all threads, all connections to the database
and much of the memory, and answers would wait.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from fastapi.concurrency import run_in_threadpool

from sfumato.service.refusals import RefusalError

T = TypeVar("T")


class Turns:
    """``running`` work at a time, ``most`` are there at all, and half of the places are the most that one token has."""

    def __init__(self, running: int, most: int, seconds: int = 2) -> None:
        self._turn, self._most, self._seconds = asyncio.Semaphore(running), most, seconds
        self._asking: Counter[str] = Counter()

    async def run(self, who: str, work: Callable[[], T]) -> T:
        """What the work gives, done in a thread once it is its turn; ``who`` is the id of the token that asks."""
        if self._asking[who] >= max(self._most // 2, 1):
            raise self._busy(f"{self._asking[who]} requests with this token are being answered")
        if self._asking.total() >= self._most:
            raise self._busy("others are being answered")
        self._asking[who] += 1
        try:
            async with self._turn:
                return await run_in_threadpool(work)
        finally:
            self._asking[who] -= 1
            self._asking += Counter()  # forgets who asks no more

    def _busy(self, why: str) -> RefusalError:
        return RefusalError("busy", f"{why}: ask again in a moment", seconds=self._seconds)
