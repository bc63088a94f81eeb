"""What a reader of files complains about, in words that do not quote the file: messages end up in logs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from sfumato.errors import SchemaError, SfumatoError, showing_values

#: How a reader's message begins or what it contains, and what is said instead; groups are numbers or types only.
_KNOWN = (
    (r"No space left on device", "the disk is full"),
    (r"Expected (\d+) columns, got (\d+)", r"a row has \2 fields where \1 are expected"),
    (r"CSV conversion error to (?:double|float)", "a field is no number"),
    (r"CSV conversion error to (\w+)", r"a field cannot be read as \1"),
    (r"straddling object|CSV parser got out of sync", "a row is too long, or a quote is not closed"),
    (r"invalid UTF-?8|Invalid UTF-?8|'utf-8' codec", "it is not UTF-8 text"),
    (r"Empty CSV", "the file is empty"),
    (r"magic bytes|size is 0 bytes|smaller than the minimum", "it is not a Parquet file, or was cut short"),
    (r"[Ee]ncrypted|[Dd]ecryption", "it is encrypted: write it without"),
    (r"thrift|Thrift|footer|metadata", "its description is damaged"),
    (r"end of stream|EOF|Truncated|truncated", "it was cut short"),
    (r"[Cc]orrupt|decompress|checksum", "it is damaged"),
)
_PLACE = re.compile(r"In CSV column #(\d+)")


def described(problem: BaseException) -> str:
    """What is wrong, without a word of the file unless values may be shown.

    >>> described(ValueError("In CSV column #1: CSV conversion error to double: invalid value 'Smith'"))
    'column 2: a field is no number'
    """
    text = str(problem).strip()
    if showing_values():
        return (text.splitlines() or [type(problem).__name__])[0]
    if isinstance(problem, MemoryError):
        return "there is not enough memory for it"
    if isinstance(problem, OSError) and problem.strerror:
        return problem.strerror
    place = _PLACE.search(text)
    where = f"column {int(place[1]) + 1}: " if place else ""
    for pattern, said in _KNOWN:
        found = re.search(pattern, text)
        if found:
            return where + found.expand(said)
    return f"{where}it is damaged, or of another kind than its name says ({type(problem).__name__})"


@contextmanager
def without_values(what: str) -> Iterator[None]:
    """Say in our words whatever a table's own engine complains about: a query that is only now computed quotes rows."""
    try:
        yield
    except (SfumatoError, MemoryError):
        raise
    except Exception as problem:
        raise SchemaError(f"{what}: {described(problem)}") from None
