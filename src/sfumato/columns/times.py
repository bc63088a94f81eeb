"""Columns of dates and times: which formats they are written in, and which periods suit their span."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from sfumato.columns.bin_edges import TAIL
from sfumato.columns.numbers import MOST_WORDS, MOSTLY
from sfumato.columns.value_counts import Cells
from sfumato.columns.verdict import Verdict, rows_of, rows_that
from sfumato.domains import Date
from sfumato.domains.date_columns import ISO, from_text
from sfumato.domains.dates import period_start
from sfumato.domains.periods import NUMBER, label, seconds
from sfumato.errors import SchemaError

_DAYS = (
    "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y%m%d", "%d %b %Y", "%d-%b-%Y",
    "%b %d, %Y", "%d %B %Y", "%B %d, %Y", "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%d-%b-%y",
)  # fmt: skip
_MONTHS = ("%b %Y", "%b-%Y", "%m/%Y", "%m-%Y", "%Y/%m")  # whole names, too
_SHORT_MONTHS = ("%b-%y", "%b %y")  # or a month and a day
FORMATS = (
    *_DAYS,
    *_MONTHS,
    *(f"{day} {clock}" for day in _DAYS[:7] for clock in ("%H:%M:%S", "%H:%M", "%I:%M %p", "%I:%M:%S %p")),
)
_LIKE_A_DATE = re.compile(r"(?=.*\d)[\d./,:\-T Z+]*(?:[A-Za-zäÄéû]{3,9}\.?)?[\d./,:\-T Z+]*(?:[AaPp][Mm])?")
_PERIODS = {
    "quarter": re.compile(r"\d{4}[ -]?[Qq][1-4]"),
    "week": re.compile(r"\d{4}[ -]?[Ww](0?[1-9]|[1-4]\d|5[0-3])"),
}
_CLOCK = re.compile(r"([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d)?")
_HALF_DAY = re.compile(r"(0?[1-9]|1[0-2]):[0-5]\d(?P<seconds>:[0-5]\d)?(?P<blank> ?)[AaPp][Mm]")
_MOST_TRIED = 2000  # different values on which formats are tried


def judge_clock(cells: Cells, counts: Counter[str]) -> Verdict | None:
    """Times of a day, written as 14:35 or as 2:35 PM."""
    halves = {text: found for text in counts if (found := _HALF_DAY.fullmatch(text))}
    words = sorted(text for text in counts if text not in halves and not _CLOCK.fullmatch(text))
    read = counts.total() - sum(counts[word] for word in words)
    if read < MOSTLY * counts.total() or len(words) > MOST_WORDS:
        return None
    formats = tuple(sorted({_half_day_format(found) for found in halves.values()}))
    domain = Date(by="hour of day", nullable=bool(cells.blank or words), missing=tuple(words), formats=formats)
    why = "times of a day, by the hour" + _written(formats)
    return Verdict(cells.name, "date", why, "nothing: every day has 24 hours", domain)


def _half_day_format(found: re.Match[str]) -> str:
    return f"%I:%M{':%S' if found['seconds'] else ''}{found['blank']}%p"


def judge_text(
    cells: Cells, counts: Counter[str], by: str | None, span: tuple[str, str] | None = None
) -> Verdict | None:
    """The verdict on text that is mostly dates, or None if it is not."""
    import pyarrow as pa

    likely = [text for text in list(counts)[:_MOST_TRIED] if _like_a_date(text)]
    if len(likely) < MOSTLY * min(len(counts), _MOST_TRIED) / 2:
        return None
    formats, ambiguous, both = _formats(likely, by)
    if not formats:
        return None
    counts = counts + cells.later
    texts = list(counts)
    read = from_text(pa.array(texts, pa.string()), [*formats, *ISO]).to_pylist()
    words = sorted(text for text, moment in zip(texts, read, strict=True) if moment is None)
    moments: Counter[Any] = Counter()
    for text, moment in zip(texts, read, strict=True):
        if moment is not None:
            moments[moment] += counts[text]
    lost = sum(counts[word] for word in words)
    if sum(moments.values()) < MOSTLY * counts.total() or not _plausible(moments, formats):
        return None
    said = []
    if both:
        said.append("some dates have the day first and some the month: mend them, many are read wrongly")
    elif ambiguous:
        said.append(f"day or month first cannot be told: read as {_in_words(formats[0])}; swap it in formats if not")
    if len(words) > MOST_WORDS:
        why = f"mostly dates, but {rows_that(lost, 'hold')} {len(words)} different texts that are none"
        return Verdict(cells.name, "unreadable", why, problems=("mend them, or write its domain by hand",))
    if words:
        said.append(f"{rows_that(lost, 'hold')} words instead of dates, taken for no answer")
    told = tuple(format for format in formats if format not in ISO)
    if by is None:
        by = next((name for name, form in _PERIODS.items() if all(map(form.fullmatch, likely))), None)
    return judge_moments(cells, moments, by, span, told, words, said)


def _like_a_date(text: str) -> bool:
    if any(form.fullmatch(text) for form in _PERIODS.values()):
        return True
    return _LIKE_A_DATE.fullmatch(text) is not None and _not_a_number(text)


def judge_moments(
    cells: Cells,
    moments: Counter[Any],
    by: str | None = None,
    span: tuple[str, str] | None = None,
    formats: tuple[str, ...] = (),
    missing: Sequence[str] = (),
    problems: Sequence[str] = (),
) -> Verdict:
    """The verdict on dates: periods that suit their span, limits that one wrong date does not ruin.

    Where the ``span`` is given, as public knowledge, the limits are not read off the data.
    """
    said = list(problems)
    days = seconds([np.datetime64(_naive(moment)) for moment in moments])
    times = np.array(list(moments.values()), dtype=float)
    order = np.argsort(days)
    days, times = days[order], times[order]
    ends = _robust_ends(days, times) if span is None else _given_ends(cells.name, span)
    outside = int(times[(days < ends[0]) | (days > ends[1])].sum())
    if outside:
        where = "far outside the others" if span is None else "outside the given span"
        said.append(f"{rows_of(outside)} {where}: moved to the nearest end")
    by = (
        by
        or _first_days(days)
        or _period(
            int((ends[1] - ends[0]) / np.timedelta64(1, "D")), bool((days != days.astype("datetime64[D]")).any())
        )
    )
    nullable = bool(cells.blank or missing)
    clip = bool(outside) or cells.overflowing
    limits: dict[str, Any] = {}
    if by not in ("weekday", "hour of day"):
        limits = {
            side: label(by, int(NUMBER[by](end[None])[0])) for side, end in zip(("first", "last"), ends, strict=True)
        }
    domain = Date(**limits, by=by, nullable=nullable, clip=clip, missing=tuple(missing), formats=formats)
    why = f"dates, by the {by}" + _written(formats)
    discloses = f"the first and the last {by}" if limits else "nothing: the periods go round"
    if limits and span is not None:
        discloses = "nothing: the limits are yours"
    return Verdict(cells.name, "date", why, discloses, domain, tuple(said))


def _robust_ends(days: Any, times: Any) -> tuple[Any, Any]:
    """The first and the last date, or those of the bulk where some lie far outside."""
    share = np.cumsum(times) / times.sum()
    numbers = days.astype("datetime64[D]").astype(np.int64)
    last = len(days) - 1
    inner_low = int(np.searchsorted(share, TAIL, side="right"))
    inner_high = min(int(np.searchsorted(share, 1 - TAIL, side="left")), last)
    inner = max(numbers[inner_high] - numbers[inner_low], 1)
    if numbers[-1] - numbers[0] <= 1.5 * inner:
        return days[0], days[-1]
    near = (numbers >= numbers[inner_low] - inner / 4) & (numbers <= numbers[inner_high] + inner / 4)
    return days[near][0], days[near][-1]


def _given_ends(name: str, span: tuple[str, str]) -> tuple[Any, Any]:
    """The first moment of the first date and the last of the last: years, quarters, months, weeks or days."""
    first, last = (period_start(text) for text in span)
    if first is not None and last is not None:
        if "Q" in span[1]:
            behind = last.astype("datetime64[M]") + 3
        elif "W" in span[1]:
            behind = last + np.timedelta64(7, "D")
        else:
            behind = np.datetime64(span[1]) + 1
        ends = seconds(first), seconds(behind) - 1
        if ends[0] < ends[1]:
            return ends
    raise SchemaError(
        f"column {name!r}: the span of dates must look like 2019-01:2020-12 or 2019-Q1:2020-Q4, the first date first"
    )


def _formats(texts: Sequence[str], by: str | None) -> tuple[list[str], bool, bool]:
    """The few formats that read the texts, whether day and month can be told apart, whether both orders occur.

    Jan-20 is a month if others are like Jan-98, which no day is, or if whole months are asked for.
    """
    import pyarrow as pa

    left = pa.array(texts, pa.string())
    few = left.slice(0, 50)
    no_days = any(text[-2:] == "00" or text[-2:] > "31" for text in texts)
    short = _SHORT_MONTHS if no_days or by in ("month", "quarter", "year") else ()
    tried = [form for form in (*ISO, *FORMATS, *short) if from_text(few, [form]).null_count < len(few)]
    chosen: list[str] = []
    ambiguous = False
    for _ in range(3):
        read = {format: len(left) - from_text(left, [format]).null_count for format in tried}
        if not read:
            break
        best = max(read, key=lambda form: read[form])
        if not read[best] or (chosen and read[best] < 0.02 * len(texts)):
            break
        twin = _twin(best)
        ambiguous = ambiguous or (twin is not None and read.get(twin) == read[best])
        chosen.append(best)
        left = left.filter(from_text(left, [best]).is_null())
        if not len(left):
            break
    both = any(_twin(format) in chosen for format in chosen)
    return chosen, ambiguous and not both, both


def may_be_months(texts: Collection[str]) -> bool:
    """Whether all texts are like Jan-20: of the year 2020, or of the first month."""
    import pyarrow as pa

    return bool(from_text(pa.array(list(texts), pa.string()), _SHORT_MONTHS).null_count == 0)


def _not_a_number(text: str) -> bool:
    """Numbers are no dates, except perhaps those of eight digits."""
    return len(text) >= 6 and (not re.fullmatch(r"[-+]?\d*\.?\d*", text) or re.fullmatch(r"\d{8}", text) is not None)


def _twin(format: str) -> str | None:
    """The same format with day and month exchanged."""
    if format.startswith("%d") and "%m" in format:
        return "%m" + format[2:].replace("%m", "%d", 1)
    if format.startswith("%m") and "%d" in format:
        return "%d" + format[2:].replace("%d", "%m", 1)
    return None


def _plausible(moments: Counter[Any], formats: Sequence[str]) -> bool:
    """Eight digits are a date only if they all fall into a lifetime or two."""
    return formats[0] != "%Y%m%d" or all(1850 <= moment.year <= 2150 for moment in moments)


def _first_days(days: Any) -> str | None:
    """The period that all dates are the beginnings of, as in exports by the month; None where there is none."""
    for by in ("year", "month"):
        if len(days) > 1 and (days == days.astype(f"datetime64[{by[0].upper()}]")).all():
            return by
    return None


def _period(days: int, with_times: bool) -> str:
    if days <= 3 and with_times:
        return "hour"
    if days <= 62:
        return "day"
    return "week" if days <= 200 else "month" if days <= 5 * 366 else "year"


def _naive(moment: Any) -> Any:
    return moment.replace(tzinfo=None) if isinstance(moment, datetime) else moment


def _written(formats: Sequence[str]) -> str:
    return f", written as {' or '.join(map(_in_words, formats))}" if formats else ""


def _in_words(format: str) -> str:
    """A format with the example of a date that everybody can tell apart.

    >>> _in_words("%d.%m.%Y")
    '31.12.2020'
    """
    return datetime(2020, 12, 31, 14, 5).strftime(format)
