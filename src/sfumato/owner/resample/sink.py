"""Write sanitized rows batch by batch into a file that is whole or not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato import tables
from sfumato.errors import ReleaseError
from sfumato.files import replacing
from sfumato.owner.resample.result import write_beside

if TYPE_CHECKING:
    import pyarrow as pa


def check_target(table: Any, target: str | Path, overwrite: bool) -> None:
    """Refuse, before anything is read, a target that is there or that is the raw table itself."""
    path = Path(target)
    if tables.is_path(table) and path.resolve() == Path(table).resolve():
        raise ReleaseError(f"{path} is the raw table itself: choose another name for the release")
    if path.exists() and not overwrite:
        raise ReleaseError(f"{path} already exists; choose another name or allow overwriting")


class Sink:
    """Parquet that carries its description, or CSV with the description in a JSON file beside it."""

    def __init__(self, path: str | Path, overwrite: bool = False) -> None:
        self.path = Path(path)
        self._ending = tables.suffix(path)
        if self._ending.endswith(".gz"):
            raise ReleaseError(f"{path}: compressed CSV is read but not written; write Parquet instead")
        self._replacing = replacing(self.path, overwrite)
        self._writer: Any = None

    def __enter__(self) -> Sink:
        self._temporary = self._replacing.__enter__()
        return self

    def write(self, rows: pa.Table) -> None:
        import pyarrow.parquet as pq
        from pyarrow import csv

        if self._writer is None:
            if self._ending in tables.CSV:
                options = csv.WriteOptions(delimiter="\t" if self._ending == ".tsv" else ",")
                self._writer = csv.CSVWriter(str(self._temporary), rows.schema, write_options=options)
            else:
                self._writer = pq.ParquetWriter(str(self._temporary), rows.schema, compression="zstd")
        self._writer.write_table(rows)

    def finish(self, description: dict[str, Any]) -> dict[str, Any]:
        """Close the file with its description."""
        self._description = description
        if self._ending not in tables.CSV:
            self._writer.add_key_value_metadata({"sfumato": json.dumps(description)})
        self._writer.close()
        return description

    def __exit__(self, kind: Any, problem: Any, trace: Any) -> None:
        if kind is not None and self._writer is not None:
            self._writer.close()
        self._replacing.__exit__(kind, problem, trace)
        if kind is None and self._ending in tables.CSV:
            write_beside(self.path, self._description)
