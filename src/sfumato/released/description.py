"""What a release says of itself: its parts with their schemes, its id column, and the order of its rows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sfumato.channels.size_limits import check_cells
from sfumato.domains import check_bins
from sfumato.errors import ReleaseError, SfumatoError, cause
from sfumato.reading import tables
from sfumato.released.writer import VERSION
from sfumato.scheme import Scheme
from sfumato.writing.described_file import RESAMPLED, content, sidecar
from sfumato.writing.description import document_of

_OLD = (
    "is of version 1: its keyed answers gave both values away when a value changed, and its ids stood in the clear; "
    "ask its owner to release it again"
)


_ORDERS = (None, "shuffled", "kept")

#: Rows, scheme and key of the pseudonyms of a part, and whether it holds raw records.
Described = tuple[int, Scheme, str | None, bool]


def read_description(path: Path) -> tuple[list[Described], str | None, str | None]:
    """What is said of each part; the id column; the order of the rows."""
    document = document_of(path)
    if is_resampled(document):
        raise ReleaseError(
            f"{path} is no release but a table of new rows, written by sfumato resample: read it with any tool, as it "
            "is; sfumato inspect tells how it was made"
        )
    if not isinstance(document, dict) or document.get("format") != "sfumato release":
        raise ReleaseError(f"{path}: what stands where the scheme should be is not a release's description")
    if document.get("version") == 1:
        raise ReleaseError(f"{path}: the release {_OLD}")
    if document.get("version") != VERSION:
        found = document.get("version")
        raise ReleaseError(f"{path}: release version {found!r} is unknown: this program reads version {VERSION}")
    try:
        schemes = read_schemes([p["scheme"] for p in document["parts"]])
        parts = zip(document["parts"], schemes, strict=True)
        entries = [(_row_count(p["rows"]), s, p["link"], p.get("raw", False)) for p, s in parts]
        identifier = None if document["id"] is None else document["id"]["name"]
        order = document["order"]
        proper = all(isinstance(text, str | None) for text in (identifier, *(link for _, _, link, _ in entries)))
        marked = all(isinstance(raw, bool) for _, _, _, raw in entries)
        if not entries or not proper or not marked or order not in _ORDERS:
            raise ReleaseError("it names no parts, or no proper id column or order")
    except SfumatoError as problem:
        raise ReleaseError(f"{path}: {problem}") from None
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as problem:
        raise ReleaseError(f"{path}: the description of the release is damaged: {cause(problem)}") from None
    if tables.suffix(path) in tables.CSV and any(document.get(k) != v for k, v in content(path).items()):
        raise ReleaseError(f"{path} is not the file that {sidecar(path).name} describes: its content differs")
    return entries, identifier, order


def is_resampled(document: Any) -> bool:
    """Whether a description is that of a table of new rows, which anything reads as it is."""
    return isinstance(document, dict) and document.get("format") == RESAMPLED


def part_documents(path: Path) -> list[Any]:
    """What the description of a release says of each part, after ``read_description`` has found it proper."""
    return list(document_of(path)["parts"])


def check_matrices(schemes: Iterable[Scheme]) -> None:
    """Raise where the different channels of all parts together would not fit into memory."""
    channels = {id(group.channel): group.channel for scheme in schemes for group in scheme.groups}
    check_cells(sum(channel.matrix_cells for channel in channels.values()))


def read_schemes(documents: list[Any]) -> list[Scheme]:
    """The scheme of each part. Equal ones are read once, and limits hold for all parts together."""
    texts = [json.dumps(document) for document in documents]
    different = dict(zip(texts, documents, strict=True))
    schemas = [d.get("schema") for d in different.values() if isinstance(d, dict)]
    check_bins({f"{i} {name}": s[name] for i, s in enumerate(schemas) if isinstance(s, dict) for name in s})
    read = {text: Scheme.from_dict(document) for text, document in different.items()}
    check_matrices(read.values())
    return [read[text] for text in texts]


def _row_count(rows: Any) -> int:
    if not isinstance(rows, int) or isinstance(rows, bool) or not 0 <= rows < 1 << 62:
        raise ReleaseError("it gives a number of rows that cannot be one")
    return rows
