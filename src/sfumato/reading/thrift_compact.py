"""Thrift's compact protocol, in which Parquet writes its footer and the headers of its pages.

https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12
_TRUE, _FALSE, _BYTE, _I16, _DOUBLE, _SET = 1, 2, 3, 4, 7, 10

_DEEPEST = 12
_LONGEST_NUMBER = 10  # bytes of seven bits each
_MANY, _LEAST = 100_000, 16  # structs of a list, and bytes of each where they are more
_FIELDS = 1 << 15  # readers keep 16 bits of the number of a field: 65538 is 2 to them

Fields = dict[int, Any]
#: What is read of a struct, by the numbers of its fields: a kind, the shape of a struct within it, or [shape] of a list
#: of structs. A field of another kind is an error, because readers leave it out.
Shape = Mapping[int, Any]


class ThriftError(ValueError):
    """Bytes that are no struct, whatever follows them."""


def read_struct(data: bytes, shape: Shape, at: int = 0, depth: int = 0) -> tuple[Fields, int]:
    """The fields that the shape has, by their numbers, and where it ends; IndexError where the bytes end before.

    >>> read_struct(bytes([0x15, 0x08, 0x2C, 0x15, 0x02, 0x00, 0x00]), {1: I32, 3: {1: I32}})
    ({1: 4, 3: {1: 1}}, 7)
    """
    _check_depth(depth)
    found: Fields = {}
    number = 0
    while head := data[at]:
        at += 1
        if step := head >> 4:
            number += step
        else:
            number, at = _whole(data, at)
        if not 0 < number < _FIELDS:
            raise ThriftError("a field of no number")
        wanted = shape.get(number)
        if wanted is None:
            at = _passed(data, at, head & 15, depth)
        elif number in found:  # readers differ in which of the two they believe
            raise ThriftError("a field stands there twice")
        else:
            found[number], at = _value(data, at, head & 15, wanted, depth)
    return found, at + 1


def _value(data: bytes, at: int, kind: int, wanted: Any, depth: int) -> tuple[Any, int]:
    if kind != (wanted if isinstance(wanted, int) else LIST if isinstance(wanted, list) else STRUCT):
        raise ThriftError(f"a field of kind {kind}")
    if kind == BINARY:
        length, at = _unsigned(data, at)
        return data[at : at + length], _within(data, at + length)
    if kind == STRUCT:
        return read_struct(data, wanted, at, depth + 1)
    if kind == LIST:
        length, inner, at = _list(data, at)
        if length and inner != STRUCT:
            raise ThriftError(f"a list of kind {inner}")
        if length > max(_MANY, len(data) // _LEAST):
            raise ThriftError("a list of more structs than can say anything")
        found = []
        for _ in range(length):
            one, at = read_struct(data, wanted[0], at, depth + 2)
            found.append(one)
        return found, at
    return _whole(data, at)


def _passed(data: bytes, at: int, kind: int, depth: int) -> int:
    """Where a field ends that nobody asks for."""
    if _I16 <= kind <= I64:
        while data[at] > 127:
            at += 1
        return at + 1
    if kind == BINARY:
        length, at = _unsigned(data, at)
        return _within(data, at + length)
    if kind in (_TRUE, _FALSE):  # a flag says its value in its kind
        return at
    if kind in (_BYTE, _DOUBLE):
        return at + (1 if kind == _BYTE else 8)
    _check_depth(depth)
    if kind == STRUCT:
        while head := data[at]:
            at += 1
            if not head >> 4:
                _, at = _whole(data, at)
            at = _passed(data, at, head & 15, depth + 1)
        return at + 1
    if kind in (LIST, _SET):
        length, inner, at = _list(data, at)
        if inner in (_TRUE, _FALSE):  # here it takes a byte
            return at + length
        for _ in range(length):
            at = _passed(data, at, inner, depth + 1)
        return at
    raise ThriftError(f"a field of kind {kind}")


def _list(data: bytes, at: int) -> tuple[int, int, int]:
    """How many items a list has, their kind, and where they begin."""
    head = data[at]
    length, at = (head >> 4, at + 1) if head < 0xF0 else _unsigned(data, at + 1)
    _within(data, at + length)  # each takes a byte at least
    return length, head & 15, at


def _check_depth(depth: int) -> None:
    if depth > _DEEPEST:
        raise ThriftError("structs within structs")


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
    if (one := data[at]) < 128:
        return (one >> 1) ^ -(one & 1), at + 1
    value, at = _unsigned(data, at)
    return (value >> 1) ^ -(value & 1), at
