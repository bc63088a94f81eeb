"""What the footer of a Parquet file says of its row groups and of the pages of their columns.

Arrow reads the same, but ends the whole process where the statistics of a column cannot be, or where it is encrypted,
and sets aside a kilobyte for what may stand in three bytes.

https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

from __future__ import annotations

from typing import BinaryIO, NamedTuple

from sfumato.reading.parquet_pages import PageError
from sfumato.reading.thrift_compact import BINARY, I64, Fields, ThriftError, read_struct

_TAIL = 8  # bytes behind the footer: its length, and what every file ends with
_LARGEST = 1 << 26  # bytes: one of 5000 columns in 100 row groups has 50 MB; a second for each MB that is made up
_MAGIC, _ENCRYPTED = b"PAR1", b"PARE"
_OTHER_FILE, _ABOUT, _LOCK, _LOCKED = 1, 3, 8, 9  # fields of a column chunk
_VALUES, _UNPACKED, _PACKED, _DATA, _DICTIONARY = 5, 6, 7, 9, 11  # and of what is said about it
_SCHEMA, _ROWS, _GROUPS = 2, 3, 4  # of the file
_CHUNKS, _GROUP_ROWS = 1, 3  # of a row group
_CHUNK = {
    _OTHER_FILE: BINARY,
    _ABOUT: dict.fromkeys((_VALUES, _UNPACKED, _PACKED, _DATA, _DICTIONARY), I64),
    _LOCK: {},
    _LOCKED: BINARY,
}
_FILE = {_SCHEMA: [{}], _ROWS: I64, _GROUPS: [{_CHUNKS: [_CHUNK], _GROUP_ROWS: I64}]}


class Chunk(NamedTuple):
    """The values of a column in a row group; sizes in bytes, places from the beginning of the file."""

    values: int
    unpacked: int
    packed: int
    data: int
    dictionary: int  # 0 where there is none


class Group(NamedTuple):
    """A row group."""

    rows: int
    chunks: list[Chunk]


class Footer(NamedTuple):
    """What a file says of itself, and where it begins to say so."""

    rows: int
    groups: list[Group]
    place: int
    described: int  # columns, and groups of them


def read_footer(file: BinaryIO) -> Footer:
    """The footer, whatever the rest of the file is."""
    end = file.seek(0, 2) - _TAIL
    if end < len(_MAGIC):
        raise ValueError("it is smaller than the minimum")
    file.seek(end)
    tail = file.read(_TAIL)
    if tail[4:] != _MAGIC:
        raise ValueError("encrypted" if tail[4:] == _ENCRYPTED else "no magic bytes")
    length = int.from_bytes(tail[:4], "little")
    if length > _LARGEST:
        raise PageError(f"its footer has more than {_LARGEST >> 20} MB: write it with fewer row groups")
    place = end - length
    if place < len(_MAGIC):
        raise PageError("its footer is larger than the file")
    file.seek(place)
    try:
        fields, _ = read_struct(file.read(end - place), _FILE)
        groups = [Group(one[_GROUP_ROWS], [_chunk(chunk) for chunk in one[_CHUNKS]]) for one in fields[_GROUPS]]
        return Footer(fields[_ROWS], groups, place, len(fields[_SCHEMA]))
    except (ThriftError, IndexError, KeyError):
        raise PageError("its footer cannot be one") from None


def _chunk(said: Fields) -> Chunk:
    if _LOCK in said or _LOCKED in said:
        raise ValueError("encrypted")
    if said.get(_OTHER_FILE):
        raise PageError("its rows stand in another file")
    about = said[_ABOUT]
    return Chunk(about[_VALUES], about[_UNPACKED], about[_PACKED], about[_DATA], about.get(_DICTIONARY, 0))
