"""One pushed file, and its receipt."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from sfumato.service.tallies import Tally


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
    tallies: dict[int, Tally] | None = None

    @property
    def rows(self) -> int | None:
        return None if self.about is None else int(self.about["rows"])

    @property
    def receipt(self) -> str | None:
        """A digest over what was taken, which the site can compute again."""
        if self.state != "accepted":
            return None
        line = f"sfumato upload 1|{self.study}|{self.id}|{self.digest}|{self.rows}"
        return hashlib.sha256(line.encode()).hexdigest()
