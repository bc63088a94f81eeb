"""The line of a text file that cannot be read as the others are: the wrong number of fields, or a quote left open."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from sfumato.reading.csv_format import CsvFormat, opened
from sfumato.reading.csv_titles import is_footer

_MEND = "mend the line, or say --delimiter"
_NEAR_THE_TOP = 30  # lines: what is wrong there may be a title


def find_ragged(path: Path, found: CsvFormat) -> str | None:
    """The first record whose number of fields differs from the header's, and what to do; nothing is quoted."""
    records, good = _records(path, found), 0
    for first, last, text, row in records:
        if (row is None or first < last) and _open_quote(text, found):
            return f"{_not_closed(first)}: {_MEND}"
        if row is None:
            return f"line {last} cannot be read as fields: {_MEND}"
        if last > found.skip and row and len(row) != len(found.names):
            fields = f"{len(row)} field{'s' * (len(row) != 1)}"
            others = "the header has" if found.header else "the first has"
            mend = _MEND
            if good and is_footer((row for *_, row in records if row), len(found.names)):
                mend = f"if a total or a remark, leave out line {first} and what stands below, in a copy of the file"
            elif found.title or last <= _NEAR_THE_TOP:
                mend += f"; where a title stands above the header, say --skip {found.title or 'and how many lines'}"
            return f"line {last} has {fields}, {others} {len(found.names)}: {mend}"
        good += last > found.skip
    return None


def find_open_quote(path: Path, found: CsvFormat) -> str | None:
    """The line in which a quote opens that nothing closes: all that follows is one field then."""
    first = next((line for line, _, text, _ in _records(path, found) if _open_quote(text, found)), None)
    return None if first is None else _not_closed(first)


def _not_closed(line: int) -> str:
    return f'in line {line} a quote (") opens that is not closed'


def _records(path: Path, found: CsvFormat) -> Iterator[tuple[int, int, str, list[str] | None]]:
    """The first and the last line of every record, its text, and its fields.

    A field of more than 128 kB ends them: no fields then, and for its text a quote if those that follow are odd.
    """
    held: list[str] = []

    def lines() -> Iterator[str]:
        for line in text:
            held.append(line)
            yield line

    with opened(path) as raw, io.TextIOWrapper(raw, encoding=found.encoding, errors="replace", newline="") as text:
        for _ in range(found.above):
            next(text)
        reader = csv.reader(lines(), delimiter=found.delimiter)
        first = found.above + 1
        try:
            for row in reader:
                yield first, found.above + reader.line_num, "".join(held), row
                first = found.above + reader.line_num + 1
                held.clear()
        except csv.Error:
            last = found.above + reader.line_num
            quotes = sum(line.count('"') for line in (*held, *text))
            yield first, last, '"' * (quotes % 2), None


def _open_quote(text: str, found: CsvFormat) -> bool:
    """Whether a record ends within quotes."""
    try:
        list(csv.reader(io.StringIO(text, newline=""), delimiter=found.delimiter, strict=True))
    except csv.Error as problem:
        return "unexpected end" in str(problem)
    return False
