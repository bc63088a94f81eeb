"""What a file says of itself: the JSON inside a Parquet file, beside a CSV file or in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato.errors import ReleaseError, SfumatoError
from sfumato.reading import tables
from sfumato.reading.json_documents import DocumentError, read_json
from sfumato.reading.parquet_file import parquet_notes
from sfumato.writing.described_file import KEY, sidecar
from sfumato.writing.whole_folders import DESCRIPTION


def document_of(path: Path) -> Any:
    """The JSON that a release carries, wherever it stands."""
    try:
        if path.is_dir():
            beside = path / DESCRIPTION
            if not beside.is_file():
                raise ReleaseError(f"{path} carries no scheme: {DESCRIPTION} is missing in the folder")
            return read_json(beside.read_bytes(), "it")
        if tables.suffix(path) in tables.CSV:
            beside = sidecar(path)
            if not beside.is_file():
                raise ReleaseError(
                    f"{path} has no scheme: {beside.name} is missing beside it; a raw table has none, and becomes a "
                    f"release by sfumato randomize"
                )
            return read_json(beside.read_bytes(), "it")
        notes = parquet_notes(path)
        if KEY not in notes:
            raise ReleaseError(f"{path} carries no scheme: it is an ordinary Parquet file, not a release")
        return read_json(notes[KEY], "it")
    except DocumentError as problem:
        raise ReleaseError(f"{path}: the description of the release is damaged: {problem}") from None


def is_release(path: Path) -> bool:
    """Whether a file or folder says that it is a release."""
    try:
        document = document_of(path)
    except (SfumatoError, OSError):
        return False
    return isinstance(document, dict) and document.get("format") == "sfumato release"


def check_raw(table: Any) -> None:
    """Refuse the file of a release where a raw table is asked for: its codes look like numbers and grades."""
    if tables.is_path(table) and is_release(path := Path(table)):
        raise ReleaseError(
            f"{path} is a release: it holds answers that were changed by chance, as codes, and no values; "
            f"take the table that it was made of (sfumato inspect {path} says what it holds)"
        )
