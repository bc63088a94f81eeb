"""Time as the service keeps it: the hour, nothing finer."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

from sfumato.service.refusals import RefusalError

Clock = Callable[[], float]
HOUR = 3600
#: The last time that is understood: the year 9999.
_LAST = 253402297200


def hour_of(seconds: float) -> int:
    """The beginning of the hour.

    >>> hour_of(7321.5)
    7200
    """
    return int(seconds) // HOUR * HOUR


def iso(seconds: int | None) -> str | None:
    """A time as text in UTC.

    >>> iso(7200)
    '1970-01-01T02:00:00Z'
    """
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_of(text: str | None, field: str) -> int | None:
    """What ``iso`` wrote, or any ISO 8601 time; without a zone it is UTC."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
        seconds = int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        raise RefusalError("malformed", f"{field} must be a time like 2026-12-31T23:00:00Z", where=field) from None
    if not 0 <= seconds <= _LAST:
        raise RefusalError("malformed", f"{field} must lie between 1970 and 9999", where=field)
    return seconds


system: Clock = time.time
