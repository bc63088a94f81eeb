"""Dates and times, cut into hours, days, weeks, months, quarters or years; or days of the week, hours of the day."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Codes
from sfumato.domains.base import Domain, Tally, count, first_of, is_text
from sfumato.domains.date_columns import moments, one_moment
from sfumato.domains.periods import NUMBER, ROUND, label, seconds
from sfumato.errors import OutsideDomainError, SchemaError
from sfumato.reading.csv_reader import NULL_WORDS

if TYPE_CHECKING:
    import pyarrow as pa

MOST_PERIODS = 100_000


@dataclass(frozen=True)
class Date(Domain):
    """Dates from ``first`` to ``last``, both included, in periods of one ``by``: codes are periods.

    ``by`` is hour, day, week, month, quarter or year; or "weekday" or "hour of day", which need no first and last.
    Values are columns of dates or timestamps (the wall clock of their time zone counts), or text: ISO 8601, what
    ``formats`` say, or the labels themselves. ``clip`` moves dates outside to the nearest end.

    >>> seen = Date("2023-01", "2024-12", by="month")
    >>> seen.size, seen.encode(["2023-01-31", "2024-12-01"]), seen.labels[:2]
    (24, array([ 0, 23], dtype=uint8), ('2023-01', '2023-02'))
    >>> Date("2020", "2029", by="year", formats=("%d.%m.%Y",)).encode(["31.12.2024"])
    array([4], dtype=uint8)
    """

    first: Any = None
    last: Any = None
    by: str = "month"
    nullable: bool = False
    clip: bool = field(default=False, compare=False, kw_only=True)
    missing: tuple[str, ...] = field(default=(), compare=False, kw_only=True)
    formats: tuple[str, ...] = field(default=(), compare=False, kw_only=True)

    kind = "date"

    @property
    def ordered(self) -> bool:
        """Days of the week and hours of the day go round: they have no lowest."""
        return self.by not in ROUND

    @property
    def spaced(self) -> bool:
        return self.ordered

    def __post_init__(self) -> None:
        if not isinstance(self.by, str) or self.by not in NUMBER:
            raise SchemaError(f"by must be one of {', '.join(NUMBER)}, got {self.by!r} instead")
        self._check_missing()
        formats = (self.formats,) if isinstance(self.formats, str) else self.formats
        if not isinstance(formats, Iterable) or not all(isinstance(f, str) and "%" in f for f in formats):
            raise SchemaError('formats must be written as for strptime, such as "%d.%m.%Y"')
        object.__setattr__(self, "formats", tuple(formats))
        if self.by in ROUND:
            if self.first is not None or self.last is not None:
                raise SchemaError(f"by={self.by!r} goes round: leave first and last out")
            return
        start, end = self._limit("first"), self._limit("last")
        if end < start:
            raise SchemaError(f"first must not be later than last, got {self.first} and {self.last} instead")
        if end - start >= MOST_PERIODS:
            raise SchemaError(
                f"{self.by}s from {self.first} to {self.last} are {end - start + 1}: choose a longer period"
            )
        object.__setattr__(self, "_start", start)
        object.__setattr__(self, "_periods", end - start + 1)
        object.__setattr__(self, "first", label(self.by, start))  # as a label, so that equal domains look equal
        object.__setattr__(self, "last", label(self.by, end))

    def _limit(self, side: str) -> int:
        value = getattr(self, side)
        moment = period_start(value) if value is not None else None
        if moment is None:
            raise SchemaError(f"{side} must be a date such as 2023-01-31, got {value!r} instead")
        return int(NUMBER[self.by](seconds([moment]))[0])

    @property
    def size(self) -> int:
        return (len(ROUND[self.by]) if self.by in ROUND else int(self.__dict__["_periods"])) + self.nullable

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        if self.by in ROUND:
            names: tuple[Any, ...] = ROUND[self.by]
        else:
            start, periods = self.__dict__["_start"], self.__dict__["_periods"]
            names = tuple(label(self.by, start + i) for i in range(periods))
        return (*names, None) if self.nullable else names

    @cached_property
    def _names(self) -> pa.Array:
        import pyarrow as pa

        return pa.array(self.labels[:-1] if self.nullable else self.labels, type=pa.string())

    def encode(self, column: Any, name: str = "value", tally: Tally | None = None) -> Codes:
        import pyarrow as pa
        import pyarrow.compute as pc

        column = self._read(column)
        if pa.types.is_null(column.type):
            column = column.cast(pa.string())
        if pa.types.is_integer(column.type) and self.by == "year":
            column = column.cast(pa.string())
        known = np.full(len(column), -1)
        if is_text(column.type):
            text = pc.utf8_trim_whitespace(column.cast(pa.string()))
            column = pc.if_else(pc.is_in(text, value_set=pa.array(NULL_WORDS)), pa.scalar(None, pa.string()), text)
            known = pc.index_in(column, value_set=self._names).fill_null(-1).to_numpy(zero_copy_only=False)
        found, unread = moments(column, self.formats, clock=self.by == "hour of day")
        if bool((unread & (known < 0)).any()) and self.by == "year" and is_text(column.type):
            found, unread = _whole_years(column, found, unread)
        unread = unread & (known < 0)
        if unread.any():
            first = first_of(column.filter(pa.array(unread)))
            raise OutsideDomainError(name, "no date", first, int(unread.sum()), f"dates in {self.limits_text()}")
        return self._with_nulls(*self._codes(found, known, column, name, tally), name)

    def _codes(self, found: Any, known: Any, column: pa.Array, name: str, tally: Tally | None) -> tuple[pa.Array, int]:
        import pyarrow as pa

        gone = np.isnat(found) & (known < 0)
        numbers = NUMBER[self.by](np.where(np.isnat(found), np.datetime64(0, "s"), found))
        codes = np.where(known >= 0, known, numbers - self.__dict__.get("_start", 0))
        outside = ~gone & ((codes < 0) | (codes >= len(self._names)))
        if outside.any():
            if not self.clip:
                first = first_of(column.filter(pa.array(outside)))
                raise OutsideDomainError(name, "date", first, int(outside.sum()), self.limits_text())
            count(tally, name, int(outside.sum()))
            codes = np.clip(codes, 0, len(self._names) - 1)
        return pa.array(codes, type=pa.int64(), mask=gone), int(gone.sum())

    def limits_text(self) -> str:
        return f"{self.labels[0]} to {self._names[-1]}"

    def decode(self, codes: ArrayLike) -> pa.Array:
        import pyarrow as pa

        return pa.array(self.labels, type=pa.string()).take(pa.array(self._known(codes)))

    def meaning(self) -> dict[str, Any]:
        limits = {} if self.by in ROUND else {"first": self.first, "last": self.last}
        return {"kind": self.kind, **limits, "by": self.by, "nullable": self.nullable}

    def _written(self) -> dict[str, Any]:
        formats = {"formats": list(self.formats)} if self.formats else {}
        return {**super()._written(), **({"clip": True} if self.clip else {}), **formats}


def period_start(value: Any) -> np.datetime64 | None:
    """The first moment of a date or of a label: 2023, 2023-Q2, 2023-W07, 2023-05, 2023-05-31T14."""
    text = str(value).strip()
    if not text.isascii():
        return None
    if re.fullmatch(r"\d{4}", text):
        return np.datetime64(f"{text}-01-01", "s")
    if found := re.fullmatch(r"(\d{4})-Q([1-4])", text):
        return np.datetime64(f"{found[1]}-{3 * int(found[2]) - 2:02d}-01", "s")
    if found := re.fullmatch(r"(\d{4})-W(\d\d)", text):
        try:
            return np.datetime64(date.fromisocalendar(int(found[1]), int(found[2]), 1), "s")
        except ValueError:
            return None
    if re.fullmatch(r"\d{4}-\d\d(-\d\d)?", text):  # by far the most frequent, and read at once
        try:
            return np.datetime64(text, "s")
        except ValueError:
            return None
    if re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d", text):
        text += ":00"
    return one_moment(value if not isinstance(value, str) else text)


def _whole_years(column: pa.Array, found: Any, unread: Any) -> tuple[Any, Any]:
    """Years that stand alone, for attributes that ask for no more."""
    import pyarrow as pa
    import pyarrow.compute as pc

    years = pc.if_else(pc.match_substring_regex(column.cast(pa.string()), r"^\d{4}$"), column.cast(pa.string()), None)
    here = years.is_valid().to_numpy(zero_copy_only=False) & unread
    found = found.copy()
    found[here] = np.array(years.filter(pa.array(here)).to_pylist(), dtype="datetime64[Y]").astype("datetime64[s]")
    return found, unread & ~here
