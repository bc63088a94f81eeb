"""Rows by bucket: the same with numba and without, whatever the columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.owner import bucketed_rows
from sfumato.owner.bucketed_rows import by_bucket

COLUMNS = {
    "narrow": {"a": pa.uint8(), "b": pa.uint16(), "c": pa.uint8()},
    "wide": {"a": pa.uint32(), "b": pa.float64()},
}


@pytest.mark.parametrize("columns", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("count", [1, 16, 512])
def test_rows_go_to_their_buckets_in_the_order_they_had(monkeypatch, columns, count):
    rng = np.random.default_rng(0)
    n = 5000
    table = pa.table({name: pa.array(rng.integers(0, 200, n)).cast(kind) for name, kind in columns.items()})
    buckets = rng.integers(0, count, n).astype(np.uint8 if count <= 256 else np.uint16)
    plain, ends = by_bucket(table, buckets, count)
    order = np.argsort(buckets, kind="stable")
    assert plain.equals(table.take(order)) and ends[-1] == n and len(ends) == count
    assert (np.diff([0, *ends]) == np.bincount(buckets, minlength=count)).all()
    pytest.importorskip("numba")
    monkeypatch.setattr(bucketed_rows, "_WORTH_COMPILING", 0)
    compiled, same_ends = by_bucket(table, buckets, count)
    assert compiled.equals(plain) and same_ends == ends


def test_rows_with_gaps_are_moved_too(monkeypatch):
    monkeypatch.setattr(bucketed_rows, "_WORTH_COMPILING", 0)
    table = pa.table({"a": pa.array([1, None, 3], pa.uint8())})
    moved, ends = by_bucket(table, np.array([1, 1, 0], dtype=np.uint8), 2)
    assert moved["a"].to_pylist() == [3, 1, None] and ends == [1, 3]
