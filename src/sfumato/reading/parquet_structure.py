"""What a Parquet file says of itself, compared with its pages before anything decodes them.

Decoders believe a file: they set aside the memory that a page asks for, and read as many rows as the pages hold,
whatever the footer says. So a few kilobytes could take gigabytes, or count for millions of people. Here the pages are
walked, header after header, without decoding any: rows, values, places and sizes must be the same wherever they are
said, and no page may be larger than its values can need.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from sfumato.errors import SchemaError
from sfumato.reading.file_stamp import Stamp, stamp
from sfumato.reading.parquet_footer import Chunk, Footer, read_footer
from sfumato.reading.parquet_pages import DICTIONARY, PageError, page_header
from sfumato.reading.problems import described

if TYPE_CHECKING:
    import pyarrow.parquet as pq

#: What any file may decode to.
ALWAYS_FITS = 1 << 27
#: How many times its own size a larger file may decode to.
MOST_EXPANSION = 128
#: Rows that a byte may stand for. A run of equal values takes a few bytes for two billion rows.
ROWS_OF_A_BYTE = 2000
_FEW_ROWS = 1 << 28  # which are counted in a moment, however small the file is

#: Bytes of a value by its physical type; texts have a length of their own, and fixed ones that of their column.
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}
_TEXT = "BYTE_ARRAY"
_FIXED = "FIXED_LEN_BYTE_ARRAY"
_EXTRA = 8  # bytes of a value for levels, and for an encoding that does not help
_SLACK = 1 << 12  # bytes of a page, for encodings in blocks: the last one may be nearly empty
_TEXT_PLACE = 16  # bytes that a reader needs to know where a text of a dictionary stands, of whatever length
_DELTA_TEXTS = (6, 7)  # DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY
#: Pages and column chunks that are looked at, whatever the size of the file; beyond, one for so many bytes.
_PAGES = 100_000
_BYTES_OF_A_PAGE = 256
_BYTES_OF_A_NAME = 64  # of a column or group, with what is said of it elsewhere
_LOOKS = 8  # at some of the columns; then at all others


@dataclass
class Structure:
    """What a file holds, and of the columns that were looked at, what their pages do."""

    rows: int = 0
    text_bytes: Counter[str] = field(default_factory=Counter)  # of all pages of texts when unpacked, by their column
    delta_texts: set[str] = field(default_factory=set)  # with pages that say inside, unseen, how many texts they have
    listed_texts: set[str] = field(default_factory=set)  # with a dictionary, in which one text may stand for many
    held: Counter[str] = field(default_factory=Counter)  # what a reader holds at once, by the column
    around: int = 0  # bytes of the footer, and of the headers of pages
    columns: list[str] | None = None  # all there are; None before the first look
    seen: set[int] = field(default_factory=set)
    looks: int = 0

    def unseen(self, wanted: Collection[str] | None) -> list[int]:
        """The columns to look at; the first one always, which tells the rows. None wants all."""
        names = self.columns or []
        if len(self.seen) == len(names):
            return []
        asked = None if wanted is None else set(wanted)
        found = [j for j, name in enumerate(names) if not j or asked is None or _among(name, asked)]
        missing = [j for j in found if j not in self.seen]
        if missing and self.looks >= _LOOKS:  # to open the file for every column would take longer
            return [j for j in range(len(names)) if j not in self.seen]
        return missing


def _among(name: str, asked: set[str]) -> bool:
    """Whether a column that is stored is one of these, or inside one: records have several."""
    return name in asked or any(name[: dot.start()] in asked for dot in re.finditer(r"\.", name))


class _Column(NamedTuple):
    name: str
    width: int | None  # None: texts
    flat: bool
    pointed: bool  # whether a reader keeps where each value of a dictionary stands


class _Pages(NamedTuple):
    """What the pages of a column chunk add up to."""

    number: int
    headers: int  # bytes
    values: int
    unpacked: int
    held: int  # the largest and the dictionary: what a reader holds at once
    delta: bool
    listed: bool


def most_unpacked(size: int) -> int:
    """The most memory that what stands in so many bytes may take."""
    return max(ALWAYS_FITS, MOST_EXPANSION * size)


def most_rows(size: int) -> int:
    """The most rows that so many bytes may stand for."""
    return max(_FEW_ROWS, ROWS_OF_A_BYTE * size)


def structure(path: Path, columns: Collection[str] | None = None) -> Structure:
    """What a file holds, if the pages of these columns (None: of all) are as it says; SchemaError where they are not.

    The footer is checked as a whole, and the pages of the first column in any case.
    """
    found = _known(path, stamp(path))
    if found.columns is None or found.unseen(columns):
        _look(path, found, columns)
    return found


def check_received(path: Path, columns: Collection[str]) -> None:
    """Refuse columns of somebody else's file that could take much memory when they are read together.

    An owner's own table may have pages that pack very well, and encodings that hide their size; no release has them.
    """
    found = structure(path, columns)
    for name in sorted(found.delta_texts & set(columns)):
        raise SchemaError(
            f"{path}: column {name!r} is in an encoding that can hide its size (DELTA_BYTE_ARRAY, "
            f"DELTA_LENGTH_BYTE_ARRAY): ask its owner for the file as Sfumato wrote it"
        )
    if sum(found.held[name] for name in set(columns)) > (most := most_unpacked(path.stat().st_size)):
        raise SchemaError(
            f"{path}: its pages take more than {most >> 20} MB at a time, {MOST_EXPANSION} times the file: ask its "
            f"owner for the file as Sfumato wrote it"
        )


@lru_cache(maxsize=1 << 12)
def _known(_: Path, __: Stamp | None) -> Structure:
    return Structure()


def _look(path: Path, found: Structure, columns: Collection[str] | None) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        footer = _footer(path, stamp(path))
        metadata = pq.read_metadata(str(path))
        with path.open("rb", buffering=0) as file:
            _check(file, metadata, footer, found, columns)
    except PageError as problem:
        raise SchemaError(f"{path}: cannot be read: it is damaged, or made to mislead: {problem}") from None
    except (pa.ArrowException, ValueError, OSError) as problem:
        raise SchemaError(f"{path}: cannot be read: {described(problem)}") from None


@lru_cache(maxsize=_LOOKS)  # it is looked at again for other columns
def _footer(path: Path, _: Stamp | None) -> Footer:
    with path.open("rb") as file:
        footer, size = read_footer(file), file.seek(0, 2)
    if sum(len(group.chunks) for group in footer.groups) > _budget(size):
        raise PageError("it has more row groups than so few bytes need")
    if footer.described > _PAGES + size // _BYTES_OF_A_NAME:
        raise PageError("it has more columns than so few bytes need")
    return footer


def _budget(size: int) -> int:
    """The pages and column chunks that a file of so many bytes may have."""
    return _PAGES + size // _BYTES_OF_A_PAGE


def _check(
    file: BinaryIO, metadata: pq.FileMetaData, footer: Footer, found: Structure, asked: Collection[str] | None
) -> None:
    """Note what the pages hold; an error where any part of the file is not as another says."""
    size = file.seek(0, 2)
    budget = _budget(size)
    columns = [_column(metadata.schema.column(j)) for j in range(metadata.num_columns)]
    unseen = set(Structure(columns=[one.name for one in columns], seen=found.seen, looks=found.looks).unseen(asked))
    rows, around, texts, held, delta = 0, size - footer.place, Counter[str](), Counter[str](), set()
    listed: set[str] = set()
    places: list[tuple[int, int]] = []
    for group in footer.groups:
        if group.rows < 0 or len(group.chunks) != len(columns):
            raise PageError("a row group has not the columns of the file")
        rows += group.rows
        for j, (column, chunk) in enumerate(zip(columns, group.chunks, strict=True)):
            places.append(_place(chunk, footer.place))
            if chunk.values < 0 or (column.flat and chunk.values != group.rows):
                raise PageError(f"column {column.name!r} has more or fewer values than its row group has rows")
            if j not in unseen:
                continue
            pages = _walk(file, *places[-1], column, budget, most_unpacked(size))
            if pages.values != chunk.values:
                raise PageError(f"the pages of column {column.name!r} have more or fewer values than it says")
            if 0 != chunk.unpacked < pages.unpacked:  # 0 is how some writers say nothing
                raise PageError(f"column {column.name!r} is larger than it says")
            budget -= pages.number
            around += pages.headers
            held[column.name] = max(held[column.name], pages.held)
            texts[column.name] += pages.unpacked if column.width is None else 0
            delta |= {column.name} if pages.delta else set()
            listed |= {column.name} if pages.listed else set()
    if not rows == footer.rows == metadata.num_rows:
        raise PageError("its row groups hold more or fewer rows than it says")
    if rows > most_rows(size):
        raise PageError(f"it says that it has {rows:,} rows, more than {ROWS_OF_A_BYTE:,} in each of its bytes")
    if any(one[1] > other[0] for one, other in pairwise(sorted(place for place in places if place[1]))):
        raise PageError("two of its columns stand in the same place")
    found.rows, found.columns, found.looks = rows, [column.name for column in columns], found.looks + 1
    found.text_bytes |= texts  # the same if another thread looked meanwhile
    found.held |= held
    found.delta_texts |= delta
    found.listed_texts |= listed
    found.around = max(found.around, around)
    found.seen |= unseen


def _column(described: Any) -> _Column:
    kind = described.physical_type
    width = described.length if kind == _FIXED else _WIDTHS.get(kind)
    if width is None and kind != _TEXT:
        raise PageError(f"column {described.path!r} is of a kind that is unknown")
    if width is not None and width < 0:
        raise PageError(f"column {described.path!r} has values of no length")
    return _Column(described.path, width, described.max_repetition_level == 0, kind in (_TEXT, _FIXED))


def _place(chunk: Chunk, most: int) -> tuple[int, int]:
    """Where the pages of a column chunk begin and end, as every reader would find it."""
    start, first, length = chunk.data, chunk.dictionary, chunk.packed
    if length == 0:
        return 0, 0
    if first:  # 0 is how some writers say that there is none
        if not 4 <= first <= start and chunk.values:  # and 0 where a dictionary stands alone
            raise PageError("a dictionary stands behind what needs it")
        start = first
    if start < 4 or length < 0 or start + length > most:
        raise PageError("a column stands outside the file")
    return start, start + length


def _walk(file: BinaryIO, at: int, end: int, column: _Column, budget: int, most: int) -> _Pages:
    """The pages of a column chunk, each bounded by what its values need."""
    count = headers = values = unpacked = largest = dictionary = 0
    delta = False
    while at < end:
        page = page_header(file, at, end)
        size = page.unpacked
        if size > most or (column.width is not None and size > _SLACK + page.values * (column.width + _EXTRA)):
            raise PageError(f"a page of column {column.name!r} is larger than its values, or so small a file, need")
        if page.kind == DICTIONARY:
            if count or page.values * (4 if column.width is None else column.width) > size:
                raise PageError(f"column {column.name!r} has a dictionary that cannot be one")
            dictionary = size + (_TEXT_PLACE * page.values if column.pointed else 0)
        else:
            if page.rows > page.values or (column.flat and page.rows != page.values):
                raise PageError(f"a page of column {column.name!r} says how many values it has in two ways")
            if page.levels > min(page.packed, size):
                raise PageError(f"a page of column {column.name!r} is smaller than what it begins with")
            delta = delta or page.encoding in _DELTA_TEXTS
            values += page.values
            largest = max(largest, size)
        unpacked += size
        headers += page.body - at
        at = page.body + page.packed
        count += 1
        if at > end or count > budget:
            raise PageError(f"the pages of column {column.name!r} are more than it says, or than so few bytes need")
    return _Pages(count, headers, values, unpacked, largest + dictionary, delta, dictionary > 0)
