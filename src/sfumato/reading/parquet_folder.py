"""A folder of Parquet files as one table, as Spark and others write it: part files, perhaps below ``year=2024``.

Files and folders whose names begin with ``_`` or ``.`` are none of the table. What ``name=value`` says in the name of a
folder is a column of text.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from sfumato.errors import SchemaError
from sfumato.reading.parquet_file import parquet_rows, parquet_schema

if TYPE_CHECKING:
    import pyarrow as pa

PARQUET = (".parquet", ".pq")
#: What Hive and Spark write for a missing value in the name of a folder.
_NULL = "__HIVE_DEFAULT_PARTITION__"


def part_files(folder: Path) -> list[Path]:
    """The files of the table, in the order of their names."""
    found = []
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder).parts
        if (
            path.name.lower().endswith(PARQUET)
            and path.is_file()
            and not any(one.startswith(("_", ".")) for one in inside)
        ):
            found.append(path)
    if not found:
        raise SchemaError(f"{folder}: the folder holds no Parquet files")
    return found


def named_values(folder: Path, file: Path) -> dict[str, str | None]:
    """What the folders above a file say of all its rows.

    >>> named_values(Path("sales"), Path("sales/year=2024/shop=A%20B/part-0.parquet"))
    {'year': '2024', 'shop': 'A B'}
    """
    pairs = (one.partition("=") for one in file.relative_to(folder).parts[:-1])
    return {unquote(name): None if value == _NULL else unquote(value) for name, is_one, value in pairs if is_one}


def folder_names(folder: Path) -> list[str]:
    """The columns, those in the names of folders last."""
    first = part_files(folder)[0]
    own = list(_schema(first, _state(first)).names)
    return own + [name for name in named_values(folder, first) if name not in own]


def folder_rows(folder: Path) -> int:
    """How many rows all files hold."""
    return sum(parquet_rows(file) for file in part_files(folder))


def file_names(file: Path) -> list[str]:
    """The columns of one of the files."""
    return list(_schema(file, _state(file)).names)


def check_alike(folder: Path, columns: Sequence[str] | None = None) -> list[Path]:
    """The files, if all of them hold these columns (or the same ones), each of one type."""
    files = part_files(folder)
    known: dict[str, Any] = {}
    for file in files:
        schema = _schema(file, _state(file))
        named = named_values(folder, file)
        wanted = [name for name in columns or schema.names if name not in named]
        if known and columns is None and set(schema.names) != set(known):
            name = sorted(set(schema.names) ^ set(known))[0]
            raise SchemaError(f"{file}: it has other columns than {files[0].name}: column {name!r} is only in one")
        for name in wanted:
            if name not in schema.names:
                raise SchemaError(f"{file}: it has no column {name!r}, which {files[0].name} has")
            kind = schema.field(name).type
            if known.setdefault(name, kind) != kind:
                raise SchemaError(f"{file}: column {name!r} is {kind} here and {known[name]} in {files[0].name}")
    return files


def with_named_values(batch: pa.RecordBatch, columns: Sequence[str], named: dict[str, str | None]) -> pa.RecordBatch:
    """A batch of a file with the columns that stand in the names of its folders."""
    import pyarrow as pa

    for name, value in named.items():
        if name in columns and name not in batch.schema.names:
            batch = batch.append_column(name, pa.array([value] * batch.num_rows, pa.string()))
    return batch.select(list(columns))


def _state(file: Path) -> tuple[int, int]:
    found = file.stat()
    return found.st_size, found.st_mtime_ns


@lru_cache(maxsize=1 << 12)
def _schema(file: Path, _: tuple[int, int]) -> Any:
    return parquet_schema(file)
