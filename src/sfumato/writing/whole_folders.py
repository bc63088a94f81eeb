"""Folders that are either whole or not there: filled beside the target, then moved into its place."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sfumato.errors import ReleaseError
from sfumato.writing.whole_files import sync

#: What says of a folder which files are its release.
#: Arrow, Spark and others that read a folder of Parquet files pass over names that begin with _.
DESCRIPTION = "_release.json"


@contextmanager
def replacing_folder(target: str | Path, source: str | Path, overwrite: bool = False) -> Iterator[Path]:
    """A new folder beside the target, which takes the target's place only if the block ends without an error."""
    path = Path(target)
    check_folder(path, Path(source), overwrite)
    temporary = _hidden(path)
    try:
        temporary.mkdir()
        yield temporary
        take_place(temporary, path, Path(source), overwrite)
    except OSError as problem:
        raise ReleaseError(f"{path}: {in_words(problem)}; nothing was changed") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def check_folder(path: Path, source: Path, overwrite: bool) -> None:
    """Raise unless a folder can be written there: what is replaced is a release, whole and with nothing beside it."""
    if not path.name:
        raise ReleaseError(f"{str(path)!r} names no folder: choose a name")
    if path.is_symlink():
        raise ReleaseError(f"{path} is a link, and only the link would be replaced: name the folder that it leads to")
    if path.exists() and not overwrite:
        raise ReleaseError(f"{path} already exists; choose another name or allow overwriting")
    if path.exists() and not path.is_dir():
        raise ReleaseError(f"{path} is a file, and this release is a folder: choose another name")
    target, origin = path.resolve(), source.resolve()
    if target in origin.parents or origin in target.parents:
        raise ReleaseError(f"{path}: the source and the release lie in one another: choose another name")
    ours = _released(path)
    found = (file for file in sorted(path.rglob("*")) if file.is_symlink() or not file.is_dir())
    other = next((file for file in found if not _of_the_release(file.relative_to(path), ours)), None)
    if other is not None:
        raise ReleaseError(
            f"{path} holds {other.relative_to(path)}, which is no part of a release, and would be deleted: choose "
            f"another name"
        )
    if not path.parent.is_dir():
        raise ReleaseError(f"{path}: the folder {path.parent} does not exist")


def _released(folder: Path) -> set[str]:
    """The files of the release in a folder; none where it does not say that it is one."""
    try:
        about = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        if about["format"] != "sfumato release":
            return set()
        return {DESCRIPTION, *(str(file) for part in about["parts"] for file in part["files"])}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return set()


def _of_the_release(file: Path, ours: set[str]) -> bool:
    """Whether it is one of these, or what Spark leaves beside them."""
    left = file.name == "_SUCCESS" or (file.name.startswith(".") and file.name.endswith(".crc"))
    return file.as_posix() in ours or (left and bool(ours))


def take_place(temporary: Path, path: Path, source: Path, overwrite: bool) -> None:
    """Put a finished folder where another release may be, which then is gone.

    What is there is looked at once more: it may have come while the folder was filled. On Linux the two change places
    in one step, so that a process that is killed leaves one release or the other, whole and under its name.
    """
    on_disk(temporary)
    check_folder(path, source, overwrite)
    if not path.exists():
        temporary.rename(path)
        sync(path.parent)
        return
    aside = _hidden(path)
    temporary.rename(aside)
    if not _exchanged(aside, path):
        old = _hidden(path)
        path.rename(old)
        try:
            aside.rename(path)
        except BaseException:
            old.rename(path)
            aside.rename(temporary)
            raise
        aside = old
    sync(path.parent)
    shutil.rmtree(aside, ignore_errors=True)


def _hidden(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")


def on_disk(folder: Path) -> None:
    """Wait until the files of a folder are on the disk, so that a power failure does not leave empty ones."""
    for found in sorted(folder.rglob("*")):
        if not found.is_symlink():
            sync(found)
    sync(folder)


def _exchanged(one: Path, other: Path) -> bool:
    """Whether two paths have changed places in one step, which Linux and most of its file systems can do."""
    here, swap = -100, 2  # AT_FDCWD and RENAME_EXCHANGE of renameat2
    try:
        rename = ctypes.CDLL(None).renameat2
        return bool(rename(here, os.fsencode(one), here, os.fsencode(other), swap) == 0)
    except (AttributeError, OSError, TypeError):  # another system
        return False


def in_words(problem: OSError) -> str:
    """Why a folder cannot be written."""
    if problem.errno == errno.ENOSPC:
        return "the disk is full: free some space and try again"
    return f"cannot be written: {problem.strerror or type(problem).__name__}"
