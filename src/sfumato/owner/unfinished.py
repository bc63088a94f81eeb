"""The folder in which a long randomization works, so that it can go on where it was interrupted.

It lies beside the target and holds randomized rows only: files that are finished, each with its digest, and
``plan.json``, which says what was asked for. A piece whose file is there and has its digest is not made again. So an
answer that was drawn stays the answer, however often the work is interrupted.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from sfumato.errors import ReleaseError, SchemaError
from sfumato.owner.request import RandomizeRequest
from sfumato.reading.parquet_file import open_parquet
from sfumato.reading.parquet_folder import named_values, part_files
from sfumato.writing.locked_file import LockedFile

_CHUNK = 1 << 20
PLAN = "plan.json"


@dataclass(frozen=True)
class Unit:
    """Some row groups of a file: what is read and answered at a time."""

    number: int
    file: str
    groups: tuple[int, ...]
    rows: int
    named: tuple[tuple[str, str | None], ...] = ()  # what the names of the folders above it say of all its rows


def units(source: Path, rows_in_a_unit: int) -> list[Unit]:
    """A table cut into pieces of neighbouring row groups."""
    out: list[Unit] = []
    for file in part_files(source) if source.is_dir() else [source]:
        named = tuple(named_values(source, file).items()) if source.is_dir() else ()
        with open_parquet(file, ()) as opened:
            metadata = opened.metadata
        some: list[int] = []
        rows = 0
        for group in range(metadata.num_row_groups):
            some.append(group)
            rows += metadata.row_group(group).num_rows
            if rows >= rows_in_a_unit or group == metadata.num_row_groups - 1:
                if rows:
                    out.append(Unit(len(out), str(file), tuple(some), rows, named))
                some, rows = [], 0
    return out


class Unfinished:
    """The working folder of one request; made, or found again where the same request was interrupted.

    One process at a time works in it: two would write over each other's pieces.
    """

    def __init__(
        self, target: Path, request: RandomizeRequest, source: Path, pieces: Sequence[Unit], link: str | None
    ) -> None:
        self.folder = target.with_name(f".{target.name}.unfinished")
        asked = _asked(request, source, pieces, link)
        self._files: dict[str, list[int] | None] = asked["files"]
        self.folder.mkdir(mode=0o700, exist_ok=True)
        _check_own(self.folder)
        self._lock = LockedFile(self.folder / "lock")
        if not self._lock.ours:
            raise ReleaseError(f"{target}: another process is making this release: wait for it, or end it")
        try:
            self._plan = self._begun(asked)
        except BaseException:
            self._lock.close()
            raise

    def _begun(self, asked: dict[str, Any]) -> dict[str, Any]:
        """The plan of this release, with its secret: a new one, or that of the work so far."""
        found = self._read()
        if found is None:
            plan = {"asked": asked, "secret": os.urandom(32).hex()}
            _write(self.folder / PLAN, plan)
            return plan
        if found.get("asked") != asked:
            raise ReleaseError(
                f"{self.folder} holds unfinished work of another request, or its source has changed since: finish that "
                f"one, or remove the folder; what is in it was never released"
            )
        return found

    @property
    def secret(self) -> bytes:
        """What the pseudonyms are made with that are of this release only."""
        return bytes.fromhex(self._plan["secret"])

    @property
    def announced(self) -> str | None:
        """The digest of the answers that were about to be booked when the work was interrupted."""
        return self._plan.get("drawn")

    def announce(self, drawn: str) -> str:
        """Say which answers are booked next: should the work end before they leave, they need no second booking.

        They are booked under a digest of this work alone: others that were drawn for few people may happen to be equal.
        """
        self._plan["drawn"] = hmac.digest(self.secret, drawn.encode(), "sha256").hex()
        _write(self.folder / PLAN, self._plan)
        return str(self._plan["drawn"])

    def check_source(self) -> None:
        """Refuse a table that changed while it was read: others were answered than those the ledger was told of."""
        for name, state in self._files.items():
            if _state(name) != state:
                raise SchemaError(
                    f"{name} was changed while it was read; nothing was released: remove {self.folder} and begin again"
                )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None and not any(self.folder.glob("drawn-*")):
            self.remove()  # refused before anything was drawn
        self._lock.close()

    def _read(self) -> dict[str, Any] | None:
        try:
            found = json.loads((self.folder / PLAN).read_text(encoding="utf-8"))
            return found if isinstance(found, dict) else None
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            raise ReleaseError(f"{self.folder / PLAN} cannot be read: remove the folder and begin again") from None

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def _asked(request: RandomizeRequest, source: Path, pieces: Sequence[Unit], link: str | None) -> dict[str, Any]:
    """What decides every answer, as JSON. Keys are told by a fingerprint that only their holder can make."""
    key = None if request.key is None else hmac.digest(request.key, b"unfinished", "sha256").hex()
    return {
        "format": "sfumato unfinished",
        "version": 1,
        "scheme": request.scheme.fingerprint,
        "key": key,
        "link": link,
        "id": request.id,
        "clear": request.clear_ids,
        "source": str(source.resolve()),
        "files": {name: _state(name) for name in dict.fromkeys(unit.file for unit in pieces)},
        "pieces": len(pieces),
    }


def _state(file: str) -> list[int] | None:
    """What tells whether a file is still what it was."""
    try:
        found = Path(file).stat()
    except OSError:
        return None
    return [found.st_size, found.st_mtime_ns]


def _check_own(folder: Path) -> None:
    """Refuse a folder that somebody else made: whoever chose its secret could compute the pseudonyms."""
    theirs = hasattr(os, "getuid") and folder.stat().st_uid != os.getuid()
    if folder.is_symlink() or theirs:
        raise ReleaseError(f"{folder} is a link, or another user's folder: remove it, or choose another name")


def finish(path: Path, about: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Mark a file as finished: its digest goes beside it. The file itself must have been written as ``draft(path)``."""
    told = {**(about or {}), **_digest(draft(path))}
    draft(path).replace(path)
    _write(beside(path), told)
    return told


def finished(path: Path) -> dict[str, Any] | None:
    """What was noted when the file was finished; None where it is not there, or is not what it was."""
    try:
        told = json.loads(beside(path).read_text(encoding="utf-8"))
        return told if {k: told[k] for k in ("bytes", "sha256")} == _digest(path) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def draft(path: Path) -> Path:
    """Where a file is written until it is finished."""
    return path.with_name(path.name + ".draft")


def beside(path: Path) -> Path:
    """Where it is noted what a finished file holds."""
    return path.with_name(path.name + ".json")


def _write(path: Path, document: Any) -> None:
    draft(path).touch(mode=0o600)  # the plan holds the key of pseudonyms that are made for this release only
    draft(path).write_text(json.dumps(document), encoding="utf-8")
    draft(path).replace(path)


def _digest(path: Path) -> dict[str, Any]:
    digest = hashlib.sha256()
    with path.open("rb") as given:
        while piece := given.read(_CHUNK):
            digest.update(piece)
    return {"bytes": path.stat().st_size, "sha256": digest.hexdigest()}
