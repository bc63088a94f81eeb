"""Rows brought together by the bucket that each belongs to, in the order they had."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.owner.packed_rows import pack, unpack

if TYPE_CHECKING:
    import pyarrow as pa

_WORTH_COMPILING = 1 << 20  # below this many rows, loading numba takes longer than it saves
Ends = NDArray[np.int64]


def by_bucket(table: pa.Table, buckets: NDArray[np.unsignedinteger[Any]], count: int) -> tuple[pa.Table, list[int]]:
    """The rows of bucket 0, then those of bucket 1 and so on, and where each ends.

    >>> import pyarrow as pa
    >>> rows, ends = by_bucket(pa.table({"a": [1, 2, 3, 4]}), np.array([1, 0, 1, 0], dtype=np.uint8), 2)
    >>> rows["a"].to_pylist(), ends
    ([2, 4, 1, 3], [2, 4])
    """
    worth = len(buckets) >= _WORTH_COMPILING or "numba" in sys.modules
    put = _compiled() if worth else None
    packed = None if put is None else pack(table)
    if put is None or packed is None:
        order = np.argsort(buckets, kind="stable")  # small integers: a radix sort
        return table.take(order), np.cumsum(np.bincount(buckets, minlength=count)).tolist()
    moved, ends = put(packed, buckets, count)
    return unpack(moved, table.schema), ends.tolist()


@cache
def _compiled() -> Callable[..., tuple[NDArray[Any], Ends]] | None:
    """Sorting by counting, when numba is installed: how many rows each bucket has, then every row to its place."""
    try:
        import numba
    except ImportError:
        return None

    @numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
    def put(rows: NDArray[Any], buckets: NDArray[Any], count: int) -> tuple[NDArray[Any], Ends]:
        held = np.zeros(count, dtype=np.int64)
        for i in range(len(buckets)):
            held[buckets[i]] += 1
        places = np.cumsum(held) - held
        moved = np.empty_like(rows)
        for i in range(len(rows)):
            bucket = buckets[i]
            moved[places[bucket]] = rows[i]
            places[bucket] += 1
        return moved, places

    compiled: Callable[..., tuple[NDArray[Any], Ends]] = put
    return compiled
