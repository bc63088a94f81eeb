"""Pushing a release, or counts, to a server: in pieces, and from where it stood when the connection broke."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sfumato.errors import ReleaseError
from sfumato.service.client import Client
from sfumato.service.receipts import upload_receipt
from sfumato.service.refusals import RefusalError

PIECE = 8 << 20
_RESTARTS = 20


def push(client: Client, path: Path, study: str, advance: Callable[[int], None] = lambda _: None) -> dict[str, Any]:
    """Send a file, have it checked, and return the server's receipt. Pushing the same file again changes nothing."""
    with path.open("rb") as file:
        if not file.read(4).startswith((b"PAR1", b"{")):
            raise ReleaseError(f"{path}: push a release as Parquet (sfumato randomize), or counts (sfumato counts)")
        file.seek(0)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        size = path.stat().st_size
        place = f"/v1/studies/{study}/uploads"
        id, found = _announced(client, place, study, digest, size)
        there, restarts = _received(found, size), 0
        advance(there)
        while found.get("state") == "arriving" and there < size:
            file.seek(there)
            piece = file.read(PIECE)
            try:
                offset = {"Upload-Offset": str(there)}
                after = _received(client.ask("PATCH", f"{place}/{id}", body=piece, headers=offset), size)
            except RefusalError as refusal:  # a piece whose answer was lost may have arrived: go on from there
                if refusal.code != "conflict" or "received" not in refusal.details:
                    raise
                after = _received(refusal.details, size)
            restarts += after != there + len(piece)
            if restarts > _RESTARTS:
                raise ReleaseError("the server loses what it is sent: ask whoever runs it")
            advance(after - there)
            there = after
    taken: dict[str, Any] = client.ask("POST", f"{place}/{id}/commit")
    _check(taken, study, id, digest)
    return taken


def _announced(client: Client, place: str, study: str, digest: str, size: int) -> tuple[str, Any]:
    """The id of a file, the same for the same file so that it counts once; another one where that is another token's.

    A file that was refused from a wrong token keeps its id, and shall not keep the right one out.
    """

    def announced(own: str) -> tuple[str, Any]:
        id = hashlib.sha256(f"{study}|{digest}{own}".encode()).hexdigest()[:32]
        return id, client.ask("POST", place, {"id": id, "digest": digest, "bytes": size})

    try:
        return announced("")
    except RefusalError as refusal:
        if refusal.code != "conflict":
            raise
        return announced(f"|{client.token}")


def _check(taken: dict[str, Any], study: str, id: str, digest: str) -> None:
    """The receipt must be that of this very file."""
    rows = taken.get("rows") if isinstance(taken, dict) else None
    if not isinstance(rows, int) or taken.get("receipt") != upload_receipt(study, id, digest, rows):
        raise ReleaseError("the server's receipt is not that of this file: ask whoever runs it")


def _received(answer: Any, size: int) -> int:
    """How many bytes the server says it has."""
    there = answer.get("received") if isinstance(answer, dict) else None
    if not isinstance(there, int) or not 0 <= there <= size:
        raise ReleaseError("the server does not say how much has arrived, and is perhaps no server of sfumato")
    return there
