"""Columns taken by their place and not by their name.

Engines read some names as something else: polars takes ``*`` for all columns, DuckDB and Spark take ``Sepal.Length``
for a field of a table and ``a`` for ``A``. Under plain names of our own nothing is left to read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def placed(table: Any, columns: Sequence[str], present: Sequence[str] | None = None) -> Any:
    """The named columns of an engine's frame, called c0, c1, ...; ``present`` are the names as its file has them."""
    names = [f"c{i}" for i in range(len(columns))]
    engine = type(table).__module__.partition(".")[0]
    if engine in ("duckdb", "_duckdb"):
        found = [table.columns[list(present or table.columns).index(column)] for column in columns]
        return table.project(", ".join(f"{_quoted(own)} AS {name}" for own, name in zip(found, names, strict=True)))
    if engine == "pyspark":
        return spark_places(table, columns).toDF(*names)
    if engine == "polars":
        if hasattr(table, "collect"):
            return _lazy(table, columns, names)
        return type(table)({n: table.get_column(c) for n, c in zip(names, columns, strict=True)})
    if engine in ("pandas", "dask"):
        return table[list(columns)].rename(columns=dict(zip(columns, names, strict=True)))
    import narwhals as nw

    frame = nw.from_native(table)
    return frame.select(*columns).rename(dict(zip(columns, names, strict=True))).to_native()


def spark_places(frame: Any, columns: Sequence[str]) -> Any:
    """The named columns of a Spark frame, found by their place, under plain names."""
    where = {name: place for place, name in enumerate(frame.columns)}
    return frame.toDF(*(f"p{i}" for i in range(len(frame.columns)))).select(*(f"p{where[name]}" for name in columns))


def _lazy(table: Any, columns: Sequence[str], names: Sequence[str]) -> Any:
    if any(column == "*" or (column.startswith("^") and column.endswith("$")) for column in columns):
        whole = table.collect()  # only a frame in memory gives such a column by its name
        return type(whole)({n: whole.get_column(c) for n, c in zip(names, columns, strict=True)}).lazy()
    return table.select(list(columns)).rename(dict(zip(columns, names, strict=True)))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
