"""The public vocabulary: which attributes there are, and which values each may take."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Codes
from sfumato.columns import Requests, examine
from sfumato.domains import (
    Categorical,
    Date,
    Domain,
    Hierarchy,
    Numeric,
    Ordinal,
    Tally,
    Text,
    check_bins,
    domain_from_dict,
    warn_moved,
)
from sfumato.errors import DisclosureWarning, OutsideDomainError, SchemaError, warn
from sfumato.input_checks import check_names, given
from sfumato.pages.display import html_table
from sfumato.reading import tables
from sfumato.reading.json_documents import SURROGATE, read_json
from sfumato.writing.description import check_raw

if TYPE_CHECKING:
    import pyarrow as pa


FORMAT = "sfumato schema"
VERSION = 1


class Schema(Mapping[str, Domain]):
    """The attributes of a table, in order.

    >>> schema = Schema({"sex": Categorical(("F", "M")), "age": Numeric(0, 100, bins=20)})
    >>> schema.names, schema.sizes(["age", "sex"])
    (('sex', 'age'), (20, 2))
    """

    def __init__(self, domains: Mapping[str, Domain]) -> None:
        if not isinstance(domains, Mapping):
            raise SchemaError(f'a schema is given as {{"sex": Categorical(...)}}, got {type(domains).__name__} instead')
        if not domains:
            raise SchemaError("a schema needs at least one attribute")
        for name, domain in domains.items():
            if not isinstance(name, str) or not name:
                raise SchemaError(f"the name of an attribute must be text, got {name!r} instead")
            if SURROGATE.search(name):
                raise SchemaError("the name of an attribute holds half of a surrogate pair, which is no character")
            if not isinstance(domain, Domain):
                kinds = "Categorical, Ordinal, Hierarchy, Numeric, Date or Text"
                raise SchemaError(f"attribute {name!r} must be {kinds}, got {type(domain).__name__} instead")
        self._domains = dict(domains)

    def __getitem__(self, name: str) -> Domain:
        try:
            return self._domains[name]
        except (KeyError, TypeError):
            raise SchemaError(f"there is no attribute {given(name)}; the schema has {', '.join(self.names)}") from None

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._domains

    def __iter__(self) -> Iterator[str]:
        return iter(self._domains)

    def __len__(self) -> int:
        return len(self._domains)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and list(self._domains.items()) == list(other._domains.items())

    def __hash__(self) -> int:
        return hash(tuple(self._domains.items()))

    def __repr__(self) -> str:
        return f"Schema({self._domains!r})"

    def _repr_html_(self) -> str:
        rows = [
            [name, domain.kind, domain.size, _some_values(domain), "yes" if domain.nullable else ""]
            for name, domain in self.items()
        ]
        return html_table("Schema", ["attribute", "kind", "values", "", "nullable"], rows)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._domains)

    def sizes(self, names: Sequence[str] | None = None) -> tuple[int, ...]:
        """The number of codes of each attribute."""
        return tuple(self[name].size for name in (self.names if names is None else names))

    def select(self, names: Sequence[str]) -> Schema:
        """The schema of some attributes."""
        return Schema({name: self[name] for name in check_names(SchemaError, "names", names)})

    def count_outside(self, table: Any, problem: OutsideDomainError) -> OutsideDomainError:
        """The same problem with the number of such rows in the whole table, where it can be read again."""
        found: list[OutsideDomainError] = []
        try:
            for batch in tables.batches(table, [problem.column], tables.AS_TEXT):
                try:
                    self[problem.column].encode(batch.column(0), problem.column)
                except OutsideDomainError as again:
                    found.append(again)
        except (SchemaError, OSError):
            return problem
        return problem.over(found)

    def encode(self, table: Any) -> dict[str, Codes]:
        """Codes of every attribute of any table; columns outside the schema are left behind."""
        check_raw(table)
        pieces: dict[str, list[Codes]] = {name: [] for name in self.names}
        tally = Tally()
        try:
            for batch in tables.batches(table, self.names, tables.AS_TEXT):
                for name, domain in self._domains.items():
                    pieces[name].append(domain.encode(batch.column(name), name, tally))
        except OutsideDomainError as problem:
            raise self.count_outside(table, problem) from None
        warn_moved(self, tally)
        empty = {name: np.zeros(0, dtype=domain.code_type) for name, domain in self._domains.items()}
        return {name: np.concatenate(parts) if parts else empty[name] for name, parts in pieces.items()}

    def decode(self, codes: Mapping[str, ArrayLike]) -> pa.Table:
        """A table of values from codes."""
        import pyarrow as pa

        return pa.table({name: self[name].decode(column) for name, column in codes.items()})

    def to_dict(self) -> dict[str, Any]:
        return {name: domain.to_dict() for name, domain in self._domains.items()}

    def meaning(self) -> dict[str, Any]:
        """What the codes stand for, whatever files write: equal exactly when the schemas are."""
        return {name: domain.meaning() for name, domain in self._domains.items()}

    def to_json(self) -> str:
        """The document that ``from_json`` reads and people edit; see docs/schema.md."""
        document = {"format": FORMAT, "version": VERSION, "attributes": self.to_dict()}
        return json.dumps(document, indent=1, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Schema:
        """The schema that ``to_json`` wrote, or that somebody wrote by hand.

        >>> Schema.from_json('{"sex": {"kind": "categorical", "values": ["F", "M"]}}').names
        ('sex',)
        """
        document = read_json(text, "the schema", error=SchemaError)
        if not isinstance(document, dict):
            raise SchemaError("a schema is an object that names every attribute's domain")
        if document.get("format") == FORMAT:
            if document.get("version") != VERSION:
                found = document.get("version")
                raise SchemaError(f"schema version {found!r} is unknown: this program reads version {VERSION}")
            document = document.get("attributes")
        elif isinstance(kind := document.get("format"), str):
            way = ": read it with sf.Scheme.from_json" if kind == "sfumato scheme" else ""
            raise SchemaError(f"this is no schema but a document of the format {kind!r}{way}")
        return cls.from_dict(document)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Schema:
        """The schema that ``to_dict`` described."""
        if not isinstance(document, Mapping):
            raise SchemaError("the attributes of a schema must be an object that names every attribute's domain")
        check_bins(document)
        return cls({name: domain_from_dict(name, entry) for name, entry in document.items()})

    @classmethod
    def infer(cls, table: Any, bins: int = 20, most_values: int = 100, columns: Sequence[str] | None = None) -> Schema:
        """A schema read off the data. It warns, because what it finds there is itself a disclosure."""
        for name, value in (("bins", bins), ("most_values", most_values)):
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise SchemaError(f"{name} must be a whole number of at least 1, got {given(value)} instead")
        columns = None if columns is None else check_names(SchemaError, "columns", columns, "columns")
        found = examine(table, columns, requests=Requests(bins=bins, most_values=most_values))
        strange = [verdict for verdict in found.verdicts if verdict.domain is None]
        if strange:
            raise SchemaError(
                f"{'; '.join(f'column {v.name!r} ({v.kind}) {v.why}' for v in strange[:20])}: leave "
                f"{'it' if len(strange) == 1 else 'them'} out, or write the schema by hand (sfumato schema drafts one)"
            )
        warn(
            "Schema.infer looks at the data: the values and limits it finds become public with the scheme. "
            "Write the schema from what is publicly known instead, or check it before you publish.",
            DisclosureWarning,
            stacklevel=2,
        )
        return cls({v.name: v.domain for v in found.verdicts if v.domain is not None})


def _some_values(domain: Domain) -> str:
    return ", ".join(map(str, domain.labels[:20])) if domain.listed else "not listed"


__all__ = ["Categorical", "Codes", "Date", "Domain", "Hierarchy", "Numeric", "Ordinal", "Schema", "Text"]
