"""The limits that a ledger keeps: they are booked with a release, may be lowered, and are never raised.

A release that is refused leaves no limit behind, and no limit lies below what was spent already: both would lock the
ledger for good.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import ReleaseError
from sfumato.owner.ledger_rules import shown


@dataclass(frozen=True)
class Limits:
    """Bounds on what one person's answers add up to: those about an attribute, and all of them."""

    attribute: float = math.inf
    person: float = math.inf

    def __post_init__(self) -> None:
        for name, given in (("limit", self.attribute), ("person_limit", self.person)):
            if not isinstance(given, int | float) or not given >= 1:
                raise ReleaseError(f"{name} must be a gamma of at least 1, got {given!r} instead")

    def with_kept(self, kept: Limits) -> Limits:
        """The lower ones of two: a limit that is kept holds whatever else is given."""
        return Limits(min(self.attribute, kept.attribute), min(self.person, kept.person))


def kept_limits(path: Path, database: sqlite3.Connection) -> Limits:
    """The limits in the file."""
    found = []
    for table in ("bound", "person_bound"):
        values = [row[0] for row in database.execute(f"select gamma from {table}")]
        if not all(isinstance(gamma, float) and gamma >= 1 for gamma in values):
            raise ReleaseError(f"{path} is a damaged ledger: its limit is not a gamma")
        found.append(min(values, default=math.inf))
    return Limits(*found)


def check_not_raised(path: Path, given: Limits, kept: Limits) -> None:
    for limit, held in ((given.attribute, kept.attribute), (given.person, kept.person)):
        if held < limit < math.inf:
            raise ReleaseError(f"{path}: its limit is {shown(held)}, which cannot be raised to {shown(limit)}")


def check_not_below_spent(given: Limits, kept: Limits, spent: Callable[[], Limits]) -> None:
    """Refuse a new limit that somebody's answers are past already; ``spent`` is asked only where a limit is new."""
    if given.with_kept(kept) == kept:
        return
    so_far = spent()
    for whose, limit, held, reached in (
        ("answers about an attribute", given.attribute, kept.attribute, so_far.attribute),
        ("answers of one person", given.person, kept.person, so_far.person),
    ):
        if limit < min(held, reached):
            raise ReleaseError(
                f"a limit of {shown(limit)} was not set: {whose} in this ledger add up to a gamma of {shown(reached)} "
                f"already; leave the limit out, or give one of at least that"
            )


def keep_limits(path: Path, database: sqlite3.Connection, limits: Limits) -> None:
    """Keep limits where they are lower than those in the file; the caller commits."""
    kept = kept_limits(path, database)
    if limits.attribute < kept.attribute:
        database.execute("insert into bound values (?)", (float(limits.attribute),))
    if limits.person < kept.person:
        database.execute("insert into person_bound values (?)", (float(limits.person),))
