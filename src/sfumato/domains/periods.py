"""Periods of time as running numbers: days, weeks, months, and the clocks that go round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Moments = NDArray[np.datetime64]  # seconds since 1970, without a time zone
Numbers = NDArray[np.int64]

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
HOURS = tuple(f"{hour:02d}:00" for hour in range(24))

#: What goes round and needs no first and last: the days of the week, the hours of the day.
ROUND = {"weekday": WEEKDAYS, "hour of day": HOURS}


def _in(unit: str) -> Callable[[Moments], Numbers]:
    return lambda moments: moments.astype(f"datetime64[{unit}]").astype(np.int64)


#: The running number of the period that holds a moment. Weeks start on Mondays; 1970-01-01 was a Thursday.
NUMBER: dict[str, Callable[[Moments], Numbers]] = {
    "hour": _in("h"),
    "day": _in("D"),
    "week": lambda moments: (_in("D")(moments) + 3) // 7,
    "month": _in("M"),
    "quarter": lambda moments: _in("M")(moments) // 3,
    "year": _in("Y"),
    "weekday": lambda moments: (_in("D")(moments) + 3) % 7,
    "hour of day": lambda moments: _in("h")(moments) % 24,
}


def label(by: str, number: int) -> str:
    """A period as people write it.

    >>> [label("month", 636), label("quarter", 212), label("week", 2766), label("day", 19358), label("hour", 464600)]
    ['2023-01', '2023-Q1', '2023-W01', '2023-01-01', '2023-01-01T08']
    """
    if by in ROUND:
        return ROUND[by][number]
    if by == "week":
        year, week, _ = np.datetime64(7 * number - 3, "D").item().isocalendar()
        return f"{year:04d}-W{week:02d}"
    if by == "quarter":
        return f"{1970 + number // 4:04d}-Q{number % 4 + 1}"
    unit = {"hour": "h", "day": "D", "month": "M", "year": "Y"}[by]
    return str(np.array(number).astype(f"datetime64[{unit}]"))


def seconds(moments: Any) -> Moments:
    return np.asarray(moments).astype("datetime64[s]")
