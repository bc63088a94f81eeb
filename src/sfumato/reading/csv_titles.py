"""Lines of a text file that belong to no table: a title above the header, a total below the last record."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from sfumato.reading.csv_header import words_above_numbers

_MOSTLY = 0.8  # of the lines below it have the fields of the table
_FOOTER = 5  # lines that it has
_TAIL = 1 << 13  # bytes at the end of a file, in which its last record is looked for
_TOTAL = re.compile(r"((grand\s+)?total[es]*|sums?|(gesamt)?summe|(ins)?gesamt|somme|suma|totaal|totalt)\s*:?", re.I)


def around(title: int, data: Sequence[Sequence[str]], last: Sequence[str]) -> list[str]:
    """What to say of lines that may be a title above the table, or a total below it."""
    notes = []
    if title:
        lines_that = "line looks" if title == 1 else f"{title} lines look"
        notes.append(f"the first {lines_that} like a title above the header: if so, say --skip {title}")
    if is_total(last, data):
        notes.append("the last line looks like a total, and counts as a record: if so, delete it in a copy of the file")
    return notes


def is_total(last: Sequence[str], data: Sequence[Sequence[str]]) -> bool:
    """Whether a record has a number, and a word for a total where no other record has one.

    >>> data = [["north", "3"], ["south", "4"], ["Total", "7"]]
    >>> is_total(data[-1], data), is_total(data[0], data), is_total(["total", "1"], [["total", "2"], ["total", "1"]])
    (True, False, False)
    """
    for place, cell in enumerate(last):
        if _TOTAL.fullmatch(cell.strip()):
            named = sum(place < len(row) and _TOTAL.fullmatch(row[place].strip()) is not None for row in data)
            return named < 2 and any(re.search(r"\d", other) for other in last)
    return False


def last_record(path: Path, encoding: str, delimiter: str) -> list[str]:
    """The fields of the last line of a file that is not compressed."""
    if path.name.lower().endswith(".gz"):
        return []
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - _TAIL, 0))
        lines = file.read().decode(encoding, "replace").rstrip().splitlines()
    return next(csv.reader(lines[-1:], delimiter=delimiter), [])


def title_lines(text: str, delimiters: Sequence[str]) -> int:
    """How many lines above the header look like a title: they have not the fields that nearly all lines below have.

    A line with one field less is none, unless there is a header below it: so headers look that do not name the rows.

    >>> title_lines("Clinic A\\n\\nid;age\\n1;20\\n2;30\\n", ",;"), title_lines("x\\nr1,2\\nr2,3\\n", ",;")
    (2, 0)
    >>> title_lines("Clinic A\\nname,age\\nr1,2\\nr2,3\\n", ",;")
    1
    """
    for sign in delimiters:
        rows, ends = _records(text, sign)
        widths = Counter(len(row) for row in rows if row)
        width = widths.most_common(1)[0][0] if widths else 0
        above = next((place for place, row in enumerate(rows) if len(row) == width and _filled(row) > 1), 0)
        if above and len(rows[above - 1]) == width - 1 == _filled(rows[above - 1]) and not _named(rows[above:], width):
            above -= 1
        below = [len(row) for row in rows[above:] if row]
        if any(map(_filled, rows[:above])) and below.count(width) >= max(2.0, _MOSTLY * len(below)):
            return ends[above - 1]
    return 0


def _named(rows: Sequence[list[str]], width: int) -> bool:
    """Whether the first of these records names the columns: a word stands above numbers."""
    whole = [row for row in rows if len(row) == width]
    return len(whole) > 2 and any(cell.strip() for cell in whole[0]) and words_above_numbers(whole)


def _filled(row: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)


def _records(text: str, delimiter: str) -> tuple[list[list[str]], list[int]]:
    """The records, blank lines among them, and the line in which each ends."""
    rows: list[list[str]] = []
    ends: list[int] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        for row in reader:
            rows.append(row)
            ends.append(reader.line_num)
    except csv.Error:  # a field larger than is sensible
        pass
    return rows, ends


def is_footer(below: Iterable[Sequence[str]], width: int) -> bool:
    """Whether a line with other fields, and what stands below it, end a table: few lines, none of them a record."""
    few = 1
    for row in below:
        few += 1
        if len(row) == width or few > _FOOTER:
            return False
    return True
