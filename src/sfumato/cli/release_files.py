"""Releases that a command is given as files, each of them once."""

from __future__ import annotations

from collections.abc import Sequence
from filecmp import cmp
from pathlib import Path

from sfumato.cli import console
from sfumato.errors import ReleaseError
from sfumato.release import Release


def load_together(files: Sequence[Path]) -> Release:
    """The releases in some files, of different records, as one."""
    check_once(files)
    releases = [Release.load(file) for file in files]
    return Release.concat(releases, ids=len({release.id for release in releases}) == 1)  # estimates need no ids


def check_once(files: Sequence[Path]) -> None:
    """Refuse a file that is named twice, and say which are copies of others: two small releases may be equal."""
    seen: dict[Path, Path] = {}
    for file in files:
        if (place := file.resolve()) in seen:
            raise ReleaseError(f"{file} is named twice: its records would count twice")
        same = next((other for known, other in seen.items() if _copies(place, known)), None)
        if same is not None:
            console.note(f"{file} is a copy of {same}: if they hold the same records, these are counted twice")
        seen[place] = file


def _copies(one: Path, other: Path) -> bool:
    both_files = one.is_file() and other.is_file()
    return both_files and one.stat().st_size == other.stat().st_size > 0 and cmp(one, other, shallow=False)
