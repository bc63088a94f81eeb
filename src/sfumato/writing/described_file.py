"""A table in a file that says what it is: Parquet with a description inside, or CSV with one in JSON beside it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sfumato.errors import ReleaseError
from sfumato.reading import tables
from sfumato.writing.whole_files import check_free, replacing

if TYPE_CHECKING:
    import pyarrow as pa

KEY = b"sfumato"
RESAMPLED = "sfumato resampled"  #: the format of a table of new rows, beside that of a release
_HEAD = 1 << 20  # how much of a CSV file its sidecar remembers the digest of
_TOGETHER = 1 << 16  # rows that are written at once: each time costs a Parquet file a place for every column


class DescribedFile:
    """Written batch by batch, whole or not there; the description is given at the end."""

    def __init__(self, path: str | Path, overwrite: bool = False) -> None:
        self.path = Path(path)
        self.csv = tables.suffix(path) in tables.CSV
        if str(path).endswith(".gz"):
            raise ReleaseError(f"{path}: compressed CSV is read but not written; write Parquet instead")
        self._overwrite = overwrite
        self._files = ExitStack()
        self._sink: Any = None
        self._schema: pa.Schema | None = None
        self._held: list[pa.Table] = []
        self._held_rows = 0
        self._about: dict[str, Any] | None = None
        #: Called once the file is complete and before it takes its place.
        self.before_it_is_there: Callable[[], None] | None = None

    def __enter__(self) -> Self:
        # Entered first, left last: the data file takes its place after the sidecar, and either alone does not load.
        self._temporary = self._files.enter_context(replacing(self.path, self._overwrite))
        if self.csv:
            self._beside = self._files.enter_context(replacing(sidecar(self.path), self._overwrite))
        return self

    def append(self, rows: pa.Table | pa.RecordBatch) -> None:
        """Rows more; the first ones say which columns there are, unless that is settled."""
        import pyarrow as pa

        if self._schema is None:
            self._schema = rows.schema
        if self._sink is None:
            self._sink = self._open()
        table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
        self._held.append(table if table.schema == self._schema else table.cast(self._schema))
        self._held_rows += table.num_rows
        if self._held_rows >= _TOGETHER:
            self._write_held()

    def _write_held(self) -> None:
        import pyarrow as pa

        if self._held:
            self._sink.write(pa.concat_tables(self._held))
            self._held.clear()
            self._held_rows = 0

    def describe(self, about: dict[str, Any]) -> None:
        """What the file says of itself."""
        self._about = about

    def _open(self) -> Any:
        import pyarrow.parquet as pq
        from pyarrow import csv

        if self.csv:
            options = csv.WriteOptions(delimiter="\t" if ".tsv" in tables.suffix(self.path) else ",")
            return csv.CSVWriter(str(self._temporary), self._schema, write_options=options)
        return pq.ParquetWriter(str(self._temporary), self._schema, **self._packing())

    def _packing(self) -> dict[str, Any]:
        return {"compression": "zstd"}

    def __exit__(self, kind: Any, problem: Any, trace: Any) -> bool | None:
        if kind is None:
            try:
                self._finish()
                for path in (self.path, sidecar(self.path)) if self.csv else (self.path,):
                    check_free(path, self._overwrite)  # before anything is booked
                if self.before_it_is_there is not None:
                    self.before_it_is_there()
            except BaseException as late:
                self._files.__exit__(type(late), late, late.__traceback__)
                raise
        elif self._sink is not None:
            _close_quietly(self._sink)
        return self._files.__exit__(kind, problem, trace)

    def _finish(self) -> None:
        if self._sink is None or self._about is None:
            raise ReleaseError(f"{self.path}: an empty table has nothing to release")
        self._write_held()
        if not self.csv:
            self._sink.add_key_value_metadata({KEY.decode(): json.dumps(self._about, ensure_ascii=False)})
            self._sink.close()
            return
        self._sink.close()
        about = {**self._about, **content(self._temporary)}
        self._beside.write_text(json.dumps(about, ensure_ascii=False, indent=1), encoding="utf-8")


def sidecar(path: Path) -> Path:
    """Where the description of a CSV file stands: release.csv has release.csv.json."""
    return path.with_name(path.name + ".json")


def content(path: Path) -> dict[str, Any]:
    """What ties a sidecar to its file: the size, and the digest of the beginning."""
    with path.open("rb") as file:
        return {"bytes": path.stat().st_size, "sha256_head": hashlib.sha256(file.read(_HEAD)).hexdigest()}


def _close_quietly(sink: Any) -> None:
    try:
        sink.close()
    except Exception:  # the first error is the one to report; this only frees the file
        return
