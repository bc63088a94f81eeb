"""The first record of a text file: whether it names the columns, and how each is called."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)*(?:[eE][-+]?\d+)?")
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_SHOWN = 5  # names in a note, and notes of a kind


def turned(rows: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """The cells of each column; rows may be of any length."""
    out: list[list[str]] = [[] for _ in range(width)]
    for row in rows:
        for column, cell in zip(out, row, strict=False):
            column.append(cell.strip())
    return out


def has_header(rows: list[list[str]]) -> bool:
    """Whether the first record names the columns: it looks unlike the others."""
    others = rows[1:]
    if not others:
        return True
    named = _named(rows)
    if words_above_numbers(rows):
        return True
    numbers = [cell for cell, _ in named if _is_number(cell)]
    if numbers:  # 2019, 2020, 2021 above columns of numbers are names
        years = [int(cell) for cell in numbers if re.fullmatch(r"\d{4}", cell) and 1800 <= int(cell) <= 2200]
        return len(years) == len(numbers) and all(a < b for a, b in pairwise(years))
    return not (len(others) >= 5 and named and all(cell in cells for cell, cells in named))


def words_above_numbers(rows: list[list[str]]) -> bool:
    """Whether the first record has a word where most others have numbers."""
    return any(not _is_number(cell) and sum(map(_is_number, cells)) > len(cells) / 2 for cell, cells in _named(rows))


def _named(rows: list[list[str]]) -> list[tuple[str, list[str]]]:
    """The cells of the first record that are not empty, and what stands below each."""
    columns = turned(rows[1:], len(rows[0]))
    return [(cell.strip(), cells) for cell, cells in zip(rows[0], columns, strict=True) if cell.strip()]


def quoted_cells(text: str, lines: int) -> set[str]:
    """The cells of the first record, which takes so many lines, that stand in quotes.

    >>> quoted_cells('a," b"\\n" c",d', 1)
    {' b'}
    """
    first = "\n".join(text.split("\n", lines)[:lines])
    return {cell.replace('""', '"') for cell in _QUOTED.findall(first)}


def column_names(first: list[str], width: int, data: list[list[str]]) -> tuple[list[str], list[str], list[str]]:
    """A name for every column, those that several share, and what there is to say about it."""
    notes: list[str] = []
    if not first:
        return [f"column{place}" for place in range(1, width + 1)], [], notes
    given = list(first)
    if width == len(given) + 1 and data:
        last_empty = all(not row[-1].strip() for row in data if len(row) == width)
        given = [*given, ""] if last_empty else ["row", *given]
        notes.append(
            "every line ends in a delimiter" if last_empty else "the first column has no name: it is called row"
        )
    names = [name or f"column{place}" for place, name in enumerate(given, 1)]
    blank = [name for name, old in zip(names, given, strict=True) if not old]
    if blank and len(given) == len(first):
        notes.append(f"columns without a name are called {', '.join(blank[:_SHOWN])}")
    twice = [name for name, times in Counter(names).items() if times > 1]
    return names, twice, notes + _tell_apart(names, twice)


def _tell_apart(names: list[str], twice: list[str]) -> list[str]:
    """Number the columns that share a name, and say so."""
    notes: list[str] = []
    shared: dict[str, list[int]] = {name: [] for name in twice}
    for place, name in enumerate(names):
        if name in shared:
            shared[name].append(place)
    taken = set(names)
    for name, places in shared.items():
        number = 0
        for place in places:
            number += 1
            while f"{name}_{number}" in taken:
                number += 1
            names[place] = f"{name}_{number}"
        fresh = [names[place] for place in places]
        taken.update(fresh)
        if len(notes) < _SHOWN:
            more = ", ..." if len(fresh) > _SHOWN else ""
            notes.append(f"{len(places)} columns are called {name}: now {', '.join(fresh[:_SHOWN])}{more}")
    if len(twice) > _SHOWN:
        notes.append(f"{len(twice) - _SHOWN} more names are shared by several columns, and numbered too")
    return notes


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(cell) is not None
