"""How long work will take, said beforehand where it would try somebody's patience."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from sfumato.cli import console

PATIENCE = 10.0  # seconds: what takes longer is said beforehand
_TIMED = 3  # steps, after the first, that tell how long the others take


def duration(seconds: float) -> str:
    """In words.

    >>> duration(14.2), duration(400)
    ('14 seconds', '7 minutes')
    """
    return f"{seconds:.0f} seconds" if seconds < 100 else f"{seconds / 60:.0f} minutes"


def foretelling(advance: Callable[[int], None], total: int, what: str) -> Callable[[int], None]:
    """The same progress over steps that take about equally long, with a line once some of them have been timed."""
    times: list[float] = []

    def step(some: int) -> None:
        if len(times) <= _TIMED:
            times.append(monotonic())
            each = (times[-1] - times[0]) / _TIMED
            left = each * (total - len(times))
            if len(times) == _TIMED + 1 and left >= PATIENCE:
                console.note(f"one of {total:,} {what} takes {each:.2g} s: about {duration(left)} more for the others")
        advance(some)

    return step
