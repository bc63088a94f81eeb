"""What nobody will ask for again: uploads that were never finished, or refused, and files that a crash left behind."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sfumato.service.clock import HOUR
from sfumato.service.upload import Upload

#: So long after it was announced an upload that is not complete, or was refused, is forgotten.
UNFINISHED = 7 * 24 * HOUR
#: The states of those that are.
FORGOTTEN = ("arriving", "refused")
_KINDS = ("*.arriving", "*.rewritten", "*.parquet", "*.json", "tmp*/*")  # the last: of a process that read one


def unfinished(held: Iterable[Upload], now: float) -> list[Upload]:
    """The uploads that nobody went on with. Whoever comes back announces the file again."""
    return [one for one in held if one.state in FORGOTTEN and one.hour + UNFINISHED <= now]


def left_behind(folder: Path, known: Iterable[Path]) -> list[Path]:
    """Files of uploads that belong to none: of a process that was killed between the disk and the database."""
    kept = set(known)
    found = (path for kind in _KINDS for path in folder.glob(f"*/{kind}"))
    return sorted(path for path in found if path not in kept)
