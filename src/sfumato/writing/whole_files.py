"""Files that are either whole or not there: written beside the target, then moved into its place."""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sfumato.errors import ReleaseError

_MACHINE = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
_STALE = 24 * 3600  # seconds: a part of another machine that nobody has written to for so long is nobody's


@contextmanager
def replacing(target: str | Path, overwrite: bool = False) -> Iterator[Path]:
    """A temporary path beside the target, which takes the target's place only if the block ends without an error.

    Without ``overwrite``, what has come there meanwhile stays.
    """
    path = Path(target)
    if not path.name:
        raise ReleaseError(f"{str(target)!r} names no file: choose a name")
    check_free(path, overwrite)
    if path.exists() and not path.is_file():
        raise ReleaseError(f"{path} is a folder, a pipe or a device, and is not replaced: choose another name")
    if not path.parent.is_dir():
        raise ReleaseError(f"{path}: the folder {path.parent} does not exist")
    _sweep(path)
    temporary = path.with_name(f".{path.name}.{_MACHINE}-{os.getpid()}-{secrets.token_hex(6)}.part")
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        if not overwrite:
            _take_free_place(temporary, path)
        else:
            temporary.replace(path)
    except OSError as problem:
        if problem.errno == errno.ENOSPC:
            raise ReleaseError(
                f"{path}: the disk is full; nothing was changed, free some space and try again"
            ) from None
        raise ReleaseError(f"{path}: cannot be written: {problem.strerror or problem}; nothing was changed") from None
    finally:
        temporary.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Wait until a file or a folder is on the disk."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:  # folders cannot be opened everywhere
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def check_free(path: Path, overwrite: bool) -> None:
    """Raise if there is something that must not be overwritten; a link to nothing is something, too."""
    if not overwrite and os.path.lexists(path):
        raise ReleaseError(f"{path} already exists; choose another name or allow overwriting")


def _take_free_place(temporary: Path, path: Path) -> None:
    """Move a file to where none is, in one step where the file system has a second name for a file."""
    try:
        path.hardlink_to(temporary)
    except OSError:
        check_free(path, overwrite=False)
        temporary.replace(path)


def _sweep(target: Path) -> None:
    """Remove parts of this target that were left behind by processes that are gone, as a power failure leaves them."""
    ours = re.compile(rf"\.{re.escape(target.name)}\.(?:([0-9a-f]{{8}})-([0-9]+)-)?[0-9a-f]{{12}}\.part")
    for path in target.parent.glob(".*.part"):
        name = ours.fullmatch(path.name)
        if name is None:
            continue
        machine, process = name.groups()
        try:
            old = time.time() - path.stat().st_mtime > _STALE
            if _gone(int(process)) if machine == _MACHINE else old:
                path.unlink()
        except OSError:  # gone meanwhile, or another user's: not ours to remove
            continue


def _gone(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):  # another user's
        return False
    return False


def check_distinct(reads: Mapping[str, Any], writes: Mapping[str, Any]) -> None:
    """Raise if a file that is written is also read, or written twice, also through links; only paths count."""
    paths = [(what, Path(path)) for what, path in {**reads, **writes}.items() if isinstance(path, str | os.PathLike)]
    for i, (what, path) in enumerate(paths):
        for other, theirs in paths[:i]:
            if what in writes and _same(path, theirs):
                raise ReleaseError(f"{path}: {other} and {what} are the same file; give {what} a name of its own")


def _same(one: Path, other: Path) -> bool:
    try:
        return one.resolve() == other.resolve() or (one.exists() and other.exists() and one.samefile(other))
    except (OSError, RuntimeError):  # a loop of links, which whoever opens it will hear of
        return False
