"""The verdict on one column: what it is, why, and what publishing its domain would disclose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from shlex import quote
from typing import Any

from sfumato.domains import Domain
from sfumato.printable import many

RARE = 5  # rows: fewer make a value no more than somebody's own


@dataclass(frozen=True)
class Verdict:
    """What a column is.

    ``kind`` is categorical, ordinal, numeric, date or text, which have a ``domain``; or identifier, free text,
    constant, empty or unreadable, which are left out of a schema.
    """

    name: str
    kind: str
    why: str
    discloses: str = "nothing"
    domain: Domain | None = None
    problems: tuple[str, ...] = field(default=())
    blank: int = 0  # rows that hold nothing

    @property
    def kept(self) -> bool:
        """Whether the column belongs into a schema."""
        return self.domain is not None and self.kind != "constant"

    @property
    def numbers(self) -> list[int]:
        """The values of a scale of whole numbers; nothing of other columns."""
        values = [label for label in self.domain.labels if label is not None] if self.domain is not None else []
        return values if all(isinstance(value, int) and not isinstance(value, bool) for value in values) else []

    def to_dict(self) -> dict[str, Any]:
        """As the schema document has it: the domain, with the reasons beside it for people to read."""
        note = {"note": "; ".join(self.problems)} if self.problems else {}
        if self.domain is None or not self.kept:
            return {"kind": self.kind, "why": self.why, **note}
        return {**self.domain.to_dict(), "why": self.why, "discloses": self.discloses, **note}


def rows_of(count: int) -> str:
    return many(count, "row")


def rows_that(count: int, verb: str, alone: str | None = None) -> str:
    """So many rows and what they do: the verb agrees with their number.

    >>> rows_that(1, "lie"), rows_that(3, "go", "goes")
    ('1 row lies', '3 rows go')
    """
    return many(count, f"row {alone or verb + 's'}", f"rows {verb}")


def rare_values(values: Mapping[Any, int]) -> list[str]:
    """The line about listed values that hardly anybody has, where there are any.

    >>> rare_values({0: 90, 7: 2})
    ['1 of its values is held by fewer than 5 rows: publishing it tells of those rows']
    """
    rare = sum(times < RARE for times in values.values())
    if not rare:
        return []
    held = f"{rare} of its values {'is' if rare == 1 else 'are'} held by fewer than {RARE} rows"
    return [f"{held}: publishing {'it' if rare == 1 else 'them'} tells of those rows"]


def option(name: str, value: str = "LOW:HIGH") -> str:
    """A column and what is asked of it, as a shell takes it: a name with a comma stands in double quotes of its own."""
    return quote((f'"{name}"' if "," in name else name) + f"={value}")
