"""Folders that are either whole or not there: filled beside the target, then moved into its place."""

from __future__ import annotations

import errno
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sfumato.errors import ReleaseError

#: The files of a release in a folder, and what Spark leaves beside them.
_OURS = re.compile(r"release\.json|part-[^/]*\.parquet|_SUCCESS|\.[^/]*\.crc")


@contextmanager
def replacing_folder(target: str | Path, overwrite: bool = False) -> Iterator[Path]:
    """A new folder beside the target, which takes the target's place only if the block ends without an error."""
    path = Path(target)
    check_folder(path, overwrite)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        temporary.mkdir()
        yield temporary
        take_place(temporary, path)
    except OSError as problem:
        raise ReleaseError(f"{path}: {in_words(problem)}; nothing was changed") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def check_folder(path: Path, overwrite: bool) -> None:
    """Raise unless a folder can be written there."""
    if not path.name:
        raise ReleaseError(f"{str(path)!r} names no folder: choose a name")
    if path.exists() and not overwrite:
        raise ReleaseError(f"{path} already exists; choose another name or allow overwriting")
    if path.exists() and not path.is_dir():
        raise ReleaseError(f"{path} is a file, and this release is a folder: choose another name")
    other = next((file for file in path.rglob("*") if not file.is_dir() and not _OURS.fullmatch(file.name)), None)
    if other is not None:
        raise ReleaseError(
            f"{path} holds {other.relative_to(path)}, which is no part of a release, and would be deleted: choose "
            f"another name"
        )
    if not path.parent.is_dir():
        raise ReleaseError(f"{path}: the folder {path.parent} does not exist")


def take_place(temporary: Path, path: Path) -> None:
    """Put a finished folder where another one may be, which then is gone."""
    old = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    if path.exists():
        path.rename(old)
    temporary.rename(path)
    shutil.rmtree(old, ignore_errors=True)


def in_words(problem: OSError) -> str:
    """Why a folder cannot be written."""
    if problem.errno == errno.ENOSPC:
        return "the disk is full: free some space and try again"
    return f"cannot be written: {problem.strerror or type(problem).__name__}"
