"""A release in a folder: Parquet files, and ``_release.json`` beside them, which says what they are.

Each part of the release has a folder of its own, or the release has one part and all files are its. For every file the
description has its rows, its bytes and its SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfumato.errors import ReleaseError
from sfumato.reading.parquet_file import parquet_rows
from sfumato.reading.parquet_folder import part_files
from sfumato.reading.parquet_structure import most_rows
from sfumato.released.part import Part
from sfumato.released.writer import code_types, no_rows, release_document
from sfumato.scheme import Scheme
from sfumato.writing.whole_folders import DESCRIPTION

_CHUNK = 1 << 20
_LONGEST = 255  # bytes of a name, for most systems


def describe_folder(
    folder: Path,
    schemes: Sequence[Scheme],
    links: Sequence[str | None],
    id: str | None,
    order: str | None,
    inside: Sequence[str],
    known: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Write ``_release.json`` for the files that are there; ``inside`` has the folder of every part.

    ``known`` are the digests of files that were taken when they were written.
    """
    parts = []
    for scheme, link, place in zip(schemes, links, inside, strict=True):
        where = folder / place
        files = part_files(where) if where.is_dir() and any(where.rglob("*.parquet")) else []
        listed = {}
        for file in files:
            name = file.relative_to(folder).as_posix()
            listed[name] = (known or {}).get(name) or file_digest(file)
        rows = sum(int(one["rows"]) for one in listed.values())
        parts.append({"rows": rows, "link": link, "folder": place, "files": listed, "scheme": scheme.to_dict()})
    about = release_document(parts, id, links, order)
    path = folder / DESCRIPTION
    with path.open("w", encoding="utf-8") as out:
        out.write(json.dumps(about, ensure_ascii=False, indent=1))
        out.flush()
        os.fsync(out.fileno())


def file_digest(file: Path) -> dict[str, Any]:
    """What tells a finished file: its rows, its size and the digest of its bytes."""
    digest = hashlib.sha256()
    with file.open("rb") as given:
        while piece := given.read(_CHUNK):
            digest.update(piece)
    return {"rows": parquet_rows(file), "bytes": file.stat().st_size, "sha256": digest.hexdigest()}


def folder_parts(
    folder: Path,
    documents: Sequence[Mapping[str, Any]],
    entries: Sequence[tuple[int, Scheme, str | None, bool]],
    id: str | None,
    order: str | None,
) -> list[Part]:
    """The parts of a release in a folder, whose files must be those that the description lists."""
    import pyarrow as pa

    out: list[Part] = []
    places: list[str] = []
    size = 0
    for document, (rows, scheme, link, raw) in zip(documents, entries, strict=True):
        place, listed = document.get("folder"), document.get("files")
        if (
            not isinstance(place, str)
            or not isinstance(listed, Mapping)
            or place in ("", "..")
            or (place != Path(place).name and place != ".")
            or place in places
            or len(place.encode("utf-8", "surrogatepass")) > _LONGEST
            or (place == "." and len(documents) > 1)
        ):
            raise ReleaseError(
                f"{folder}: the description of the release is damaged: a part names no folder of its own"
            )
        places.append(place)
        if not rows:
            nobody = no_rows({**code_types(scheme), **({id: pa.string()} if id else {})})
            out.append(Part(nobody, scheme, id, link, order, raw))
            continue
        where = folder / place
        found = {f.relative_to(folder).as_posix(): f for f in part_files(where)} if where.is_dir() else {}
        for name in sorted(set(found) ^ set(listed)):
            held = "is missing" if name in listed else f"is not in {DESCRIPTION}"
            raise ReleaseError(f"{folder}: the file {name} {held}")
        for name, file in found.items():
            if folder.resolve() not in file.resolve().parents:
                raise ReleaseError(f"{file}: is a link that leads out of the folder of the release")
            about = listed[name]
            if not isinstance(about, Mapping) or file.stat().st_size != about.get("bytes"):
                raise ReleaseError(f"{file}: is not the file that {DESCRIPTION} describes: its size differs")
        if sum(parquet_rows(file) for file in found.values()) != rows:
            raise ReleaseError(f"{folder}: the scheme speaks of {rows} rows, the files hold another number")
        size += sum(file.stat().st_size for file in found.values())
        out.append(Part(where, scheme, id, link, order, raw))
    if sum(rows for rows, *_ in entries) > most_rows(size):
        raise ReleaseError(f"{folder}: its files hold more rows than so few bytes can")
    return out
