"""The one door to Parquet files: each is opened after its structure was checked, and what is wrong is one line."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import SchemaError, SfumatoError
from sfumato.reading.parquet_structure import structure
from sfumato.reading.problems import described

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


@contextmanager
def open_parquet(path: str | Path, columns: Collection[str] | None = None, **options: Any) -> Iterator[pq.ParquetFile]:
    """The file to read these columns from (None: all); what is found wrong inside the block is one line too."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    structure(Path(path), columns)
    try:
        with pq.ParquetFile(str(path), **options) as file:
            yield file
    except SfumatoError:
        raise
    except (pa.ArrowException, ValueError, OSError) as problem:
        raise SchemaError(f"{path}: cannot be read: {described(problem)}") from None


def parquet_rows(path: Path) -> int:
    """How many rows a file holds."""
    return structure(path, ()).rows


def parquet_schema(path: str | Path) -> pa.Schema:
    """The names and types of its columns."""
    with open_parquet(path, ()) as file:
        return file.schema_arrow


def parquet_notes(path: str | Path) -> dict[bytes, bytes]:
    """What its writer noted in it, by the keys of the notes."""
    with open_parquet(path, ()) as file:
        return dict(file.metadata.metadata or {})
