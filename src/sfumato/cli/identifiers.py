"""Identifiers among the columns that a command would read as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from sfumato.cli import console
from sfumato.columns import examine


def point_out_identifiers(source: Path, columns: Sequence[str], *known: str | None) -> None:
    """Say which columns tell persons apart, before new rows are made of them."""
    wanted = [name for name in columns if name not in known]
    if not wanted:
        return
    for verdict in examine(source, wanted).verdicts:
        if verdict.kind == "identifier":
            console.warn(
                f"column {verdict.name!r} looks like an identifier ({verdict.why}): new rows need none, leave it out "
                f"with --drop {quote(verdict.name)}"
            )
