"""Files that are either whole or not there: written beside the target, then moved into its place."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sfumato.errors import ReleaseError


@contextmanager
def replacing(target: str | Path, overwrite: bool = False) -> Iterator[Path]:
    """A temporary path beside the target, which takes the target's place only if the block ends without an error."""
    path = Path(target)
    if path.exists() and not overwrite:
        raise ReleaseError(f"{path} already exists; choose another name or allow overwriting")
    if not path.parent.is_dir():
        raise ReleaseError(f"{path}: the folder {path.parent} does not exist")
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as problem:
        if problem.errno == errno.ENOSPC:
            raise ReleaseError(
                f"{path}: the disk is full; nothing was changed, free some space and try again"
            ) from None
        raise ReleaseError(f"{path}: cannot be written: {problem.strerror or problem}; nothing was changed") from None
    finally:
        temporary.unlink(missing_ok=True)
