"""Group and count on the engine that holds the rows; only the combinations that occur come back."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ReleaseError, SfumatoError
from sfumato.reading import tables
from sfumato.reading.parquet_folder import file_names, part_files
from sfumato.reading.parquet_structure import check_received
from sfumato.reading.positions import placed
from sfumato.reading.problems import described
from sfumato.released.part import Part
from sfumato.released.writer import check_codes

Codes = tuple[NDArray[Any], ...]


def check_columns(sizes: dict[str, int], columns: tuple[str, ...], arrays: Codes) -> None:
    for column, array in zip(columns, arrays, strict=True):
        check_codes(column, array, sizes[column])


def unique_rows(part: Part, columns: tuple[str, ...]) -> tuple[Codes, NDArray[np.int64]]:
    grouped = part.arrow().select(list(columns)).group_by(list(columns)).aggregate([([], "count_all")])
    codes = tuple(grouped.column(i).to_numpy() for i in range(len(columns)))
    check_columns(part.scheme.output_sizes, columns, codes)
    return codes, grouped.column(len(columns)).to_numpy()


def grouped(part: Part, columns: tuple[str, ...]) -> tuple[Codes, NDArray[np.int64]]:
    """Group and count on the engine that holds the rows."""
    import narwhals as nw

    part.check_unchanged()
    places = [f"c{i}" for i in range(len(columns))]
    try:
        on_disk = isinstance(part.rows, Path)
        held = _on_disk(part.rows, columns) if on_disk else part.rows
        frame = nw.from_native(placed(held, columns, tables.column_names(part.rows) if on_disk else None))
        counted = frame.lazy().group_by(*places).agg(nw.len().alias("rows")).collect(backend="pyarrow").to_native()
    except SfumatoError:
        raise
    except Exception as problem:  # every engine has errors of its own
        where = part.rows if isinstance(part.rows, Path) else "the rows"
        raise ReleaseError(f"{where}: cannot be counted: {described(problem)}") from problem
    part.check_unchanged()
    codes = tuple(counted.column(place).to_numpy() for place in places)
    check_columns(part.scheme.output_sizes, columns, codes)
    return codes, np.asarray(counted.column("rows").to_numpy(), dtype=np.int64)


def _on_disk(path: Path, columns: tuple[str, ...]) -> Any:
    import duckdb

    files = part_files(path) if path.is_dir() else [path]
    for file in files:
        check_received(file, columns)
    _check_names(files, columns)
    escaped = [glob.escape(str(file)) for file in files]  # a star in the name is a star, not a pattern
    return duckdb.connect().read_parquet(escaped, hive_partitioning=False)


def _check_names(files: Sequence[Path], columns: Sequence[str]) -> None:
    """DuckDB takes columns of other files than the first by their names, in which it tells no cases apart."""
    first = file_names(files[0])
    for file in files[1:]:
        if (names := file_names(file)) == first:
            continue
        alike = any(len({name.casefold() for name in some}) < len(some) for some in (first, names))
        if alike or not set(columns) <= set(names):
            raise ReleaseError(
                f"{file}: its columns are not those of {files[0].name}: some are missing, or differ in upper and "
                f"lower case only; ask its owner for the folder as Sfumato wrote it"
            )
