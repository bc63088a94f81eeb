"""Columns of dates and times, however a table holds them, as moments in seconds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.domains.base import is_text
from sfumato.domains.periods import Moments, seconds

if TYPE_CHECKING:
    import pyarrow as pa

#: What is read without being told: ISO 8601, weeks such as 1979-W05, quarters such as 1979 Q3, the times of a day.
ISO = ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d", "%Y-%m")
CLOCK = ("%H:%M:%S", "%H:%M")
_WEEK = r"^\d{4}[ -]?[Ww]\d{1,2}$"


def moments(column: pa.Array, formats: Sequence[str] = (), clock: bool = False) -> tuple[Moments, Any]:
    """The moments of a column, and which of them could not be read (nulls are not among them)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if is_text(kind):
        found = from_text(column, [*formats, *ISO, *(CLOCK if clock else ())])
    elif pa.types.is_timestamp(kind):
        found = (pc.local_timestamp(column) if kind.tz else column).cast(pa.timestamp("s"), safe=False)
    elif pa.types.is_time(kind) and clock:
        found = (
            column.cast(pa.time64("us")).cast(pa.int64()).cast(pa.timestamp("us")).cast(pa.timestamp("s"), safe=False)
        )
    elif pa.types.is_date(kind):
        found = column.cast(pa.timestamp("s"))
    else:
        found = pa.nulls(len(column), pa.timestamp("s"))
    unread = pc.and_(pc.is_null(found), pc.is_valid(column))
    return seconds(found.to_numpy(zero_copy_only=False)), unread.to_numpy(zero_copy_only=False)


def from_text(column: pa.Array, formats: Sequence[str]) -> pa.Array:
    """Text as moments, by the first format that reads it; null where none does."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.utf8_trim_whitespace(column.cast(pa.string()))
    text = pc.replace_substring_regex(text, r"(:\d\d)\.\d+", r"\1")  # fractions of a second
    text = pc.replace_substring_regex(
        text, r"(:\d\d)(?:Z|[+-]\d\d:?\d\d)$", r"\1"
    )  # the time as the wall clock shows it
    for quarter, month in enumerate(("01", "04", "07", "10"), start=1):
        text = pc.replace_substring_regex(text, rf"^(\d{{4}})[ -]?[Qq]{quarter}$", rf"\1-{month}")
    text = _weeks_as_days(text)
    found = pa.nulls(len(text), pa.timestamp("s"))
    for format in formats:
        if found.null_count == text.null_count:
            break
        read = pc.strptime(text, format=format, unit="s", error_is_null=True)
        found = pc.coalesce(found, _real(read, text, format))
    return found


def _weeks_as_days(text: pa.Array) -> pa.Array:
    """Weeks, as 1979-W05, by the day on which they begin; whatever is no week of its year stays as it is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    weeks = pc.unique(text.filter(pc.fill_null(pc.match_substring_regex(text, _WEEK), False)))
    if not len(weeks):
        return text
    days = [_first_day(int(week[:4]), int(week[4:].lstrip(" -Ww"))) for week in weeks.to_pylist()]
    return pc.coalesce(pa.array(days, pa.string()).take(pc.index_in(text, value_set=weeks)), text)


def _first_day(year: int, week: int) -> str | None:
    """The Monday on which a week begins, or None if the year has no such week."""
    try:
        return date.fromisocalendar(year, week, 1).isoformat()
    except ValueError:
        return None


def _real(read: pa.Array, text: pa.Array, format: str) -> pa.Array:
    """Without days that the month does not have, which roll over into the next, and without years of two digits."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if "%Y" not in format or read.null_count == len(read):
        return read
    day = pc.replace_substring_regex(text, r"[T ].*$", "")
    rolled = pc.and_(
        pc.less_equal(pc.day(read), 3),
        pc.match_substring_regex(day, r"(29|30|31)$" if format == "%Y%m%d" else r"(^|\D)(29|30|31)(\D|$)"),
    )
    wrong = pc.or_(pc.less(pc.year(read), 1000), rolled) if "%d" in format else pc.less(pc.year(read), 1000)
    return pc.if_else(pc.fill_null(wrong, True), pa.scalar(None, pa.timestamp("s")), read)


def one_moment(value: Any) -> np.datetime64 | None:
    """A date, a datetime, a time or ISO text as a moment."""
    import pyarrow as pa

    if isinstance(value, datetime):
        return np.datetime64(value.replace(tzinfo=None), "s")
    if isinstance(value, np.datetime64 | date):
        return seconds([np.datetime64(value)])[0]  # type: ignore[no-any-return]
    if isinstance(value, time):
        value = value.strftime("%H:%M")
    found = from_text(pa.array([str(value)]), ISO)[0].as_py()
    return None if found is None else np.datetime64(found, "s")
