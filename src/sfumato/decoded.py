"""How much memory the rows of a file may take. A few kilobytes of Parquet can stand for a billion rows."""

from __future__ import annotations

from pathlib import Path

from sfumato.errors import ReleaseError

#: What any file may decode to.
ALWAYS_FITS = 1 << 27
#: How many times its own size a larger file may decode to; released codes are random and hardly compress.
MOST_EXPANSION = 128


def check_decoded(path: Path, rows: int, row_bytes: int) -> None:
    """Raise where the rows of a file would take far more memory than the file itself, before they are read."""
    most = max(ALWAYS_FITS, MOST_EXPANSION * path.stat().st_size)
    if rows * row_bytes > most:
        raise ReleaseError(
            f"{path}: its {rows} rows would take {rows * row_bytes >> 20} MB of memory, more than {MOST_EXPANSION} "
            f"times the file: such rows are not randomized; ask its owner for files of fewer rows"
        )
