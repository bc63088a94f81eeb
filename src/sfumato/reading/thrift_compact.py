"""Thrift's compact protocol, in which Parquet writes the headers of its pages.

https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

from typing import Any

_DEEPEST = 8
_LONGEST_NUMBER = 10  # bytes of seven bits each
_FIELDS = 1 << 15  # readers keep 16 bits of the number of a field: 65538 is 2 to them

Fields = dict[int, Any]


class ThriftError(ValueError):
    """Bytes that are no struct, whatever follows them."""


def read_struct(data: bytes, at: int = 0, depth: int = 0) -> tuple[Fields, int]:
    """The fields of a struct by their numbers, and where it ends; IndexError where the bytes end before.

    >>> read_struct(bytes([0x15, 0x08, 0x2C, 0x15, 0x02, 0x00, 0x00]))
    ({1: 4, 3: {1: 1}}, 7)
    """
    if depth > _DEEPEST:
        raise ThriftError("structs within structs")
    found: Fields = {}
    number = 0
    while head := data[at]:
        at += 1
        if step := head >> 4:
            number += step
        else:
            number, at = _whole(data, at)
        if number in found:  # readers differ in which of the two they believe
            raise ThriftError("a field stands there twice")
        if not 0 < number < _FIELDS:
            raise ThriftError("a field of no number")
        found[number], at = _value(data, at, head & 15, depth)
    return found, at + 1


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    if 4 <= kind <= 6:
        return _whole(data, at)
    if kind == 12:
        return read_struct(data, at, depth + 1)
    if kind == 8:
        length, at = _unsigned(data, at)
        return data[at : at + length], _within(data, at + length)
    if kind in (1, 2):  # a flag says its value in its kind
        return kind == 1, at
    if kind == 3:
        return data[at], at + 1
    if kind == 7:
        return data[at : at + 8], _within(data, at + 8)
    if kind in (9, 10):
        return _list(data, at, depth)
    raise ThriftError(f"a field of kind {kind}")


def _list(data: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    head = data[at]
    length, at = (head >> 4, at + 1) if head < 0xF0 else _unsigned(data, at + 1)
    _within(data, at + length)  # each takes a byte at least
    kind = head & 15
    found = []
    for _ in range(length):
        one, at = (data[at] == 1, at + 1) if kind in (1, 2) else _value(data, at, kind, depth + 1)
        found.append(one)
    return found, at


def _within(data: bytes, end: int) -> int:
    if end > len(data):
        raise IndexError
    return end


def _unsigned(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        one = data[at]
        at += 1
        value |= (one & 127) << shift
        if one < 128:
            return value, at
        shift += 7
        if shift >= 7 * _LONGEST_NUMBER:
            raise ThriftError("a number of too many bytes")


def _whole(data: bytes, at: int) -> tuple[int, int]:
    """A number with a sign, which stands in its last bit."""
    value, at = _unsigned(data, at)
    return (value >> 1) ^ -(value & 1), at
