"""Structs of Thrift's compact protocol are read as they were written, and nothing else is."""

from __future__ import annotations

import pytest
from tests.hostile.parquet_maker import BINARY, FALSE, I32, I64, LIST, STRUCT, TRUE, fields

from sfumato.reading.thrift_compact import ThriftError, read_struct

WRITTEN = fields(
    [
        (1, I32, -7),
        (2, I64, 1 << 62),
        (4, BINARY, "text"),
        (40, STRUCT, [(1, TRUE, None), (2, FALSE, None), (3, LIST, (I32, list(range(-10, 10))))]),
        (41, LIST, (STRUCT, [[(1, I32, 0)], []])),
    ]
)
SHAPE = {1: I32, 2: I64, 4: BINARY, 40: {}, 41: [{1: I32}]}
READ = {1: -7, 2: 1 << 62, 4: b"text", 40: {}, 41: [{1: 0}, {}]}


def test_fields_that_are_asked_for_are_read() -> None:
    assert read_struct(WRITTEN + b"more", SHAPE) == (READ, len(WRITTEN))
    assert read_struct(b"..." + WRITTEN, SHAPE, 3) == (READ, len(WRITTEN) + 3)
    for number in READ:
        asked = {number: SHAPE[number]}
        assert read_struct(WRITTEN, asked) == ({number: READ[number]}, len(WRITTEN))
    assert read_struct(WRITTEN, {}) == ({}, len(WRITTEN))


def test_fields_of_another_kind_are_refused() -> None:
    """Readers leave them out."""
    for number in READ:
        for kind in (I32, I64, BINARY, {}, [{}]):
            if not isinstance(kind, type(SHAPE[number])) or (isinstance(kind, int) and kind != SHAPE[number]):
                with pytest.raises(ThriftError):
                    read_struct(WRITTEN, {number: kind})


@pytest.mark.parametrize("length", range(len(WRITTEN)))
def test_a_struct_that_is_cut_asks_for_more(length: int) -> None:
    with pytest.raises(IndexError):
        read_struct(WRITTEN[:length], SHAPE)
    with pytest.raises(IndexError):
        read_struct(WRITTEN[:length], {})


@pytest.mark.parametrize(
    "data",
    [
        fields([(1, I32, 1), (1, I32, 2)]),
        bytes([0x15]) + b"\xff" * 20,
        bytes([0x1B, 0]),
        bytes([0x2C]) + bytes([0x1C]) * 50,
        fields([(1, I32, 1), (65537, I32, 2)]),
        fields([(1, I32, 1), (-65535, I32, 2)]),
        fields([(0, I32, 1)]),
    ],
    ids=["twice", "a long number", "a map", "deep", "twice in 16 bits", "below", "no number"],
)
def test_what_is_no_struct_is_refused(data: bytes) -> None:
    with pytest.raises(ThriftError):
        read_struct(data, {1: I32})
