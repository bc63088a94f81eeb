"""What counts as an item: a present thing, or a value of an attribute; and which items exclude each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.errors import EstimationError
from sfumato.printable import label_text
from sfumato.schema import Categorical, Schema

_PRESENCE: tuple[tuple[Any, ...], ...] = (
    ("absent", "present"), ("no", "yes"), (False, True), (0, 1), ("0", "1"), ("False", "True"), ("f", "t"),
)  # fmt: skip


@dataclass(frozen=True, order=True)
class Item:
    """One value of one attribute; for a presence attribute, that it is present."""

    attribute: str
    code: int
    label: str

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class Universe:
    """All items, and the families of items of which every record holds exactly one (or at most one)."""

    items: tuple[Item, ...]
    families: tuple[tuple[Item, ...], ...]
    presence: bool

    def family(self, item: Item) -> int | None:
        return next((i for i, family in enumerate(self.families) if item in family), None)


def universe(schema: Schema, kind: str = "auto", exclusive: Any = "auto") -> Universe:
    """The items of a schema.

    ``kind`` is "presence" (two-valued attributes, absent and present), "values" (every value of every attribute) or
    "auto". ``exclusive`` lists families of presence attributes of which every record holds exactly one; "auto" takes
    those whose names share what stands before "=", as ``one_hot`` names them; None takes none.
    """
    if kind not in ("auto", "presence", "values"):
        raise EstimationError(f"items must be auto, presence or values, got {kind!r} instead")
    if kind == "auto":
        kind = "presence" if all(tuple(domain.labels) in _PRESENCE for domain in schema.values()) else "values"
    if kind == "values":
        items = tuple(
            Item(name, code, f"{name}={label_text(label)}")
            for name, domain in schema.items()
            for code, label in enumerate(domain.labels)
        )
        families = tuple(tuple(item for item in items if item.attribute == name) for name in schema)
        return Universe(items, families, False)
    wrong = [name for name, domain in schema.items() if domain.size != 2]
    if wrong:
        raise EstimationError(f"items by presence need two-valued attributes; {wrong[0]!r} has {schema[wrong[0]].size}")
    items = tuple(Item(name, 1, name) for name in schema)
    by_name = {item.attribute: item for item in items}
    families = tuple(tuple(by_name[name] for name in family) for family in _families(schema, exclusive))
    return Universe(items, families, True)


def one_hot(schema: Schema) -> Schema:
    """The schema of a categorical table as items: a two-valued attribute "age=young" for every value.

    >>> one_hot(Schema({"sex": Categorical(("F", "M"))})).names
    ('sex=F', 'sex=M')
    """
    return Schema(
        {
            f"{name}={label}": Categorical(("absent", "present"))
            for name, domain in schema.items()
            for label in domain.labels
        }
    )


def one_hot_table(table: Any, schema: Schema) -> Any:
    """A categorical table as present/absent items, to be randomized item by item or in groups of items."""
    codes = schema.encode(table)
    columns = {
        f"{name}={label}": (codes[name] == code).astype(int)
        for name, domain in schema.items()
        for code, label in enumerate(domain.labels)
    }
    return one_hot(schema).decode(columns)


def _families(schema: Schema, exclusive: Any) -> Sequence[Sequence[str]]:
    if exclusive is None:
        return ()
    if isinstance(exclusive, str):
        if exclusive != "auto":
            raise EstimationError(f'exclusive must be "auto", None or a list of families, got {exclusive!r} instead')
        found: dict[str, list[str]] = {}
        for name in schema:
            head, sign, _ = name.partition("=")
            if sign:
                found.setdefault(head, []).append(name)
        return [family for family in found.values() if len(family) > 1]
    seen: set[str] = set()
    for family in exclusive:
        for name in family:
            if name not in schema:
                raise EstimationError(f"exclusive names {name!r}, which is not an item")
            if name in seen:
                raise EstimationError(f"exclusive names {name!r} in two families")
            seen.add(name)
    return [list(family) for family in exclusive]
