"""One pushed file, and its receipt."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

from sfumato.service.packed_tables import PackedTables
from sfumato.service.receipts import upload_receipt
from sfumato.service.refusals import RefusalError


@dataclass(frozen=True, eq=False)
class Upload:
    """One pushed file. ``about`` tells what it holds once it is accepted."""

    study: str
    id: str
    token: str
    digest: str
    bytes: int
    state: str
    hour: int
    about: dict[str, Any] | None = None
    problem: str | None = None
    packed: PackedTables | None = None

    @classmethod
    def read(cls, row: Any) -> Upload:
        """An upload as the database holds it."""
        about = None if row["parts"] is None else json.loads(row["parts"])
        fields = {name: row[name] for name in ("study", "id", "token", "digest", "bytes", "state", "hour", "problem")}
        if row["state"] != "accepted" or row["counts"] is None or about is None:
            return cls(**fields, about=about)
        return cls(**fields, about=about, packed=PackedTables(about, bytes(row["counts"])))

    @property
    def rows(self) -> int | None:
        return None if self.about is None else int(self.about["rows"])

    @property
    def receipt(self) -> str | None:
        """A digest over what was taken, which the site can compute again."""
        if self.state != "accepted" or self.rows is None:
            return None
        return upload_receipt(self.study, self.id, self.digest, self.rows)


class Locks:
    """A lock for every upload, as long as somebody holds it: sites choose the ids, and may choose ever new ones."""

    def __init__(self) -> None:
        self._held = WeakValueDictionary[tuple[str, str], Lock]()
        self._giving = Lock()

    def of(self, study: str, id: str) -> Lock:
        with self._giving:
            return self._held.setdefault((study, id), Lock())

    def __len__(self) -> int:
        return len(self._held)


@contextmanager
def without_waiting(lock: Lock) -> Iterator[None]:
    """Alone with an upload, or sent away: those who wait for one file shall not take the threads of all others."""
    if not lock.acquire(blocking=False):
        raise RefusalError("busy", "this upload is being looked at: ask again in a moment", seconds=2)
    try:
        yield
    finally:
        lock.release()
