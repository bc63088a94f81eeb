"""Key files: made where they are missing, readable by their owner alone."""

from __future__ import annotations

from pathlib import Path

from sfumato.cli import console
from sfumato.errors import SfumatoError
from sfumato.files import replacing
from sfumato.keys import HEADER, OLD, SECRET, new_key


def read_key(path: Path, what: str = "secret key", whom: str = "nobody") -> bytes:
    """The key in a file; a new one where there is no such file."""
    if not path.exists():
        with replacing(path) as temporary:
            temporary.touch(mode=0o600)
            temporary.write_bytes(new_key())
        console.note(f"a new {what} was written to {path}: keep it, and show it to {whom}")
    with path.open("rb") as file:
        key = file.read(len(HEADER) + SECRET + 1)
    if key.startswith(HEADER) and len(key) == len(HEADER) + SECRET:
        return key
    if len(key) == SECRET:
        raise SfumatoError(f"{path} {OLD}; a new file name makes a new key")
    raise SfumatoError(f"{path} is not a key that this program made; a new file name makes a new key")


def read_link_key(path: Path) -> bytes:
    """The key that parties share so that their releases can be joined."""
    return read_key(path, "link key", "nobody but the parties that are to join their releases")
