"""Tables of counts in a file: JSON with the schemes that explain them, which an officer can read before it leaves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ReleaseError, SfumatoError, cause
from sfumato.reading.json_documents import DocumentError, read_json
from sfumato.released.counted import Columns, CountedPart, check_tables, merged_parts
from sfumato.released.description import check_matrices, read_schemes
from sfumato.released.part import Part
from sfumato.scheme import Scheme
from sfumato.writing.whole_files import replacing

COUNTS, SHARE = "sfumato counts", "sfumato share"
VERSION = 1
#: The most cells of all tables of a file together.
MOST_CELLS = 1 << 22
#: The most bytes of a file that is read: numbers of 20 digits, and as much again for schemes.
MOST_BYTES = 1 << 28
#: Counts up to this are exact as doubles, and the sums of many sites fit into 64 bits.
MOST_RECORDS = 1 << 50
_LARGEST = 1 << 63

#: Of each part the scheme, the number of records and its tables.
Entry = tuple[Scheme, int, dict[Columns, NDArray[np.uint64]]]


def read_counts(path: Path) -> list[CountedPart]:
    """The parts of a file of counts."""
    document = read_document(path)
    if document.get("format") == SHARE:
        raise ReleaseError(f"{path}: is a share of counts, which says nothing by itself: add it up with sfumato add")
    if document.get("format") != COUNTS:
        raise ReleaseError(f"{path}: is neither a release nor a file of counts, as sfumato counts writes it")
    parts = [counted_part(*entry, path) for entry in read_entries(document, path)]
    marks = [part.get("raw", False) for part in document["parts"]]
    if not all(isinstance(mark, bool) for mark in marks):
        raise ReleaseError(f"{path}: raw, the mark of counts of raw records, must be true or false")
    return [replace(part, raw=mark) for part, mark in zip(parts, marks, strict=True)]


def counted_part(scheme: Scheme, records: int, held: dict[Columns, NDArray[np.uint64]], path: object) -> CountedPart:
    """A part with its tables checked."""
    if records > MOST_RECORDS:
        raise ReleaseError(f"{path}: speaks of {records} records, more than {MOST_RECORDS}: it is damaged")
    part = CountedPart({c: table.astype(np.int64) for c, table in held.items()}, scheme, records=records)
    try:
        check_tables(part)
    except ReleaseError as problem:
        raise ReleaseError(f"{path}: {problem}") from None
    return part


def write_counts(path: str | Path, parts: Sequence[Part], overwrite: bool = False) -> Path:
    """Write the tables; parts of the same tables under the same scheme are added up."""
    held = [part for part in parts if isinstance(part, CountedPart)]
    if len(held) < len(parts):
        raise ReleaseError(f"{path}: some parts are tables of counts, others rows: count the others too")
    merged = merged_parts(held)
    entries = [
        (part.scheme, part.records, {c: table.astype(np.uint64) for c, table in part.tables.items()}) for part in merged
    ]
    write_entries(path, {"format": COUNTS, "version": VERSION}, entries, overwrite, [part.raw for part in merged])
    return Path(path)


def write_entries(
    path: str | Path,
    about: dict[str, Any],
    entries: Sequence[Entry],
    overwrite: bool = False,
    raw: Sequence[bool] | None = None,
) -> None:
    """Write what the file says of itself, then its parts; those of raw records are marked."""
    if not str(path).lower().endswith(".json"):
        raise ReleaseError(f"{path}: tables of counts are written as JSON: choose a name that ends in .json")
    cells = sum(table.size for _, _, held in entries for table in held.values())
    if cells > MOST_CELLS:
        raise ReleaseError(f"{path}: the tables have {cells:,} cells, more than {MOST_CELLS:,}: count fewer or smaller")
    check_matrices({scheme.fingerprint: scheme for scheme, _, _ in entries}.values())  # reading would refuse it
    parts = [
        {
            "scheme": scheme.to_dict(),
            "records": int(records),
            **({"raw": True} if mark else {}),
            "tables": [{"columns": list(columns), "counts": table.tolist()} for columns, table in held.items()],
        }
        for (scheme, records, held), mark in zip(entries, raw or [False] * len(entries), strict=True)
    ]
    with replacing(path, overwrite) as temporary:
        temporary.write_text(json.dumps(about | {"parts": parts}, ensure_ascii=False), encoding="utf-8")


def is_counts_file(path: Path) -> bool:
    """Whether a JSON file holds counts, or a share of them, and not a scheme or something else."""
    try:
        return path.suffix.lower() == ".json" and read_document(path).get("format") in (COUNTS, SHARE)
    except SfumatoError:
        return False


def read_document(path: Path) -> dict[str, Any]:
    """The JSON object in a file."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ReleaseError(f"{path}: is larger than any file of counts, {MOST_BYTES >> 20} MB")
        found = read_json(path.read_bytes(), "it")
    except DocumentError as problem:
        raise ReleaseError(f"{path}: cannot be read: {problem}") from None
    except OSError as problem:
        raise ReleaseError(f"{path}: cannot be read: {problem.strerror}") from None
    if not isinstance(found, dict):
        raise ReleaseError(f"{path}: is not a file of counts, as sfumato counts writes it")
    return found


def read_entries(document: dict[str, Any], path: Path) -> list[Entry]:
    """The parts of a file, whose numbers may be counts or shares of counts."""
    if document.get("version") != VERSION:
        raise ReleaseError(f"{path}: version {document.get('version')!r} is unknown: this program reads {VERSION}")
    try:
        found = document["parts"]
        if not isinstance(found, list) or not found:
            raise ReleaseError("it names no parts")
        schemes = read_schemes([part["scheme"] for part in found])
        return [
            (scheme, _whole(part["records"]), _tables(scheme, part["tables"]))
            for scheme, part in zip(schemes, found, strict=True)
        ]
    except SfumatoError as problem:
        raise ReleaseError(f"{path}: {problem}") from None
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as problem:
        raise ReleaseError(f"{path}: the tables of counts are damaged: {cause(problem)}") from None


def _tables(scheme: Scheme, found: list[Any]) -> dict[Columns, NDArray[np.uint64]]:
    sizes = scheme.output_sizes
    out: dict[Columns, NDArray[np.uint64]] = {}
    seen: set[frozenset[str]] = set()
    for table in found:
        columns = tuple(table["columns"])
        unknown = [column for column in columns if column not in sizes]
        if unknown or not columns or len(set(columns)) < len(columns):
            raise ReleaseError("a table must name some released columns of its scheme, each once")
        if frozenset(columns) in seen:
            raise ReleaseError(f"the table of {', '.join(columns)} is there twice")
        seen.add(frozenset(columns))
        cells = prod(sizes[column] for column in columns)
        if len(table["counts"]) != cells:
            raise ReleaseError(f"the table of {', '.join(columns)} must have {cells} counts, it has another number")
        out[columns] = np.array([_whole(count) for count in table["counts"]], dtype=np.uint64)
    return out


def _whole(number: Any) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < _LARGEST:
        raise ReleaseError("counts must be whole numbers, not negative and below 2^63")
    return number
