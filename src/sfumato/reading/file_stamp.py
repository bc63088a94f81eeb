"""Noticing that a file or folder is another one than it was: replaced, changed, or cut short."""

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
    """The state of a file, or of the files of a folder, now; None for a pipe or what is not there, which have none."""
    try:
        found = Path(path).stat()
        if stat.S_ISDIR(found.st_mode):
            inside = [one.stat() for one in Path(path).rglob("*")]
            size, latest = sum(one.st_size for one in inside), max((one.st_mtime_ns for one in inside), default=0)
            return Stamp(found.st_dev, found.st_ino, size, latest)
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return Stamp(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
