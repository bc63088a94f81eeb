"""Releases that a command is given as files, each of them once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sfumato.errors import ReleaseError
from sfumato.release import Release


def load_together(files: Sequence[Path]) -> Release:
    """The releases in some files, of different records, as one."""
    check_once(files)
    return Release.concat([Release.load(file) for file in files])


def check_once(files: Sequence[Path]) -> None:
    """Refuse a file that is named twice."""
    seen: set[Path] = set()
    for file in files:
        if (place := file.resolve()) in seen:
            raise ReleaseError(f"{file} is named twice: its records would count twice")
        seen.add(place)
