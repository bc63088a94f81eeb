"""From any table to a schema: one verdict per column, with its reason and with what it discloses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sfumato.columns.months import as_months, look_like_months
from sfumato.columns.numbers import (
    MOSTLY,
    Wanted,
    are_codes,
    judge_numbers,
    judge_written,
    read_numbers,
)
from sfumato.columns.text import as_category, as_text, judge_identifier, judge_numbered, judge_words
from sfumato.columns.times import judge_clock, judge_moments, judge_text, may_be_months
from sfumato.columns.value_counts import Cells, collect
from sfumato.columns.verdict import Verdict, option
from sfumato.domains import Categorical, Date, Domain
from sfumato.domains.periods import NUMBER
from sfumato.errors import SchemaError
from sfumato.reading import tables
from sfumato.writing.description import check_raw

__all__ = ["Examination", "Requests", "Verdict", "examine"]

MOST_VALUES = 100
#: A value of so many lines, in a column where hardly another has two, may be rows of the file.
MANY_LINES = 5
#: What a column can be asked for as, whatever it looks like.
KINDS = ("categorical", "identifier", "text")


@dataclass(frozen=True)
class Requests:
    """What was asked for, by the names of columns, and for all: about how many bins, and the most values.

    ``kinds`` keeps a column as a category that would be left out or counted as numbers, such as postal codes; keeps one
    as free text, whose values nobody lists; or leaves one out as an identifier.
    """

    bins: int = 20
    bins_of: Mapping[str, int] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    edges: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    by: Mapping[str, str] = field(default_factory=dict)
    spans: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # first and last of dates, as 2019 or 2019-05-31
    points: Mapping[str, int] = field(default_factory=dict)
    most_values: int = MOST_VALUES
    kinds: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = [kind for kind in self.kinds.values() if kind not in KINDS]
        if unknown:
            raise SchemaError(
                f"a column can be asked for as {', '.join(KINDS[:-1])} or {KINDS[-1]}, got {unknown[0]!r} instead"
                "; an order is written into the schema: kind ordinal, the values in their order"
            )
        numeric = sorted(
            {*self.kinds} & {*self.points, *self.edges, *self.bins_of, *self.ranges, *self.by, *self.spans}
        )
        if numeric:
            raise SchemaError(f"column {numeric[0]!r}: a column of that kind has no bins, ranges or periods")
        strange = [by for by in self.by.values() if by not in NUMBER]
        if strange:
            raise SchemaError(f"by must be one of {', '.join(NUMBER)}, got {strange[0]!r} instead")
        both = sorted({*self.points} & {*self.edges, *self.bins_of})
        if both:
            raise SchemaError(f"column {both[0]!r}: give either points or bins, not both")

    def of(self, name: str) -> Wanted:
        bins = self.bins_of.get(name, self.bins)
        return Wanted(bins, self.ranges.get(name), self.edges.get(name), self.points.get(name))

    def span(self, name: str) -> tuple[str, str] | None:
        """The first and the last date of a column; numbers are years."""
        years = self.ranges.get(name)
        return self.spans.get(name) if years is None else (f"{years[0]:04.0f}", f"{years[1]:04.0f}")

    @property
    def names(self) -> set[str]:
        return {*self.bins_of, *self.ranges, *self.edges, *self.by, *self.spans, *self.points, *self.kinds}


@dataclass(frozen=True)
class Examination:
    """The verdicts on all columns, and what there is to say about the file itself."""

    verdicts: tuple[Verdict, ...]
    rows: int
    notes: tuple[str, ...] = ()

    @property
    def domains(self) -> dict[str, Domain]:
        """What belongs into a schema."""
        return {v.name: v.domain for v in self.verdicts if v.domain is not None and v.kept}

    @property
    def left_out(self) -> tuple[Verdict, ...]:
        return tuple(verdict for verdict in self.verdicts if not verdict.kept)


def examine(
    table: Any,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    requests: Requests | None = None,
) -> Examination:
    """Look at every column of a table, or at those that are named."""
    requests = requests or Requests()
    check_raw(table)
    present = tables.column_names(table)
    absent = [name for name in (*drop, *sorted(requests.names)) if name not in present]
    if absent:
        raise SchemaError(f"the table has no column {absent[0]!r}; {tables.instead(absent[0], present)}")
    wanted = [name for name in (present if columns is None else columns) if name not in drop]
    if not wanted:
        raise SchemaError("no column is left to look at")
    text = tables.csv_format(table)
    found = collect(table, None if columns is None and not drop else wanted)
    verdicts = tuple(judge(cells, requests) for cells in found)
    return Examination(verdicts, max(cells.rows for cells in found), text.notes if text else ())


def judge(cells: Cells, requests: Requests) -> Verdict:
    """The verdict on one column."""
    verdict = _judge(cells, requests)
    if cells.name in {*requests.by, *requests.spans} and verdict.kind != "date":
        numbers = read_numbers(cells.counts).numbers if cells.kind == "text" else {}
        way = "--bins cuts a column of numbers"
        if cells.kind == "text" and not numbers:
            way = 'if it does, write into the schema how: {"kind": "date", ..., "formats": ["%d.%m.%Y"]}'
        elif numbers and look_like_months(numbers):
            way = as_months(numbers)
        raise SchemaError(f"column {cells.name!r} holds no dates: it has no periods; {way}")
    dated = verdict.kind == "date" and cells.name not in {*requests.edges, *requests.points}
    if requests.of(cells.name).asked and verdict.kind != "numeric" and not dated:
        raise SchemaError(f"column {cells.name!r} holds no numbers, or not only: it has no range ({verdict.why})")
    return replace(verdict, blank=cells.blank, problems=(*verdict.problems, *_swallowed(cells)))


def _swallowed(cells: Cells) -> list[str]:
    """What a quote too many does to a text file: the lines up to the next quote become one value."""
    if cells.kind != "text":
        return []
    lines = {text: text.count("\n") + 1 for text in cells.counts}
    several = sum(times for text, times in cells.counts.items() if lines[text] > 1)
    longest = max(lines.values(), default=1)
    if longest < MANY_LINES or several > 0.01 * cells.counts.total():
        return []
    return [f'a value of {longest} lines, where others have one: look for a quote (") too many in the file']


def _judge(cells: Cells, requests: Requests) -> Verdict:
    counts, wanted = cells.counts, requests.of(cells.name)
    if cells.infinite:
        return Verdict(cells.name, "unreadable", "holds infinite values: mend them, or write its domain by hand")
    if cells.kind not in ("text", "number", "boolean", "date", "time"):
        return Verdict(
            cells.name, "unreadable", f"of type {cells.kind} has no domain here: turn it into text or numbers"
        )
    if not counts:
        return Verdict(cells.name, "empty", "holds no values")
    if requests.kinds.get(cells.name) == "identifier":
        return Verdict(cells.name, "identifier", "as asked for")
    if cells.distinct == 1 and not wanted.asked and cells.name not in requests.by:
        return _constant(cells)
    if requests.kinds.get(cells.name) == "text":
        return as_text(cells)
    if cells.kind == "boolean" and requests.kinds.get(cells.name) in (None, "categorical"):
        domain = Categorical((False, True), bool(cells.blank))
        return Verdict(cells.name, "categorical", "true or false", "nothing more than its name", domain)
    if requests.kinds.get(cells.name) == "categorical":
        return as_category(cells, requests.most_values)
    if cells.kind == "date":
        return judge_moments(cells, counts + cells.later, requests.by.get(cells.name), requests.span(cells.name))
    if cells.kind == "time":
        hours = Date(by="hour of day", nullable=bool(cells.blank))
        return Verdict(cells.name, "date", "times of a day, by the hour", "nothing: every day has 24 hours", hours)
    if cells.kind == "number":
        numbered = None if wanted.asked else judge_numbered(cells, counts, requests.most_values)
        return numbered or judge_numbers(cells, counts + cells.later, wanted)
    return _judge_text(cells, counts, requests)


def _judge_text(cells: Cells, counts: Counter[str], requests: Requests) -> Verdict:
    wanted = requests.of(cells.name)
    if wanted.edges is None and wanted.points is None:
        found = judge_clock(cells, counts) or judge_text(
            cells, counts, requests.by.get(cells.name), requests.span(cells.name)
        )
        if not wanted.asked:
            found = found or judge_identifier(cells, counts, requests.most_values)
        if found is not None:
            return found
    if not any(_has_leading_zero(text) for text in counts) or wanted.asked:
        written = read_numbers(counts)
        if written.share >= MOSTLY and not (are_codes(written) and not wanted.asked):
            numbered = None if wanted.asked else judge_numbered(cells, written.numbers, requests.most_values)
            return numbered or judge_written(cells, read_numbers(counts + cells.later), wanted)
    verdict = judge_words(cells, counts, requests.most_values)
    if verdict.kept and may_be_months(counts):
        read = f"they may be months, or days without a year: --by {option(cells.name, 'month')} reads months"
        return replace(verdict, problems=(*verdict.problems, read))
    return verdict


def _constant(cells: Cells) -> Verdict:
    """One value in every row: nothing to learn. Beside blanks it still tells who gave it."""
    numbers = _plain_numbers(cells.counts) if cells.kind == "text" else ()
    value = next(iter(numbers or cells.counts))  # 0.0 in a file is the number that data frames hold
    nullable = bool(cells.blank)
    if not isinstance(value, str | bool | int | float):
        return Verdict(cells.name, "constant", "the same value in every row that has one")
    domain = Categorical((value,), nullable)
    if nullable:
        what = "word" if isinstance(value, str) else "value" if isinstance(value, bool) else "number"
        why = f"one {what}, or nothing"
        return Verdict(cells.name, "categorical", why, "the value", domain)
    return Verdict(cells.name, "constant", "the same value in every row", "the value", domain)


def _plain_numbers(counts: Counter[str]) -> Collection[float]:
    """The numbers that a column of text holds, where it holds nothing else: no unit, no word, no code such as 007."""
    written = read_numbers(counts)
    plain = not written.words and set(written.units) <= {""} and not any(_has_leading_zero(text) for text in counts)
    return written.numbers if plain else ()


def _has_leading_zero(text: str) -> bool:
    return len(text) > 1 and text[0] == "0" and text.isdigit()
