"""Rows of a few bytes as one number each."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.owner.packed_rows import pack, unpack

RNG = np.random.default_rng(2)


def _column(kind: pa.DataType) -> pa.Array:
    return pa.array(RNG.integers(0, 100, 50), kind)


@pytest.mark.parametrize(
    ("kinds", "bytes_of_a_row"),
    [
        ([pa.uint8()], 1),
        ([pa.uint16()], 2),
        ([pa.uint8(), pa.uint16()], 4),
        ([pa.uint8()] * 3, 4),
        ([pa.uint32(), pa.uint8(), pa.uint16()], 8),
        ([pa.int64()], 8),
        ([pa.float64()], 8),
        ([pa.float32(), pa.uint8()], 8),
    ],
    ids=str,
)
def test_rows_come_back_as_they_were_in_any_order(kinds: list[pa.DataType], bytes_of_a_row: int) -> None:
    table = pa.table({f"column {i}": _column(kind) for i, kind in enumerate(kinds)})
    packed = pack(table)
    assert packed is not None
    assert packed.dtype.itemsize == bytes_of_a_row
    assert unpack(packed, table.schema).equals(table)
    order = RNG.permutation(50)
    assert unpack(packed[order], table.schema).equals(table.take(order).combine_chunks())


@pytest.mark.parametrize(
    "columns",
    [
        {},
        {"a": pa.array(["x", "y"])},
        {"a": pa.array([1, None], pa.uint8())},
        {"a": pa.array([True, False])},
        {"a": pa.array([1, 2], pa.int64()), "b": pa.array([1, 2], pa.uint8())},
    ],
    ids=["none", "text", "gaps", "bits", "nine bytes"],
)
def test_other_rows_are_left_alone(columns: dict[str, pa.Array]) -> None:
    assert pack(pa.table(columns)) is None
