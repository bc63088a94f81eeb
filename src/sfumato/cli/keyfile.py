"""Key files: made where they are missing, readable by their owner alone, and taken back where nothing came of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from sfumato.cli import console
from sfumato.errors import ReleaseError, SfumatoError
from sfumato.reading.file_stamp import Stamp, stamp
from sfumato.secrets.keys import HEADER, LINK_HEADER, LONGEST, OLD, SECRET, is_key, new_key, new_link_key
from sfumato.writing.whole_files import replacing


@contextmanager
def keys(
    secret: Path | None, link: Path | None, watched: Mapping[Path, Stamp | None], study: str
) -> Iterator[tuple[bytes | None, bytes | None]]:
    """The keys in two files. New ones are announced when the block has succeeded, and deleted when it has failed.

    A new key of answers is bound to the study. They stay where a file that is ``watched``, with the stamp that it had,
    was written before something failed. Where the target is there, or the ledger has booked the release, everybody
    would answer twice under a second key.
    """
    made: dict[Path, NewKey] = {}
    try:
        yield (
            None if secret is None else read_key(secret, made, study),
            None if link is None else read_link_key(link, made),
        )
    except BaseException:
        nothing_came = all(stamp(file) == before for file, before in watched.items())
        for path, new in made.items():
            if nothing_came and stamp(path) == new.stamp:  # nobody has used it
                path.unlink(missing_ok=True)
        raise
    for path, new in made.items():
        console.note(f"a new {new.said.format(path)}")


class NewKey(NamedTuple):
    """A key that this run has made: what is said of it, and the stamp of its file."""

    said: str
    stamp: Stamp | None


def read_key(path: Path, made: dict[Path, NewKey], study: str) -> bytes:
    """The key of the answers in a file; a new one, for this study, where there is no such file."""
    said = "secret key for this study was written to {}: keep it, and show it to nobody"
    key = _read(path, lambda: new_key(study), said, made)
    if key.startswith(LINK_HEADER):
        raise SfumatoError(f"{path} is a link key, which other parties know: they could undo the answers")
    return key


def read_link_key(path: Path, made: dict[Path, NewKey]) -> bytes:
    """The key that parties share so that their releases can be joined; a new one where there is no such file."""
    whom = "nobody but the parties that are to join their releases"
    key = _read(path, new_link_key, "link key was written to {}: keep it, and show it to " + whom, made)
    if key.startswith(HEADER):
        raise SfumatoError(f"{path} is a key of answers, to be shown to nobody; a new file name makes a link key")
    return key


def _read(path: Path, make: Callable[[], bytes], said: str, made: dict[Path, NewKey]) -> bytes:
    if not path.exists():
        try:
            with replacing(path) as temporary:
                temporary.touch(mode=0o600)
                temporary.write_bytes(make())
                new = NewKey(said, stamp(temporary))
            made[path] = new
        except ReleaseError:
            if not path.exists():
                raise  # otherwise another run has made one meanwhile: both answer under that
    if path not in made:
        with suppress(OSError):
            os.utime(path)  # the run that made it shall not take it away should it fail
    with path.open("rb") as file:
        key = file.read(LONGEST + 1)
    if is_key(key):
        if os.name == "posix" and path.stat().st_mode & 0o077:
            console.warn(f"{path} can be read by others on this machine: chmod 600 {path} keeps it to you")
        return key
    if len(key) == SECRET:
        raise SfumatoError(f"{path} {OLD}; a new file name makes a new key")
    raise SfumatoError(f"{path} is not a key that this program made; a new file name makes a new key")
