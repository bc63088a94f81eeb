"""What nobody will ask for again: uploads that were never finished, and files that a crash left behind."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sfumato.service.clock import HOUR
from sfumato.service.upload import Upload

#: So long after it was announced an upload that is not complete is forgotten.
UNFINISHED = 7 * 24 * HOUR


def unfinished(held: Iterable[Upload], now: float) -> list[Upload]:
    """The uploads that nobody went on with. Whoever comes back announces the file again."""
    return [one for one in held if one.state == "arriving" and one.hour + UNFINISHED <= now]


def left_behind(folder: Path, known: Iterable[Path]) -> list[Path]:
    """Files of uploads that belong to none: of a process that was killed between the disk and the database."""
    kept = set(known)
    found = (path for kind in ("*.arriving", "*.parquet", "*.json") for path in folder.glob(f"*/{kind}"))
    return sorted(path for path in found if path not in kept)
