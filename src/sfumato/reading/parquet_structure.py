"""What a Parquet file says of itself, compared with its pages before anything decodes them.

Decoders believe a file: they set aside the memory that a page asks for, and read as many rows as the pages hold,
whatever the footer says. So a few kilobytes could take gigabytes, or count for millions of people. Here the pages are
walked, header after header, without decoding any: rows, values, places and sizes must be the same wherever they are
said, and no page may be larger than its values can need.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from sfumato.errors import SchemaError
from sfumato.reading.file_stamp import Stamp, stamp
from sfumato.reading.problems import described
from sfumato.reading.thrift_compact import Fields, ThriftError, read_struct

if TYPE_CHECKING:
    import pyarrow.parquet as pq

#: What any file may decode to.
ALWAYS_FITS = 1 << 27
#: How many times its own size a larger file may decode to.
MOST_EXPANSION = 128

#: Bytes of a value by its physical type; texts have a length of their own, and fixed ones that of their column.
_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}
_TEXT = "BYTE_ARRAY"
_FIXED = "FIXED_LEN_BYTE_ARRAY"
_EXTRA = 8  # bytes of a value for levels, and for an encoding that does not help
_SLACK = 1 << 12  # bytes of a page, for encodings in blocks: the last one may be nearly empty
_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3
_HEADERS = {_DATA: 5, _DICTIONARY: 7, _DATA_2: 8}  # the field of a page's header that says more, by the kind of page
_ENCODINGS = {_DATA: 2, _DATA_2: 4}  # the field of that one which names the encoding
_DELTA_TEXTS = (6, 7)  # DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY
_HEADER = 1 << 8  # bytes that are read first
_LONGEST_HEADER = 1 << 20  # it may hold the smallest and the largest text
_LARGEST = (1 << 31) - 1
#: Pages and column chunks that are looked at, whatever the size of the file; beyond, one for so many bytes.
_PAGES = 100_000
_BYTES_OF_A_PAGE = 256


class _FalseError(Exception):
    """What a file says wrongly."""


class Structure(NamedTuple):
    """What a file holds."""

    rows: int
    text_bytes: Mapping[str, int]  # of all pages of a column of texts when they are unpacked, by the name of the column
    delta_texts: frozenset[str]  # columns with pages that say inside, where nobody looks, how many texts they have


class _Column(NamedTuple):
    name: str
    width: int | None  # None: texts
    flat: bool


class _Pages(NamedTuple):
    """What the pages of a column chunk add up to."""

    number: int
    values: int
    unpacked: int
    held: int  # the largest and the dictionary: what a reader holds at once
    delta: bool


def most_unpacked(size: int) -> int:
    """The most memory that what stands in so many bytes may take."""
    return max(ALWAYS_FITS, MOST_EXPANSION * size)


def structure(path: Path) -> Structure:
    """What a file holds, if its pages are as it says; SchemaError where they are not, or it is no Parquet file."""
    return _structure(path, stamp(path))


def check_texts(path: Path, columns: Iterable[str]) -> None:
    """Refuse columns of others in encodings whose pages can hide how much memory they take. No release has them."""
    for name in sorted(structure(path).delta_texts & set(columns)):
        raise SchemaError(
            f"{path}: column {name!r} is in an encoding that can hide its size (DELTA_BYTE_ARRAY, "
            f"DELTA_LENGTH_BYTE_ARRAY): ask its owner for the file as Sfumato wrote it"
        )


@lru_cache(maxsize=1 << 12)
def _structure(path: Path, _: Stamp | None) -> Structure:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        metadata = pq.read_metadata(str(path))
        with path.open("rb", buffering=0) as file:
            return _checked(file, metadata)
    except _FalseError as problem:
        raise SchemaError(f"{path}: cannot be read: it is damaged, or made to mislead: {problem}") from None
    except (pa.ArrowException, ValueError, OSError) as problem:
        raise SchemaError(f"{path}: cannot be read: {described(problem)}") from None


def _checked(file: BinaryIO, metadata: pq.FileMetaData) -> Structure:
    """What the pages hold; an error where any part of the file is not as another says."""
    size = file.seek(0, 2)
    end, budget = size - 8 - metadata.serialized_size, _PAGES + size // _BYTES_OF_A_PAGE
    columns = [_column(metadata.schema.column(j)) for j in range(metadata.num_columns)]
    if metadata.num_row_groups * max(1, len(columns)) > budget:
        raise _FalseError("it has more row groups than so few bytes need")
    rows, texts, delta = 0, Counter[str](), set()
    places: list[tuple[int, int]] = []
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        if group.num_rows < 0 or group.num_columns != len(columns):
            raise _FalseError("a row group has not the columns of the file")
        rows += group.num_rows
        held = 0
        for j, column in enumerate(columns):
            chunk = group.column(j)
            place = _place(chunk, end)
            pages = _walk(file, *place, column, budget, most_unpacked(size))
            if pages.values != chunk.num_values or (column.flat and pages.values != group.num_rows):
                raise _FalseError(f"column {column.name!r} has more or fewer values than its row group has rows")
            if pages.unpacked > chunk.total_uncompressed_size:
                raise _FalseError(f"column {column.name!r} is larger than it says")
            places.append(place)
            budget -= pages.number
            if column.width is None:
                texts[column.name] += pages.unpacked
            delta |= {column.name} if pages.delta else set()
            held += pages.held
        if held > most_unpacked(size):
            raise _FalseError(f"its pages take more than {most_unpacked(size) >> 20} MB at a time")
    if rows != metadata.num_rows:
        raise _FalseError("its row groups hold more or fewer rows than it says")
    if any(one[1] > other[0] for one, other in pairwise(sorted(place for place in places if place[1]))):
        raise _FalseError("two of its columns stand in the same place")
    return Structure(rows, texts, frozenset(delta))


def _column(described: Any) -> _Column:
    kind = described.physical_type
    width = described.length if kind == _FIXED else _WIDTHS.get(kind)
    if width is None and kind != _TEXT:
        raise _FalseError(f"column {described.path!r} is of a kind that is unknown")
    if width is not None and width < 0:
        raise _FalseError(f"column {described.path!r} has values of no length")
    return _Column(described.path, width, described.max_repetition_level == 0)


def _place(chunk: Any, most: int) -> tuple[int, int]:
    """Where the pages of a column chunk begin and end, as every reader would find it."""
    start, first, length = chunk.data_page_offset, chunk.dictionary_page_offset, chunk.total_compressed_size
    if chunk.file_path:
        raise _FalseError("its rows stand in another file")
    if length == 0:
        return 0, 0
    if first:  # 0 is how some writers say that there is none
        if not 4 <= first <= start and chunk.num_values:  # and 0 where a dictionary stands alone
            raise _FalseError("a dictionary stands behind what needs it")
        start = first
    if start < 4 or length < 0 or start + length > most:
        raise _FalseError("a column stands outside the file")
    return start, start + length


def _walk(file: BinaryIO, at: int, end: int, column: _Column, budget: int, most: int) -> _Pages:
    """The pages of a column chunk, each bounded by what its values need."""
    count = values = unpacked = largest = dictionary = 0
    delta = False
    while at < end:
        fields, body = _header(file, at, end)
        kind, packed, size = _size(fields, 1), _size(fields, 3), _size(fields, 2)
        about = fields.get(_HEADERS.get(kind, 0))
        if not isinstance(about, dict):
            raise _FalseError(f"a page of column {column.name!r} is of no kind that holds values")
        held = _size(about, 1)
        if size > _need(column, held) or size > most:
            raise _FalseError(f"a page of column {column.name!r} is larger than its values, or so small a file, need")
        if kind == _DICTIONARY:
            if count or held * (4 if column.width is None else column.width) > size:
                raise _FalseError(f"column {column.name!r} has a dictionary that cannot be one")
            dictionary = size
        else:
            if kind == _DATA_2:
                _check_second(about, held, packed, size, column)
            delta = delta or about.get(_ENCODINGS[kind]) in _DELTA_TEXTS
            values += held
            largest = max(largest, size)
        unpacked += size
        at = body + packed
        count += 1
        if at > end or count > budget:
            raise _FalseError(f"the pages of column {column.name!r} are more than it says, or than so few bytes need")
    return _Pages(count, values, unpacked, largest + dictionary, delta)


def _header(file: BinaryIO, at: int, end: int) -> tuple[Fields, int]:
    """The header of the page that begins here, and where the page itself does."""
    length = _HEADER
    while True:
        file.seek(at)
        try:
            fields, taken = read_struct(file.read(min(length, end - at)))
            return fields, at + taken
        except ThriftError:
            raise _FalseError("a page has no header") from None
        except IndexError:  # it goes on behind what was read
            if length >= min(_LONGEST_HEADER, end - at):
                raise _FalseError("a page has no header") from None
            length *= 16


def _size(fields: Fields, number: int) -> int:
    value = fields.get(number)
    if not isinstance(value, int) or not 0 <= value <= _LARGEST:
        raise _FalseError("a page does not say how large it is")
    return value


def _need(column: _Column, values: int) -> int:
    """The most bytes that so many values of a column take in any encoding."""
    return _LARGEST if column.width is None else _SLACK + values * (column.width + _EXTRA)


def _check_second(about: Fields, values: int, packed: int, size: int, column: _Column) -> None:
    """Pages of the second version say their rows too, and how long their levels are, which are not packed."""
    rows, levels = _size(about, 3), _size(about, 5) + _size(about, 6)
    if levels > min(packed, size) or rows > values or (column.flat and rows != values):
        raise _FalseError(f"a page of column {column.name!r} says how many values it has in two ways")
