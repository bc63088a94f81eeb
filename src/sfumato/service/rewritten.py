"""What pushed files hold, as the server writes it down: a party's columns, and tables of counts.

They are read again: columns whenever another party pushes, counts by the server itself. What a sender can hide in a
file, such as pages that take long to look at or lists that take much memory, would then be paid by the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sfumato.release import Release
from sfumato.released.counts_file import read_counts, write_counts
from sfumato.released.shares import Share
from sfumato.released.writer import Writer, code_types
from sfumato.secrets.pseudonyms import hexadecimal
from sfumato.service.intake import Intake, checked_batches

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 1 << 16  # of a row group at least, but for the last


def rewrite(path: Path, found: Intake, folder: Path) -> Path | None:
    """The file that was written in place of one that was looked at; None where that is kept as it is."""
    if found.attributes is not None:
        _write_columns(path, to := folder / "rows.parquet")
        return to
    if found.counted:
        return _write_counts(path, folder / "counts.json", found.share is not None)
    return None


def _write_counts(path: Path, to: Path, share: bool) -> Path:
    return Share.load(path).save(to) if share else write_counts(to, read_counts(path))


def _write_columns(path: Path, to: Path) -> None:
    """Write the codes and pseudonyms, and nothing else that the file holds."""
    release = Release.load(path)
    first = release.parts[0]  # all have the same columns and one key, or the file was refused
    id = "pseudonym"
    while id in first.scheme.columns:
        id += "_"
    with Writer(to, [first.scheme], id, links=[first.link], order="shuffled") as writer:
        for batch in _together(_batches(release, id)):
            writer.write(batch)


def _together(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in larger batches: each becomes a row group, and a file may have a part for every row."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= _ROWS:
            yield pa.concat_batches(waiting)
            waiting, rows = [], 0
    if waiting:
        yield pa.concat_batches(waiting)


def _batches(release: Release, id: str) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    kinds = code_types(release.parts[0].scheme)
    for part in release.parts:
        for codes, keys, _ in checked_batches(part):
            columns = {name: pa.array(codes[name].astype(kind.to_pandas_dtype())) for name, kind in kinds.items()}
            ids = hexadecimal(keys.view(np.uint8).reshape(-1, keys.itemsize))
            yield pa.record_batch({**columns, id: ids})
