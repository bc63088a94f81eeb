"""The headers of the pages of a Parquet file: what each page says of itself.

https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import BinaryIO, NamedTuple

from sfumato.reading.thrift_compact import I32, Fields, ThriftError, read_struct

DATA, DICTIONARY, DATA_2 = 0, 2, 3  # kinds of pages
_DETAILS = {DATA: 5, DICTIONARY: 7, DATA_2: 8}  # the field that says more, by the kind of page
_SHAPE = {
    **dict.fromkeys((1, 2, 3), I32),
    **{field: dict.fromkeys(range(1, 7 if kind == DATA_2 else 3), I32) for kind, field in _DETAILS.items()},
}
_FIRST = 1 << 8  # bytes that are read first
_LONGEST = 1 << 20  # a header may hold the smallest and the largest text
_LARGEST = (1 << 31) - 1

_NUMBER = rb"[\x80-\xff]{0,4}[\x00-\x7f]"
_KEPT = rb"\x15(" + _NUMBER + rb")"
_SKIPPED = rb"\x15" + _NUMBER


def _fields(kind: int) -> bytes:
    """The first byte of a field of this kind, whatever its number is."""
    return b"[" + b"".join(re.escape(bytes([step << 4 | kind])) for step in range(1, 16)) + b"]"


_COUNT = _fields(6) + rb"[\x80-\xff]{0,9}[\x00-\x7f]"
_SHORT_VALUE = _fields(8) + rb"(?:\x01.|\x04.{4}|\x08.{8})"
_FLAG = rb"(?:" + _fields(1) + rb"|" + _fields(2) + rb")"
#: What nearly all headers look like: data of the first version, with no statistics, or with those of numbers.
_USUAL = re.compile(
    rb"\x15\x00" + _KEPT + _KEPT + rb"(?:\x2c|" + _SKIPPED + rb"\x1c)"  # sizes; perhaps a checksum
    + _KEPT + _KEPT + _SKIPPED + _SKIPPED  # values, encoding, and how the levels are encoded
    + rb"(?:\x1c(?:" + _COUNT + rb"|" + _SHORT_VALUE + rb"|" + _FLAG + rb")*\x00)?\x00\x00",
    re.DOTALL,
)  # fmt: skip


class PageError(ValueError):
    """No header, or one that cannot be true."""


class PageHeader(NamedTuple):
    """What a page says of itself, and where it begins behind its header."""

    kind: int
    unpacked: int
    packed: int
    values: int
    encoding: int
    rows: int
    levels: int  # bytes of levels that are not packed
    body: int


def page_header(file: BinaryIO, at: int, end: int) -> PageHeader:
    """The header that begins here and must end before ``end``."""
    length = _FIRST
    while True:
        file.seek(at)
        data = file.read(min(length, end - at))
        if usual := _USUAL.match(data):
            unpacked, packed, values, encoding = map(_whole, usual.groups())
            return PageHeader(DATA, unpacked, packed, values, encoding, values, 0, at + usual.end())
        try:
            fields, taken = read_struct(data, _SHAPE)
            return _read(fields, at + taken)
        except ThriftError:
            raise PageError("a page has no header") from None
        except IndexError:  # it goes on behind what was read
            if length >= min(_LONGEST, end - at):
                raise PageError("a page has no header") from None
            length *= 16


def _read(fields: Fields, body: int) -> PageHeader:
    kind = _size(fields, 1)
    about = fields.get(_DETAILS.get(kind, 0))
    if not isinstance(about, dict):
        raise PageError("a page is of no kind that holds values")
    values = _size(about, 1)
    second = kind == DATA_2
    return PageHeader(
        kind,
        _size(fields, 2),
        _size(fields, 3),
        values,
        _size(about, 4 if second else 2),
        _size(about, 3) if second else values,
        _size(about, 5) + _size(about, 6) if second else 0,
        body,
    )


def _size(fields: Fields, number: int) -> int:
    value = fields.get(number)
    if not isinstance(value, int) or not 0 <= value <= _LARGEST:
        raise PageError("a page does not say how large it is")
    return value


@lru_cache(maxsize=1 << 14)
def _whole(raw: bytes) -> int:
    """The number that these bytes say, seven bits each; the last bit is the sign."""
    value = sum((one & 127) << 7 * place for place, one in enumerate(raw))
    if value & 1 or value >> 1 > _LARGEST:
        raise PageError("a page does not say how large it is")
    return value >> 1
