"""Joining what two parties released of the same records: whose ids match, and which do not."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from sfumato.domains import Domain
from sfumato.errors import ReleaseError, SfumatoError
from sfumato.printable import label_text
from sfumato.schema import Schema
from sfumato.scheme import Scheme

if TYPE_CHECKING:
    import pyarrow as pa

_NAMED = 3  # attributes that a message names


def join_schemes(left: Scheme, right: Scheme) -> Scheme:
    """The scheme of the joined columns."""
    try:
        return left.join(right)
    except SfumatoError as problem:
        raise ReleaseError(f"the releases cannot be joined: {problem}") from None


def check_links(links: Set[str | None]) -> None:
    """Refuse ids that cannot match, because they were made pseudonyms under different keys, or on one side only."""
    if len(links) == 1:
        return
    if None in links:
        raise ReleaseError(
            "some ids are pseudonyms and some are not: randomize all with the same link_key (--link-key-file; "
            "Release.raw takes it too), or all with clear_ids=True (--clear-ids)"
        )
    raise ReleaseError(
        "the ids became pseudonyms under different keys: randomize the releases to be joined with the same link_key "
        "(--link-key-file)"
    )


def check_ids(left: list[pa.ChunkedArray], right: list[pa.ChunkedArray], common: bool = False) -> None:
    """Refuse ids that are missing, occur twice, or stand on one side only; ``common`` allows the last."""
    import pyarrow.compute as pc

    ids = {"left": _text(left), "right": _text(right)}
    for side, column in ids.items():
        if column.null_count:
            raise ReleaseError(f"{column.null_count:,} ids of the {side} release are null")
        extra = len(column) - len(pc.unique(column))
        if extra:
            raise ReleaseError(f"{extra:,} ids of the {side} release occur more than once; each record needs its own")
    for side, mine, theirs in (("left", ids["left"], ids["right"]), ("right", ids["right"], ids["left"])):
        alone = len(mine) - int(pc.sum(pc.is_in(mine, value_set=theirs)).as_py() or 0)
        if alone and alone == len(mine):
            raise ReleaseError("the releases share no id: they hold no records in common")
        if alone and not common:
            raise ReleaseError(
                f"{alone:,} ids of the {side} release are not in the other one: common=True joins the records that "
                f"both hold, and leaves the others out"
            )


def _text(columns: list[pa.ChunkedArray]) -> pa.Array:
    import pyarrow as pa

    return pa.concat_arrays([one for c in columns for one in _as_text(c).cast(pa.large_string()).chunks])


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow as pa

    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ReleaseError(f"the id column of type {column.type} cannot be read as text") from None


def match(left: pa.Table, right: pa.Table, on: str) -> pa.Table:
    """The rows of both that share an id, in the order of the left."""
    import pyarrow as pa
    import pyarrow.compute as pc

    place = pc.index_in(_text([left.column(on)]), value_set=_text([right.column(on)]))
    kept = left.filter(pc.is_valid(place))
    taken = right.take(place.drop_null())
    columns = {name: kept.column(name) for name in kept.schema.names if name != on}
    columns |= {name: taken.column(name) for name in taken.schema.names if name != on}
    return pa.table({**columns, on: kept.column(on)})


def check_alike(first: tuple[Schema, str | None], other: tuple[Schema, str | None]) -> None:
    """Refuse to put records together whose attributes differ, or of which some have ids; each side by schema and id."""
    (schema, id), (own, own_id) = first, other
    shared = [name for name in schema if name in own]
    if not shared or any(schema[name] != own[name] for name in shared):
        raise ReleaseError(
            f"the releases have different attributes or domains: {differences(schema, own)}; "
            f"randomize them under one schema (--schema)"
        )
    if own_id != id:
        raise ReleaseError(
            f"the releases have different id columns, {id!r} and {own_id!r}: estimates need no ids, "
            f"leave them out with ids=False (--no-ids)"
        )


def differences(first: Schema, other: Schema) -> str:
    """Which attributes keep the records of two schemas apart, and in what: the first few, in words."""
    said = [f"only one has {name!r}" for name in (*first.names, *other.names) if (name in first) != (name in other)]
    for name in first.names:
        if name in other and first[name] != other[name]:
            mine, theirs = first[name], other[name]
            if mine.kind != theirs.kind:
                said.append(f"{name!r} is {mine.kind} in one and {theirs.kind} in the other")
            elif not mine.listed or mine.labels == theirs.labels:
                said.append(f"{name!r} is not declared alike")
            elif mine.nullable != theirs.nullable:
                said.append(f"{name!r} may be empty in one only")
            else:
                said.append(f"{name!r} has {_extent(mine)} in one and {_extent(theirs)} in the other")
    more = f"; and {len(said) - _NAMED} more" if len(said) > _NAMED else ""
    return "; ".join(said[:_NAMED]) + more


def _extent(domain: Domain) -> str:
    values = [label_text(label) for label in domain.labels if label is not None]
    return f"{len(values):,} values from {values[0]} to {values[-1]}"


def with_one_id_type(rows: list[pa.Table], id: str | None) -> list[pa.Table]:
    """Ids as text wherever the parts hold them in different types."""
    if id is None or len({table.schema.field(id).type for table in rows}) == 1:
        return rows
    return [t.set_column(t.schema.get_field_index(id), id, _as_text(t.column(id))) for t in rows]
