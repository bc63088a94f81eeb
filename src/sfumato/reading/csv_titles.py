"""Lines of a text file that belong to no table: a title above the header, a total below the last record."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Sequence

_MOSTLY = 0.8  # of the lines below it have the fields of the table
_FOOTER = 5  # lines that it has


def title_lines(text: str, delimiters: Sequence[str]) -> int:
    """How many lines above the header look like a title: they have not the fields that nearly all lines below have.

    A line with one field less is none: so headers look that do not name the rows.

    >>> title_lines("Clinic A\\n\\nid;age\\n1;20\\n2;30\\n", ",;"), title_lines("x\\nr1,2\\nr2,3\\n", ",;")
    (2, 0)
    """
    for sign in delimiters:
        rows, ends = _records(text, sign)
        widths = Counter(len(row) for row in rows if row)
        width = widths.most_common(1)[0][0] if widths else 0
        above = next((place for place, row in enumerate(rows) if len(row) == width and _filled(row) > 1), 0)
        if above and len(rows[above - 1]) == width - 1 == _filled(rows[above - 1]):
            above -= 1
        below = [len(row) for row in rows[above:] if row]
        if any(map(_filled, rows[:above])) and below.count(width) >= max(2.0, _MOSTLY * len(below)):
            return ends[above - 1]
    return 0


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
