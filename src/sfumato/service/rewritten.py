"""What pushed files hold, as the server writes it down: columns of parties, tables of counts, and odd files of records.

They are read again: columns whenever another party pushes, the others by the server itself. What a sender can hide in a
file, such as pages that take long to look at or lists that take much memory, would then be paid by the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sfumato.reading.parquet_structure import structure
from sfumato.release import Release
from sfumato.released.counts_file import read_counts, write_counts
from sfumato.released.part import Part
from sfumato.released.shares import Share
from sfumato.released.writer import Writer, code_types
from sfumato.scheme import Scheme
from sfumato.secrets.pseudonyms import hexadecimal
from sfumato.service.intake import Intake, checked_batches

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 1 << 16  # of a row group at least, but for the last
#: Bytes that are held at once, and that stand around the rows: files of whole records are kept as they are up to these.
_HELD, _AROUND = 1 << 26, 1 << 20


def rewrite(path: Path, found: Intake, folder: Path) -> Path | None:
    """The file that was written in place of one that was looked at; None where that is kept as it is."""
    if found.counted:
        return _write_counts(path, folder / "counts.json", found.share is not None)
    if found.attributes is None and (not found.forms or _plain(path)):
        return None
    return _write_rows(path, folder / "rows.parquet")


def _plain(path: Path) -> bool:
    """Whether reading a file takes what its rows take, as far as can be told without."""
    told, size = structure(path), path.stat().st_size
    return told.held.total() <= _HELD and told.around <= max(_AROUND, size // 100)


def _write_counts(path: Path, to: Path, share: bool) -> Path:
    return Share.load(path).save(to) if share else write_counts(to, read_counts(path))


def _write_rows(path: Path, to: Path) -> Path:
    """Write the codes and pseudonyms, and nothing else that the file holds."""
    release = Release.load(path)
    schemes: dict[Scheme, list[Part]] = {}
    for part in release.parts:
        schemes.setdefault(part.scheme, []).append(part)
    id = None if release.id is None else "pseudonym"
    while id is not None and any(id in scheme.columns for scheme in schemes):
        id += "_"
    links, raw = [release.parts[0].link] * len(schemes), [any(one.raw for one in same) for same in schemes.values()]
    with Writer(to, list(schemes), id, links=links, order=release.order, raw=raw) as writer:
        for place, same in enumerate(schemes.values()):
            for batch in _together(_batches(same, id)):
                writer.write(batch, place)
    return to


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


def _batches(parts: Sequence[Part], id: str | None) -> Iterator[pa.RecordBatch]:
    """The rows of parts under one scheme."""
    import pyarrow as pa

    kinds = code_types(parts[0].scheme)
    for part in parts:
        for codes, keys, _ in checked_batches(part):
            columns = {name: pa.array(codes[name].astype(kind.to_pandas_dtype())) for name, kind in kinds.items()}
            if id is not None:
                columns[id] = hexadecimal(keys.view(np.uint8).reshape(-1, keys.itemsize))
            yield pa.record_batch(columns)
