"""Noticing that a file is another one than it was: replaced, changed, or cut short."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import NamedTuple


class Stamp(NamedTuple):
    """What tells one state of a file from another without reading it."""

    device: int
    inode: int
    size: int
    modified: int  # in nanoseconds


def stamp(path: str | Path) -> Stamp | None:
    """The state of a file now; None for a pipe or a file that is not there, which have none."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
