"""A part of a release: rows that were all randomized under one scheme, in a file, in memory, or in the user's frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import ReleaseError
from sfumato.reading import tables
from sfumato.reading.file_stamp import Stamp, stamp
from sfumato.reading.memory_limit import TooLargeError, check_decoded, pieces, within_memory
from sfumato.reading.parquet_file import parquet_schema
from sfumato.reading.parquet_folder import part_files
from sfumato.reading.parquet_structure import check_received
from sfumato.reading.spark_rows import packed_rows
from sfumato.released.writer import code_types, common_types, no_rows
from sfumato.scheme import Scheme

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows that are read at once where few are asked for.
_FEW = 1 << 10
#: Rows that may be passed over for all parts of a file, each read from its beginning, if a byte stands for so many.
_PASSED, _OF_A_BYTE = 1 << 33, 64


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
    packed: Any = None  # the same rows, many in a cell of a Spark frame, where they are held so
    span: tuple[int, int] | None = None  # the first row and how many, where a file holds other parts too
    stamp: Stamp | None = field(init=False, default=None)  # of the file that the rows stand in
    _counted: int | None = field(init=False, default=None, repr=False)  # rows, where nobody knew it beforehand

    def __post_init__(self) -> None:
        if isinstance(self.rows, Path):
            object.__setattr__(self, "stamp", stamp(self.rows))

    def check_unchanged(self) -> None:
        """Raise if the file is not the one that was loaded any more: its rows may be of another scheme."""
        if isinstance(self.rows, Path) and stamp(self.rows) != self.stamp:
            raise ReleaseError(f"{self.rows} was replaced or changed after it was loaded: load it again")

    def batches(
        self, columns: Sequence[str], types: Mapping[str, Any] | None = None, most: int = tables.BATCH
    ) -> Iterator[pa.RecordBatch]:
        """Some columns of the rows, as they were when the release was loaded."""
        self.check_unchanged()
        if isinstance(self.rows, Path) and self.id is not None and self.id in columns and most >= tables.BATCH:
            check_decoded(self.rows, [self.id])  # one long id may stand for all rows of a small file
        for file in self._parquet_files():
            check_received(file, columns)
        found = tables.batches(self.rows, columns, types, most)
        yield from pieces(found, *self.span) if self.span else found
        self.check_unchanged()

    def _parquet_files(self) -> list[Path]:
        if not isinstance(self.rows, Path) or tables.suffix(self.rows) in tables.CSV:
            return []
        return part_files(self.rows) if self.rows.is_dir() else [self.rows]

    def arrow(self) -> pa.Table:
        """The rows in memory."""
        return self._table(None)

    def head(self, rows: int | None) -> pa.Table:
        """The first rows in memory; None is all of them."""
        return self._table(rows)

    def _table(self, rows: int | None) -> pa.Table:
        import pyarrow as pa

        columns = [*self.scheme.columns, *([self.id] if self.id else [])]
        kinds = {**code_types(self.scheme), **({self.id: pa.string()} if self.id else {})}
        stream = self.batches(columns, kinds, tables.BATCH if rows is None else max(rows, _FEW))
        if isinstance(self.rows, Path):
            self.check_unchanged()
            if rows is None:
                check_decoded(self.rows, columns)
            stream = within_memory(self.rows, stream)
        found, held = [], 0
        for batch in stream:
            if rows is not None and held >= rows:
                break
            found.append(batch)
            held += batch.num_rows
        if found:
            return pa.Table.from_batches(found).slice(0, rows)
        return no_rows(kinds)

    def select(self, names: Sequence[str]) -> Part:
        """The same rows with some attributes only, in this order, and all that is known of them."""
        chosen = replace(self, scheme=self._selected(names))
        object.__setattr__(chosen, "stamp", self.stamp)  # of when they were loaded, not of now
        return chosen

    def _selected(self, names: Sequence[str]) -> Scheme:
        """The scheme of those of the attributes that these rows hold."""
        return self.scheme.select(names).in_order([name for name in names if name in self.scheme.schema])

    def without_id(self) -> Part:
        """The same rows without their ids or pseudonyms."""
        chosen = replace(self, id=None, link=None)
        object.__setattr__(chosen, "stamp", self.stamp)
        return chosen

    def marked(self, raw: bool) -> Part:
        """The same rows, known to be raw records or not."""
        return replace(self, raw=raw)

    def with_rows(self, rows: Any) -> Part:
        """Other rows that were made in the same way."""
        return replace(self, rows=rows, span=None, packed=None)

    def __len__(self) -> int:
        self.check_unchanged()
        known = self.span[1] if self.span else tables.count_rows(self.rows)
        if known is None:  # an engine has to count them, or a file to be read: once
            if self._counted is None:
                counted = tables.counted_rows(self.rows) if self.packed is None else packed_rows(self.packed)
                object.__setattr__(self, "_counted", self.arrow().num_rows if counted is None else counted)
            return self._counted or 0
        return known


def check_no_texts(parts: Iterable[Part]) -> None:
    """Refuse files whose codes are texts, before any is read: long ones may be stored in a few bytes."""
    import pyarrow as pa

    for part in parts:
        for file in part._parquet_files():
            check_received(file, [] if part.id is None else [part.id])
            kinds = dict(zip((schema := parquet_schema(file)).names, schema.types, strict=True))
            for name in part.scheme.columns:
                kind = kinds.get(name, pa.uint8())
                plain = kind.value_type if pa.types.is_dictionary(kind) else kind
                if not pa.types.is_primitive(plain):
                    raise ReleaseError(f"{part.rows}: column {name!r} of a release holds codes or numbers, not {plain}")


def held(rows: Any) -> Any:
    """Rows in a form that can be counted: a path, an Arrow table or the user's own frame."""
    import pyarrow as pa

    if isinstance(rows, str):
        return Path(rows)
    if isinstance(rows, pa.RecordBatch):
        return pa.Table.from_batches([rows])
    return pa.table(dict(rows)) if isinstance(rows, Mapping) else rows


def several_parts(
    path: Path, entries: Sequence[tuple[int, Scheme, str | None, bool]], identifier: str | None, order: str | None
) -> list[Part]:
    """The parts of a release in one file, each so many rows after the other."""
    total = sum(rows for rows, *_ in entries)
    whole = _in_memory(path, [scheme for _, scheme, *_ in entries], identifier, total)
    if total != tables.count_rows(path if whole is None else whole):
        raise ReleaseError(f"{path}: the scheme speaks of {total} rows, the file holds another number")
    if whole is None and total * len(entries) > _PASSED and total > _OF_A_BYTE * path.stat().st_size:
        raise ReleaseError(f"{path}: it has more rows in more parts than so few bytes of randomized answers can hold")
    found, start = [], 0
    for rows, scheme, link, raw in entries:
        held_rows, span = (path, (start, rows)) if whole is None else (whole.slice(start, rows), None)
        found.append(Part(held_rows, scheme, identifier, link, order, raw, span=span))
        start += rows
    return found


def _in_memory(path: Path, schemes: Sequence[Scheme], identifier: str | None, total: int) -> pa.Table | None:
    """The rows of several parts in memory; None where Parquet holds so many that they are better left in the file."""
    import pyarrow as pa

    kinds = {**common_types(schemes), **({identifier: pa.string()} if identifier else {})}
    columns = list(kinds)
    try:
        check_decoded(path, columns, total)
        stream = tables.batches(path, columns, {name: _wide(kind) for name, kind in kinds.items()})
        found = list(pieces(within_memory(path, stream), 0, total + 1))  # one row more tells
        return pa.Table.from_batches(found) if found else no_rows(kinds)
    except TooLargeError:
        if tables.suffix(path) in tables.CSV:
            raise
        return None


def _wide(kind: Any) -> Any:
    """Room for the codes of any part."""
    import pyarrow as pa

    return pa.uint32() if pa.types.is_integer(kind) else kind
