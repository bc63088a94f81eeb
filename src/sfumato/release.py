"""The release: randomized rows together with the public scheme that made them. Only this crosses the wall."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato import tables
from sfumato.errors import ReleaseError, SfumatoError
from sfumato.files import replacing
from sfumato.schema import Schema
from sfumato.scheme import Scheme

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 1
KEY = b"sfumato"


@dataclass(frozen=True, eq=False)
class Part:
    """Rows that were all randomized under one scheme. ``rows`` holds codes: a path, an Arrow table or any frame."""

    rows: Any
    scheme: Scheme
    id: str | None = None

    def arrow(self) -> pa.Table:
        """The rows in memory."""
        import pyarrow as pa

        columns = [*self.scheme.columns, *([self.id] if self.id else [])]
        found = list(tables.batches(self.rows, columns, code_types(self.scheme)))
        if found:
            return pa.Table.from_batches(found)
        return pa.table({name: pa.array([], type=code_types(self.scheme).get(name, pa.string())) for name in columns})

    def __len__(self) -> int:
        known = tables.count_rows(self.rows)
        return self.arrow().num_rows if known is None else known


class Release:
    """Randomized rows and their scheme; several parts where rows come from parties with different schemes."""

    def __init__(self, rows: Any, scheme: Scheme, id: str | None = None) -> None:
        missing = [column for column in scheme.columns if column not in tables.column_names(rows)]
        if missing:
            raise ReleaseError(f"the rows have no column {missing[0]!r}, which the scheme names")
        if id is not None and id not in tables.column_names(rows):
            raise ReleaseError(f"the rows have no id column {id!r}")
        self.parts: tuple[Part, ...] = (Part(rows, scheme, id),)

    @classmethod
    def _of(cls, parts: Iterable[Part]) -> Release:
        release = cls.__new__(cls)
        release.parts = tuple(parts)
        return release

    @classmethod
    def raw(cls, table: Any, schema: Schema, id: str | None = None) -> Release:
        """A party's own rows as they are, under the identity: to be mined, or joined with what others released."""
        import pyarrow as pa

        columns: dict[str, Any] = dict(schema.encode(table))
        if id is not None:
            ids = [batch.column(0) for batch in tables.batches(table, [id])]
            columns[id] = pa.chunked_array(ids) if ids else pa.array([], type=pa.string())
        return cls(pa.table(columns), Scheme(schema), id)

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

    def __len__(self) -> int:
        return sum(len(part) for part in self.parts)

    def arrow(self) -> pa.Table:
        """All rows, as codes."""
        import pyarrow as pa

        return pa.concat_tables([part.arrow() for part in self.parts], promote_options="permissive")

    def decode(self, rows: int | None = None) -> pa.Table:
        """The rows with values instead of codes, where a column's released values are the attribute's own."""
        import pyarrow as pa

        whole = self.arrow().slice(0, rows)
        out = {}
        for name in whole.schema.names:
            column = whole.column(name)
            same = name in self.schema and all(
                part.scheme.output_sizes.get(name) == self.schema[name].size for part in self.parts
            )
            out[name] = self.schema[name].decode(column.to_numpy()) if same else column
        return pa.table(out)

    def __repr__(self) -> str:
        parts = f" in {len(self.parts)} parts" if len(self.parts) > 1 else ""
        return f"Release({len(self)} rows{parts}; {', '.join(self.schema.names)})"

    # Parties.

    @classmethod
    def concat(cls, releases: Sequence[Release]) -> Release:
        """One release of records held by different parties, also under different schemes."""
        if not releases:
            raise ReleaseError("concat needs at least one release")
        first = releases[0]
        for other in releases[1:]:
            if other.schema != first.schema:
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
        left = [part.arrow() for part in self.parts]
        right = [part.arrow() for part in other.parts]
        _check_ids([t.column(on) for t in left], [t.column(on) for t in right])
        joined = []
        for mine, part in zip(left, self.parts, strict=True):
            for theirs, their_part in zip(right, other.parts, strict=True):
                scheme = _join_schemes(part.scheme, their_part.scheme)
                rows = _match(mine, theirs, on)
                if rows.num_rows or (len(left) == 1 and len(right) == 1):
                    joined.append(Part(rows, scheme, on))
        return Release._of(joined)

    # Files.

    def save(self, path: str | Path, overwrite: bool = False) -> Path:
        """Write Parquet that carries its scheme, or CSV with the scheme in a JSON file beside it."""
        with Writer(path, overwrite) as writer:
            for part in self.parts:
                writer.part(part.scheme, part.id)
                for batch in part.arrow().to_batches(max_chunksize=tables.BATCH):
                    writer.write(batch)
        return Path(path)

    @classmethod
    def load(cls, path: str | Path) -> Release:
        """Read a release; rows stay on disk until they are counted."""
        path = Path(path)
        tables.column_names(path)  # a missing or unreadable file says so here
        entries, identifier = _read_description(path)
        if len(entries) == 1:
            return cls(path, entries[0][1], identifier)
        import pyarrow as pa

        scheme = entries[0][1]
        columns = [*scheme.columns, *([identifier] if identifier else [])]
        whole = pa.Table.from_batches(list(tables.batches(path, columns)))
        starts = np.cumsum([0, *(rows for rows, _ in entries)])
        if int(starts[-1]) != whole.num_rows:
            raise ReleaseError(f"{path}: the scheme speaks of {starts[-1]} rows, the file holds {whole.num_rows}")
        slices = [whole.slice(int(start), rows) for start, (rows, _) in zip(starts, entries, strict=False)]
        return cls._of(Part(rows, scheme, identifier) for rows, (_, scheme) in zip(slices, entries, strict=True))


class Writer:
    """Writes a release batch by batch, so that a table larger than memory can pass; whole or not at all."""

    def __init__(self, path: str | Path, overwrite: bool = False) -> None:
        self.path = Path(path)
        self.csv = tables.suffix(path) in tables.CSV
        if str(path).endswith(".gz"):
            raise ReleaseError(f"{path}: compressed CSV is read but not written; write Parquet instead")
        self._replacing = replacing(self.path, overwrite)
        self._side = replacing(sidecar(self.path), True) if self.csv else None
        self._sink: Any = None
        self._parts: list[tuple[int, Scheme]] = []
        self._id: str | None = None

    def __enter__(self) -> Writer:
        self._temporary = self._replacing.__enter__()
        return self

    def part(self, scheme: Scheme, id: str | None) -> None:
        """What follows was made under this scheme."""
        self._parts.append((0, scheme))
        self._id = id

    def write(self, batch: pa.RecordBatch) -> None:
        if self._sink is None:
            self._sink = self._open(batch.schema)
        self._sink.write_batch(batch.cast(self._schema) if batch.schema != self._schema else batch)
        rows, scheme = self._parts[-1]
        self._parts[-1] = (rows + batch.num_rows, scheme)

    def _open(self, schema: pa.Schema) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq
        from pyarrow import csv

        # The widest code any part may need, so that parts under different schemes fit one file.
        widths: dict[str, pa.DataType] = {}
        for _, scheme in self._parts:
            for name, kind in code_types(scheme).items():
                widths[name] = max(widths.get(name, kind), kind, key=lambda t: t.bit_width)
        self._schema = pa.schema([pa.field(f.name, widths.get(f.name, f.type)) for f in schema])
        if self.csv:
            delimiter = "\t" if ".tsv" in tables.suffix(self.path) else ","
            return csv.CSVWriter(
                str(self._temporary), self._schema, write_options=csv.WriteOptions(delimiter=delimiter)
            )
        return pq.ParquetWriter(str(self._temporary), self._schema, compression="zstd")

    def __exit__(self, kind: Any, problem: Any, trace: Any) -> None:
        try:
            if kind is None:
                self._finish()
        except BaseException as late:
            self._abandon()
            self._replacing.__exit__(type(late), late, late.__traceback__)
            raise
        if kind is not None:
            self._abandon()
        self._replacing.__exit__(kind, problem, trace)
        if kind is None and self.csv:
            with replacing(sidecar(self.path), True) as temporary:
                temporary.write_text(
                    json.dumps(self._description(self.path.stat().st_size), ensure_ascii=False, indent=1)
                )

    def _finish(self) -> None:
        import pyarrow as pa

        if self._sink is None:
            raise ReleaseError(f"{self.path}: an empty table has nothing to release")
        if not self.csv:
            self._sink.add_key_value_metadata({KEY.decode(): json.dumps(self._description(None), ensure_ascii=False)})
        try:
            self._sink.close()
        except pa.ArrowInvalid as problem:
            raise ReleaseError(f"{self.path}: cannot be written: {problem}") from None

    def _abandon(self) -> None:
        if self._sink is not None:
            try:
                self._sink.close()
            except Exception:  # the first error is the one to report; this only frees the file
                return

    def _description(self, size: int | None) -> dict[str, Any]:
        parts = [{"rows": rows, "scheme": scheme.to_dict()} for rows, scheme in self._parts]
        about = {"format": "sfumato release", "version": VERSION, "id": self._id, "parts": parts}
        return about if size is None else {**about, "bytes": size}


def sidecar(path: Path) -> Path:
    """Where the scheme of a CSV release stands: release.csv has release.csv.json."""
    return path.with_name(path.name + ".json")


def code_types(scheme: Scheme) -> dict[str, Any]:
    """The Arrow type of each released column."""
    import pyarrow as pa

    sizes = scheme.output_sizes
    codes = {name: pa.from_numpy_dtype(np.min_scalar_type(max(size - 1, 0))) for name, size in sizes.items()}
    return codes | {name: pa.float64() for name in scheme.noises}


def _read_description(path: Path) -> tuple[list[tuple[int, Scheme]], str | None]:
    if tables.suffix(path) in tables.CSV:
        beside = sidecar(path)
        if not beside.exists():
            raise ReleaseError(f"{path} has no scheme: {beside.name} is missing beside it")
        text = beside.read_text()
    else:
        import pyarrow.parquet as pq

        metadata = pq.read_metadata(str(path)).metadata or {}
        if KEY not in metadata:
            raise ReleaseError(f"{path} carries no scheme: it is an ordinary Parquet file, not a release")
        text = metadata[KEY].decode()
    try:
        document = json.loads(text)
        if not isinstance(document, dict) or document.get("format") != "sfumato release":
            raise ReleaseError(f"{path}: what stands where the scheme should be is not a release's description")
        if document.get("version") != VERSION:
            raise ReleaseError(
                f"{path}: release version {document.get('version')!r} is unknown: this program reads version {VERSION}"
            )
        entries = [(int(part["rows"]), Scheme.from_dict(part["scheme"])) for part in document["parts"]]
    except (json.JSONDecodeError, KeyError, TypeError) as problem:
        raise ReleaseError(f"{path}: the description of the release is damaged: {problem}") from None
    except SfumatoError as problem:
        raise ReleaseError(f"{path}: {problem}" if str(path) not in str(problem) else str(problem)) from None
    if "bytes" in document and document["bytes"] != path.stat().st_size:
        raise ReleaseError(f"{path} is not the file that {sidecar(path).name} describes: its size differs")
    return entries, document["id"]


def _join_schemes(left: Scheme, right: Scheme) -> Scheme:
    try:
        return left.join(right)
    except SfumatoError as problem:
        raise ReleaseError(f"the releases cannot be joined: {problem}") from None


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
