"""Key files: made where they are missing, readable by their owner alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sfumato.cli import console
from sfumato.errors import SfumatoError
from sfumato.secrets.keys import HEADER, LINK_HEADER, OLD, SECRET, new_key, new_link_key
from sfumato.writing.whole_files import replacing


def read_key(path: Path) -> bytes:
    """The key of the answers in a file; a new one where there is no such file."""
    key = _read(path, new_key, "secret key", "nobody")
    if key.startswith(LINK_HEADER):
        raise SfumatoError(f"{path} is a link key, which other parties know: they could undo the answers")
    return key


def read_link_key(path: Path) -> bytes:
    """The key that parties share so that their releases can be joined; a new one where there is no such file."""
    key = _read(path, new_link_key, "link key", "nobody but the parties that are to join their releases")
    if key.startswith(HEADER):
        raise SfumatoError(f"{path} is a key of answers, to be shown to nobody; a new file name makes a link key")
    return key


def _read(path: Path, make: Callable[[], bytes], what: str, whom: str) -> bytes:
    if not path.exists():
        with replacing(path) as temporary:
            temporary.touch(mode=0o600)
            temporary.write_bytes(make())
        console.note(f"a new {what} was written to {path}: keep it, and show it to {whom}")
    with path.open("rb") as file:
        key = file.read(len(LINK_HEADER) + SECRET + 1)
    if any(key.startswith(header) and len(key) == len(header) + SECRET for header in (HEADER, LINK_HEADER)):
        return key
    if len(key) == SECRET:
        raise SfumatoError(f"{path} {OLD}; a new file name makes a new key")
    raise SfumatoError(f"{path} is not a key that this program made; a new file name makes a new key")
