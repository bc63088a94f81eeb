"""z as float arrays, whatever holds it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.errors import EstimationError, quoted
from sfumato.input_checks import check_kind
from sfumato.reading import tables

SLICE = 1 << 22


def chunks(z: Any, column: str | None) -> Iterator[Array]:
    """z as float arrays: an array, an iterable of arrays, or any table (or path to CSV or Parquet) with `column`."""
    check_kind(EstimationError, "column", column, str | None, "the name of a column")
    if column is not None:
        yield from _column(z, column)
    elif isinstance(z, str | Path):
        raise EstimationError(f"{z}: column must name one of its {len(tables.column_names(z))} columns")
    elif isinstance(z, np.ndarray):
        _refuse_columns(z.shape)
        flat = z.reshape(-1)
        yield from (_numbers(flat[i : i + SLICE]) for i in range(0, flat.size, SLICE))
    elif (names := _names(z)) is not None:
        raise EstimationError(f"z is a table: column must name one of its {len(names)} columns")
    elif hasattr(z, "to_numpy"):  # a pandas, polars or pyarrow column
        yield _numbers(np.asarray(z.to_numpy()))
    elif isinstance(z, Iterable) and not isinstance(z, Mapping):
        held = list(z) if isinstance(z, list | tuple) else z
        if isinstance(held, list) and all(np.ndim(v) == 0 for v in held):
            yield _numbers(np.asarray(held))
        else:
            for part in held:
                chunk = np.atleast_1d(np.asanyarray(part))
                _refuse_columns(chunk.shape)
                yield _numbers(chunk)
    else:
        raise EstimationError(f"z must be numbers, or a table with `column`, got {type(z).__name__}")


def _refuse_columns(shape: tuple[int, ...]) -> None:
    if sum(length > 1 for length in shape) > 1:
        raise EstimationError(f"z must be one column of numbers, got an array of shape {shape}: choose a column")


def _names(z: Any) -> list[str] | None:
    """The column names of a table, None for anything else."""
    if hasattr(z, "collect_schema"):  # a polars frame, lazy or not
        return [str(name) for name in z.collect_schema().names()]
    names = getattr(z, "column_names", getattr(z, "columns", None))  # pyarrow; pandas, DuckDB
    return None if names is None or callable(names) else [str(name) for name in names]


def _column(table: Any, column: str) -> Iterator[Array]:
    import pyarrow as pa

    if hasattr(table, "fetch_record_batch"):  # a DuckDB relation streams on its own
        if column not in table.columns:
            raise EstimationError(f"the table has no column {column!r}; {tables.instead(column, table.columns)}")
        name = column.replace('"', '""')
        relation = table.select(f'"{name}"')
        batches = getattr(relation, "to_arrow_reader", relation.fetch_record_batch)()
    else:
        batches = tables.batches(table, [column], {column: pa.float64()})
    for batch in batches:
        yield _numbers(batch.column(0).to_numpy(zero_copy_only=False))


def _numbers(values: NDArray[Any]) -> Array:
    if isinstance(values, np.ma.MaskedArray):
        if hidden := int(np.ma.getmaskarray(values).sum()):
            raise EstimationError(f"z must be known, got {hidden} masked values: drop them with z.compressed()")
        values = values.data
    if values.ndim != 1:
        values = values.reshape(-1)
    if values.dtype.kind not in "fiub":
        raise EstimationError(f"z must be numeric, got {values.dtype}{quoted(values[:1].tolist())}")
    return np.ascontiguousarray(values, dtype=np.float64)
