"""The release: randomized rows together with the public scheme that made them. Only this crosses the wall."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato import tables
from sfumato.decoded import check_decoded
from sfumato.documents import DocumentError, read_json
from sfumato.errors import ReleaseError, SfumatoError, cause
from sfumato.printable import printable
from sfumato.pseudonyms import Pseudonyms, decoded, hexadecimal, id_text
from sfumato.schema import Schema
from sfumato.scheme import Scheme
from sfumato.stamps import Stamp, stamp
from sfumato.writer import KEY, VERSION, Writer, check_codes, code_types, content, id_kind, sidecar

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Part:
    """Rows that were all randomized under one scheme. ``rows`` holds codes: a path, an Arrow table or any frame.

    ``link`` is the fingerprint of the key under which the ids became pseudonyms; None where they are as they were.
    ``order`` tells whether the owner's rows were "shuffled" or their order was "kept", where that is known.
    """

    rows: Any
    scheme: Scheme
    id: str | None = None
    link: str | None = None
    order: str | None = None
    raw: bool = False  # whether some columns are a party's own records as they are, which must not be written unasked

    stamp: Stamp | None = field(init=False, default=None)  # of the file that the rows stand in

    def __post_init__(self) -> None:
        if isinstance(self.rows, Path):
            object.__setattr__(self, "stamp", stamp(self.rows))

    def check_unchanged(self) -> None:
        """Raise if the file is not the one that was loaded any more: its rows may be of another scheme."""
        if isinstance(self.rows, Path) and stamp(self.rows) != self.stamp:
            raise ReleaseError(f"{self.rows} was replaced or changed after it was loaded: load it again")

    def batches(self, columns: Sequence[str], types: Mapping[str, Any] | None = None) -> Iterator[pa.RecordBatch]:
        """Some columns of the rows, as they were when the release was loaded."""
        self.check_unchanged()
        yield from tables.batches(self.rows, columns, types)
        self.check_unchanged()

    def arrow(self) -> pa.Table:
        """The rows in memory."""
        return self._table(None)

    def head(self, rows: int) -> pa.Table:
        """The first rows in memory."""
        return self._table(rows)

    def _table(self, rows: int | None) -> pa.Table:
        import pyarrow as pa

        columns = [*self.scheme.columns, *([self.id] if self.id else [])]
        if isinstance(self.rows, Path) and rows is None:
            _check_size(self.rows, columns)
        kinds = {**code_types(self.scheme), **({self.id: pa.string()} if self.id else {})}
        found, held = [], 0
        for batch in self.batches(columns, kinds):
            if rows is not None and held >= rows:
                break
            found.append(batch)
            held += batch.num_rows
        if found:
            return pa.Table.from_batches(found).slice(0, rows)
        return pa.table({name: pa.array([], type=kinds[name]) for name in columns})

    def with_rows(self, rows: Any) -> Release:
        """A release of other rows that were made in the same way."""
        return Release._of([replace(self, rows=rows)])

    def __len__(self) -> int:
        self.check_unchanged()
        known = tables.count_rows(self.rows)
        return self.arrow().num_rows if known is None else known


class Release:
    """Randomized rows and their scheme; several parts where rows come from parties with different schemes."""

    def __init__(
        self, rows: Any, scheme: Scheme, id: str | None = None, link: str | None = None, order: str | None = None
    ) -> None:
        rows = _held(rows)
        present = set(tables.column_names(rows))
        missing = [column for column in scheme.columns if column not in present]
        if missing:
            raise ReleaseError(f"the rows have no column {missing[0]!r}, which the scheme names")
        if id is not None and id not in present:
            raise ReleaseError(f"the rows have no id column {id!r}")
        self.parts: tuple[Part, ...] = (Part(rows, scheme, id, link, order),)

    @classmethod
    def _of(cls, parts: Iterable[Part]) -> Release:
        release = cls.__new__(cls)
        release.parts = tuple(parts)
        return release

    @classmethod
    def raw(cls, table: Any, schema: Schema, id: str | None = None, link_key: bytes | None = None) -> Release:
        """A party's own rows as they are, under the identity: to be mined, or joined with what others released.

        They stay with their owner: ``save`` refuses them unless it is told ``clear=True``. With the ``link_key`` of
        the others the ids become the same pseudonyms as theirs.
        """
        import pyarrow as pa

        if id is not None and not tables.is_path(table):
            found = list(tables.batches(table, [*schema.names, id]))  # once: the table may be a stream
            table = pa.Table.from_batches(found) if found else table
        columns: dict[str, Any] = dict(schema.encode(table))
        if id is not None:
            ids = [batch.column(0) for batch in tables.batches(table, [id], tables.AS_TEXT)]
            columns[id] = decoded(pa.chunked_array(ids)) if ids else pa.array([], type=pa.string())
        link = None
        if id is not None and link_key is not None:
            made = Pseudonyms.under(None, link_key)
            columns[id], link = hexadecimal(made.of(id_text(columns[id]))), made.fingerprint
        return cls._of([Part(pa.table(columns), Scheme.identity(schema), id, link, raw=True)])

    # What it holds.

    @property
    def scheme(self) -> Scheme:
        """The scheme, where all rows share one."""
        if len({part.scheme for part in self.parts}) > 1:
            raise ReleaseError("this release has parts under different schemes: see parts")
        return self.parts[0].scheme

    @property
    def schema(self) -> Schema:
        """The attributes, the same for all parts."""
        return self.parts[0].scheme.schema

    @property
    def id(self) -> str | None:
        """The name of the id column, if the rows carry one."""
        return self.parts[0].id

    @property
    def id_kind(self) -> str | None:
        """Whether the ids are a "pseudonym" in all rows, or "clear" in some; None where the rows carry no ids."""
        return None if self.id is None else id_kind([part.link for part in self.parts])

    @property
    def order(self) -> str | None:
        """Whether the owners' rows were "shuffled" or kept their order in some part; None where that is not known."""
        orders = {part.order for part in self.parts}
        return "kept" if "kept" in orders else orders.pop() if len(orders) == 1 else None

    def __len__(self) -> int:
        return sum(len(part) for part in self.parts)

    def arrow(self) -> pa.Table:
        """All rows, as codes."""
        import pyarrow as pa

        return pa.concat_tables(
            _with_one_id_type([p.arrow() for p in self.parts], self.id), promote_options="permissive"
        )

    def decode(self, rows: int | None = None) -> pa.Table:
        """The rows with values instead of codes, where a column's released values are the attribute's own."""
        import pyarrow as pa

        whole = self.arrow() if rows is None else self._head(rows)
        out = {}
        for name in whole.schema.names:
            column = whole.column(name)
            same = name in self.schema and all(_releases_values(part.scheme, name) for part in self.parts)
            if same:
                check_codes(name, column.to_numpy(), self.schema[name].size)
            out[name] = self.schema[name].decode(column.to_numpy()) if same else column
        return pa.table(out)

    def _head(self, rows: int) -> pa.Table:
        """The first rows, as codes; no more of a file is read than they need."""
        import pyarrow as pa

        found, left = [], rows
        for part in self.parts:
            some = part.head(left)
            found.append(some)
            left -= some.num_rows
        return pa.concat_tables(_with_one_id_type(found, self.id), promote_options="permissive")

    def __repr__(self) -> str:
        parts = f" in {len(self.parts)} parts" if len(self.parts) > 1 else ""
        return printable(f"Release({len(self)} rows{parts}; {', '.join(self.schema.names)})")

    def _repr_html_(self) -> str:
        schemes = dict.fromkeys(part.scheme for part in self.parts)
        return f"<p>{escape(repr(self))}</p>{''.join(scheme._repr_html_() for scheme in schemes)}"

    def select(self, names: Sequence[str]) -> Release:
        """The same records with some attributes only; those that are randomized together stay together."""
        if isinstance(names, str) or not names:
            raise ReleaseError(f"select takes a list of attributes, got {names!r} instead")
        unknown = [name for name in names if name not in self.schema]
        if unknown:
            raise ReleaseError(f"there is no attribute {unknown[0]!r}; the release has {', '.join(self.schema.names)}")
        return Release._of(Part(part.rows, part.scheme.select(names), part.id) for part in self.parts)

    # Parties.

    @classmethod
    def concat(cls, releases: Sequence[Release]) -> Release:
        """One release of records held by different parties, also under different schemes."""
        if not releases:
            raise ReleaseError("concat needs at least one release")
        first = releases[0]
        for other in releases[1:]:
            if dict(other.schema) != dict(first.schema):
                raise ReleaseError(
                    f"the releases have different attributes or domains: {', '.join(first.schema.names)} "
                    f"against {', '.join(other.schema.names)}; bring them to one schema"
                )
            if other.id != first.id:
                raise ReleaseError(f"the releases have different id columns, {first.id!r} and {other.id!r}")
        return cls._of(part for release in releases for part in release.parts)

    def join(self, other: Release, on: str | None = None) -> Release:
        """One release of records whose columns are held by two parties, matched by their ids."""
        on = on or self.id or other.id
        for side, release in (("left", self), ("right", other)):
            if on is None or release.id != on:
                raise ReleaseError(f"the {side} release has no id column {on!r}: randomize it with id={on or 'id'!r}")
        if on is None:
            raise ReleaseError("join needs the name of the id column")
        _check_links(self.parts, other.parts)
        left = [part.arrow() for part in self.parts]
        right = [part.arrow() for part in other.parts]
        _check_ids([t.column(on) for t in left], [t.column(on) for t in right])
        joined = []
        for mine, part in zip(left, self.parts, strict=True):
            for theirs, their_part in zip(right, other.parts, strict=True):
                scheme = _join_schemes(part.scheme, their_part.scheme)
                rows = _match(mine, theirs, on)
                if rows.num_rows or (len(left) == 1 and len(right) == 1):
                    raw = part.raw or their_part.raw
                    joined.append(Part(rows, scheme, on, part.link, part.order, raw))
        return Release._of(joined)

    # Files.

    def save(self, path: str | Path, overwrite: bool = False, clear: bool = False) -> Path:
        """Write Parquet that carries its scheme, or CSV with the scheme in a JSON file beside it.

        Raw rows (``Release.raw``, or joined with them) are refused unless ``clear`` says that they may be written.
        """
        if any(part.raw for part in self.parts) and not clear:
            raise ReleaseError(
                f"{path}: these rows hold raw records, which would be written as they are; randomize them first, "
                f"or say clear=True"
            )
        links = [part.link for part in self.parts]
        with Writer(path, [part.scheme for part in self.parts], self.id, overwrite, links, self.order) as writer:
            for number, rows in enumerate(_with_one_id_type([part.arrow() for part in self.parts], self.id)):
                for batch in rows.to_batches(max_chunksize=tables.BATCH):
                    writer.write(batch, number)
        return Path(path)

    @classmethod
    def load(cls, path: str | Path) -> Release:
        """Read a release; rows stay on disk until they are counted."""
        path = Path(path)
        tables.column_names(path)  # a missing or unreadable file says so here
        before = stamp(path)
        entries, identifier, order = _read_description(path)
        if len(entries) == 1:
            rows, scheme, link = entries[0]
            if tables.count_rows(path) not in (None, rows):
                raise ReleaseError(f"{path}: the scheme speaks of {rows} rows, the file holds another number")
            release = cls(path, scheme, identifier, link, order)
            if release.parts[0].stamp != before:
                raise ReleaseError(f"{path} was replaced while it was loaded: load it again")
            return release
        import pyarrow as pa

        scheme = entries[0][1]
        columns = [*scheme.columns, *([identifier] if identifier else [])]
        kinds = {**code_types(scheme), **({identifier: pa.string()} if identifier else {})}
        _check_size(path, columns)
        whole = pa.Table.from_batches(list(tables.batches(path, columns, {n: _wide(k) for n, k in kinds.items()})))
        starts = np.cumsum([0, *(rows for rows, _, _ in entries)])
        if int(starts[-1]) != whole.num_rows:
            raise ReleaseError(f"{path}: the scheme speaks of {starts[-1]} rows, the file holds {whole.num_rows}")
        slices = [whole.slice(int(start), rows) for start, (rows, _, _) in zip(starts, entries, strict=False)]
        return cls._of(
            Part(rows, scheme, identifier, link, order) for rows, (_, scheme, link) in zip(slices, entries, strict=True)
        )


def _held(rows: Any) -> Any:
    """Rows in a form that can be counted: a path, an Arrow table or the user's own frame."""
    import pyarrow as pa

    if isinstance(rows, str):
        return Path(rows)
    if isinstance(rows, pa.RecordBatch):
        return pa.Table.from_batches([rows])
    return pa.table(dict(rows)) if isinstance(rows, Mapping) else rows


def _wide(kind: Any) -> Any:
    """Room for the codes of any part."""
    import pyarrow as pa

    return pa.uint32() if pa.types.is_integer(kind) else kind


def _releases_values(scheme: Scheme, name: str) -> bool:
    return name not in scheme.noises and scheme.group(name).channel.releases_values


def _with_one_id_type(rows: list[pa.Table], id: str | None) -> list[pa.Table]:
    """Ids as text wherever the parts hold them in different types."""
    import pyarrow as pa

    if id is None or len({table.schema.field(id).type for table in rows}) == 1:
        return rows
    return [t.set_column(t.schema.get_field_index(id), id, t.column(id).cast(pa.string())) for t in rows]


_OLD = (
    "is of version 1: its keyed answers gave both values away when a value changed, and its ids stood in the clear; "
    "ask its owner to release it again"
)


def _read_description(path: Path) -> tuple[list[tuple[int, Scheme, str | None]], str | None, str | None]:
    document = _document(path)
    if not isinstance(document, dict) or document.get("format") != "sfumato release":
        raise ReleaseError(f"{path}: what stands where the scheme should be is not a release's description")
    if document.get("version") == 1:
        raise ReleaseError(f"{path}: the release {_OLD}")
    if document.get("version") != VERSION:
        found = document.get("version")
        raise ReleaseError(f"{path}: release version {found!r} is unknown: this program reads version {VERSION}")
    try:
        entries = [(_row_count(p["rows"]), Scheme.from_dict(p["scheme"]), p["link"]) for p in document["parts"]]
        identifier = None if document["id"] is None else document["id"]["name"]
        order = document["order"]
        proper = all(isinstance(text, str | None) for text in (identifier, order, *(link for _, _, link in entries)))
        if not entries or not proper:
            raise ReleaseError("it names no parts, or no proper id column or order")
    except SfumatoError as problem:
        raise ReleaseError(f"{path}: {problem}") from None
    except (KeyError, TypeError, ValueError, ArithmeticError) as problem:
        raise ReleaseError(f"{path}: the description of the release is damaged: {cause(problem)}") from None
    if tables.suffix(path) in tables.CSV and any(document.get(k) != v for k, v in content(path).items()):
        raise ReleaseError(f"{path} is not the file that {sidecar(path).name} describes: its content differs")
    return entries, identifier, order


def _row_count(rows: Any) -> int:
    if not isinstance(rows, int) or isinstance(rows, bool) or not 0 <= rows < 1 << 62:
        raise ReleaseError("it gives a number of rows that cannot be one")
    return rows


def _check_size(path: Path, columns: Sequence[str]) -> None:
    """Raise where the rows of a Parquet file would take far more memory than the file itself."""
    rows = tables.count_rows(path)
    if rows is not None:
        check_decoded(path, rows, len(columns))


def _document(path: Path) -> Any:
    """The JSON that a release carries, wherever it stands."""
    try:
        if tables.suffix(path) in tables.CSV:
            beside = sidecar(path)
            if not beside.is_file():
                raise ReleaseError(f"{path} has no scheme: {beside.name} is missing beside it")
            return read_json(beside.read_bytes(), "it")
        import pyarrow.parquet as pq

        metadata = pq.read_metadata(str(path)).metadata or {}
        if KEY not in metadata:
            raise ReleaseError(f"{path} carries no scheme: it is an ordinary Parquet file, not a release")
        return read_json(metadata[KEY], "it")
    except DocumentError as problem:
        raise ReleaseError(f"{path}: the description of the release is damaged: {problem}") from None


def _join_schemes(left: Scheme, right: Scheme) -> Scheme:
    try:
        return left.join(right)
    except SfumatoError as problem:
        raise ReleaseError(f"the releases cannot be joined: {problem}") from None


def _check_links(left: Sequence[Part], right: Sequence[Part]) -> None:
    """Refuse ids that cannot match, because they were made pseudonyms under different keys, or on one side only."""
    links = {part.link for part in (*left, *right)}
    if len(links) == 1:
        return
    if None in links:
        raise ReleaseError(
            "some ids are pseudonyms and some are not: randomize all with the same link_key "
            "(Release.raw takes it too), or all with clear_ids=True"
        )
    raise ReleaseError(
        "the ids became pseudonyms under different keys: randomize the releases to be joined with the same link_key"
    )


def _check_ids(left: list[pa.ChunkedArray], right: list[pa.ChunkedArray]) -> None:
    import pyarrow.compute as pc

    ids = {"left": _text(left), "right": _text(right)}
    for side, column in ids.items():
        if column.null_count:
            raise ReleaseError(f"{column.null_count} ids of the {side} release are null")
        extra = len(column) - len(pc.unique(column))
        if extra:
            raise ReleaseError(f"{extra} ids of the {side} release occur more than once; each record needs its own")
    for side, mine, theirs in (("left", ids["left"], ids["right"]), ("right", ids["right"], ids["left"])):
        alone = len(mine) - int(pc.sum(pc.is_in(mine, value_set=theirs)).as_py() or 0)
        if alone:
            raise ReleaseError(f"{alone} ids of the {side} release are not in the other one; join the same records")


def _text(columns: list[pa.ChunkedArray]) -> pa.Array:
    import pyarrow as pa

    return pa.concat_arrays([c.cast(pa.string()).combine_chunks() for c in columns])


def _match(left: pa.Table, right: pa.Table, on: str) -> pa.Table:
    """The rows of both that share an id, in the order of the left."""
    import pyarrow as pa
    import pyarrow.compute as pc

    place = pc.index_in(_text([left.column(on)]), value_set=_text([right.column(on)]))
    kept = left.filter(pc.is_valid(place))
    taken = right.take(place.drop_null())
    columns = {name: kept.column(name) for name in kept.schema.names if name != on}
    columns |= {name: taken.column(name) for name in taken.schema.names if name != on}
    return pa.table({**columns, on: kept.column(on)})
