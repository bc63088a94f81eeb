"""Rows of a few bytes as one number each, so that they can be moved as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

_MOST_BYTES = 8


def pack(table: pa.Table) -> NDArray[Any] | None:
    """An unsigned number for each row; None where the rows have more than eight bytes, gaps, or other than numbers.

    >>> import pyarrow as pa
    >>> pack(pa.table({"a": pa.array([1, 2], pa.uint8()), "b": pa.array([3, 4], pa.uint8())})).dtype
    dtype('uint16')
    """
    layout = _layout(table.schema)
    if layout is None or any(column.null_count for column in table.columns):
        return None
    number = f"u{layout.itemsize}"
    if table.num_columns == 1:
        return np.asarray(table.column(0).to_numpy().view(number))
    rows = np.zeros(table.num_rows, dtype=layout)
    for i, column in enumerate(table.columns):
        rows[_name(i)] = column.to_numpy()
    return rows.view(number)


def unpack(rows: NDArray[Any], schema: pa.Schema) -> pa.Table:
    """The table whose rows were packed."""
    import pyarrow as pa

    fields = rows.view(_layout(schema) or rows.dtype)
    columns = [np.ascontiguousarray(fields[_name(i)]) for i in range(len(schema))]
    arrays = [pa.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _name(column: int) -> str:
    return f"f{column}"


def _layout(schema: pa.Schema) -> np.dtype[Any] | None:
    """The columns of a row side by side, in as many bytes as a number has; None where that is not possible."""
    import pyarrow as pa

    types = [field.type for field in schema]
    if not types or not all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in types):
        return None
    sizes = [kind.bit_width // 8 for kind in types]
    ends = np.cumsum(sizes).tolist()
    if ends[-1] > _MOST_BYTES:
        return None
    return np.dtype(
        {
            "names": [_name(i) for i in range(len(types))],
            "formats": [np.dtype(kind.to_pandas_dtype()) for kind in types],
            "offsets": [end - size for end, size in zip(ends, sizes, strict=True)],
            "itemsize": next(size for size in (1, 2, 4, 8) if size >= ends[-1]),
        }
    )
