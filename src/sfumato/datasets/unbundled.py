"""Data whose licence does not let us ship them: from the user's folder (SFUMATO_DATA), else from OpenML."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.datasets.catalog import Description
from sfumato.errors import MissingPartError, SfumatoError

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER = "SFUMATO_DATA"
COLUMNS = {
    "pima": ("preg", "plas", "pres", "skin", "insu", "mass", "pedi", "age", "y"),
    "svmguide1": ("x1", "x2", "x3", "x4", "y"),
}
REAL = {"mass", "pedi", "x1", "x2", "x3", "x4"}
OPENML: dict[str, dict[str, Any]] = {
    "pima": {"data_id": 37},
    "svmguide1": {"name": "svmguide1", "version": 1},
}
TRAIN_ROWS = 3089  # of svmguide1; the other 4000 are the test part


def load(item: Description, split: str | None) -> pa.Table:
    """Read the CSV files of the user's folder; where it has none, ask OpenML."""
    import pyarrow as pa

    parts = [split] if split else list(item.splits)
    files = [f"{item.name}_{part}.csv" for part in parts] or [f"{item.name}.csv"]
    folder = os.environ.get(FOLDER)
    if folder and all((Path(folder) / file).is_file() for file in files):
        return pa.concat_tables([_read_csv(Path(folder) / file, item.name) for file in files]).combine_chunks()
    table = _fetch(item, f"set {FOLDER} to a folder that holds {' and '.join(files)}")
    if split and item.splits:
        return table.slice(0, TRAIN_ROWS) if split == "train" else table.slice(TRAIN_ROWS)
    return table


def _read_csv(path: Path, name: str) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv

    types = {column: pa.float64() if column in REAL else pa.int64() for column in COLUMNS[name]}
    try:
        table = csv.read_csv(path, convert_options=csv.ConvertOptions(column_types=types))
    except (OSError, pa.ArrowException) as error:
        reason = str(error).splitlines()[0]
        raise SfumatoError(f"{path} cannot be read as {name}: {reason}") from None
    if set(table.column_names) != set(types):
        wanted, found = ",".join(types), ",".join(table.column_names)
        raise SfumatoError(f"{path} must have the columns {wanted}, got {found}")
    return table.select(list(types))


def _fetch(item: Description, remedy: str) -> pa.Table:
    """OpenML's copy in our column layout, checked for its shape."""
    import pyarrow as pa

    try:
        from sklearn.datasets import fetch_openml
    except ImportError:
        what = f"{item.name} is not bundled: {remedy}, or let it be fetched, which"
        raise MissingPartError.named(what, "scikit-learn", "sklearn") from None
    try:
        with warnings.catch_warnings(action="ignore"):  # what goes wrong is said once, below
            # This parser needs no pandas; one try, because the remedy is better than a long wait.
            bunch = fetch_openml(**OPENML[item.name], as_frame=False, parser="liac-arff", n_retries=1)
        labels = [int(str(label) in ("1", "1.0", "tested_positive")) for label in bunch.target]
        dense = bunch.data.toarray() if hasattr(bunch.data, "toarray") else bunch.data
        data = [[float(cell) for cell in column] for column in dense.T]
    except (OSError, ValueError, TypeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise SfumatoError(f"{item.name} is not bundled and OpenML did not give it ({reason}): {remedy}") from None
    if len(labels) != item.rows or len(data) != item.columns - 1:
        shape = f"{len(labels)} rows and {len(data) + 1} columns"
        raise SfumatoError(f"OpenML's {item.name} has {shape}, not {item.rows} and {item.columns}: {remedy}")
    *features, target = COLUMNS[item.name]
    columns = {
        name: pa.array(values if name in REAL else [int(value) for value in values])
        for name, values in zip(features, data, strict=True)
    }
    return pa.table({**columns, target: pa.array(labels)})
