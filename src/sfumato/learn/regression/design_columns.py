"""The columns of a regression: each is a number for every combination of codes of the attributes it looks at."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Array, Codes
from sfumato.domains import Domain
from sfumato.errors import EstimationError
from sfumato.evidence.questions import values
from sfumato.printable import NO_ANSWER, label_text
from sfumato.schema import Schema

_FACTOR = re.compile(r"C\((.+)\)")


@dataclass(frozen=True, eq=False)
class Column:
    """A function of the codes of some attributes: a table with an axis for each.

    >>> one, other = Column("a", ("a",), np.array([0.0, 1.0])), Column("b", ("b",), np.array([2.0, 3.0, 4.0]))
    >>> one.times(other).term, one.times(other).table.tolist()
    ('a:b', [[0.0, 0.0, 0.0], [2.0, 3.0, 4.0]])
    """

    term: str
    names: tuple[str, ...]
    table: Array

    def at(self, codes: Mapping[str, Codes]) -> Any:
        """Its number in every record; one for all where it looks at nothing."""
        return self.table[tuple(np.asarray(codes[name]) for name in self.names)]

    def over(self, names: Sequence[str], sizes: Mapping[str, int]) -> Array:
        """The table with an axis for each of these names."""
        held = [name for name in names if name in self.names]
        moved = self.table.transpose([self.names.index(name) for name in held])
        shape = [sizes[name] if name in self.names else 1 for name in names]
        return np.broadcast_to(moved.reshape(shape), [sizes[name] for name in names])

    def times(self, other: Column) -> Column:
        """The product of two columns, on the attributes of both."""
        names = tuple(dict.fromkeys((*self.names, *other.names)))
        sizes = dict(zip((*self.names, *other.names), (*self.table.shape, *other.table.shape), strict=True))
        return Column(f"{self.term}:{other.term}", names, self.over(names, sizes) * other.over(names, sizes))


#: The column of ones.
INTERCEPT = Column("Intercept", (), np.ones(()))


def matrix(columns: Sequence[Column], codes: Mapping[str, Codes], rows: int) -> Array:
    """A row per record, a column per column."""
    out = np.empty((rows, len(columns)))
    for place, column in enumerate(columns):
        out[:, place] = column.at(codes)
    return out


def columns_of(terms: Sequence[str], schema: Schema) -> list[Column]:
    """The columns of some terms, a constant first: "age", "C(age)" for a dummy per value, "age:sex", "age*sex"."""
    out = [INTERCEPT]
    known: set[str] = set()
    for term in terms:
        for own in _expanded(term, schema):
            if own in known:
                raise EstimationError(f"the term {own!r} is named twice")
            known.add(own)
            made = [Column("", (), np.ones(()))]
            for part in [own] if own in schema else own.split(":"):
                made = [one.times(factor) for one in made for factor in _main(part.strip(), schema)]
            out += [Column(column.term.lstrip(":"), column.names, column.table) for column in made]
    return out


def numbers(domain: Domain) -> Array | None:
    """What each code of an ordered attribute counts as, without the one for no answer; None where it has no order."""
    return values.numbers(domain)[: domain.size - domain.nullable] if domain.ordered else None


def _expanded(term: str, schema: Schema) -> list[str]:
    """Of "a*b" the terms a, b and a:b."""
    if not isinstance(term, str) or not term.strip():
        raise EstimationError(f"names must list attributes and terms such as age, C(age) or age:sex, got {term!r}")
    if term in schema or "*" not in term:
        return [term.strip() if term not in schema else term]
    found: list[str] = []
    for part in (piece.strip() for piece in term.split("*")):
        found += [part, *(f"{one}:{part}" for one in found)]
    return found


def _main(part: str, schema: Schema) -> list[Column]:
    factor = None if part in schema else _FACTOR.fullmatch(part)
    name = factor[1].strip() if factor else part
    if name not in schema:
        raise EstimationError(f"the term {part!r} is unknown: the attributes are {', '.join(schema.names)}")
    domain = schema[name]
    worth = None if factor else numbers(domain)
    if worth is None:
        shown = [label_text(label) for label in domain.labels]
        return [Column(f"{part}={shown[code]}", (name,), np.eye(domain.size)[code]) for code in range(1, domain.size)]
    if not domain.nullable:
        return [Column(part, (name,), worth)]
    # those who gave no answer count as 0, and get a constant of their own
    silent = silent_column(name, domain, part)
    return [Column(part, (name,), np.append(worth, 0.0)), *([] if silent is None else [silent])]


def silent_column(name: str, domain: Domain, part: str | None = None) -> Column | None:
    """The constant of those who gave no answer to what is taken as a number; None where everybody did."""
    if not domain.nullable or numbers(domain) is None:
        return None
    return Column(f"{part or name}={NO_ANSWER}", (name,), np.eye(domain.size)[-1])
