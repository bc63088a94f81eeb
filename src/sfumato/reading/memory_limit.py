"""How much memory the rows of a file may take. A few kilobytes of Parquet can stand for a billion rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import ReleaseError
from sfumato.reading import tables
from sfumato.reading.parquet_file import open_parquet, parquet_schema
from sfumato.reading.parquet_folder import part_files
from sfumato.reading.parquet_structure import MOST_EXPANSION, check_received, most_unpacked, structure

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH = 1 << 16


class TooLargeError(ReleaseError):
    """Rows that would take far more memory than their file."""


def most_bytes(path: Path) -> int:
    """The most memory that the rows of this file may take."""
    files = part_files(path) if path.is_dir() else [path]
    return most_unpacked(sum(file.stat().st_size for file in files))


def check_decoded(path: Path, columns: Sequence[str], said: int = 0) -> None:
    """Raise where these columns of a file would take too much memory, before they are read.

    ``said`` is how many rows the description speaks of; a CSV file does not tell by itself.
    """
    if path.is_dir():
        for file in part_files(path):
            check_decoded(file, columns)
        return
    rows = tables.count_rows(path)
    needed = said * 4 * len(columns) if rows is None else _parquet_bytes(path, columns, rows)
    if needed > (most := most_bytes(path)):
        raise _too_large(path, most)


def within_memory(path: Path, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same batches, as long as all together do not take too much: texts and CSV tell their size only when read."""
    taken, most = 0, most_bytes(path)
    for batch in batches:
        taken += batch.nbytes
        if taken > most:
            raise _too_large(path, most)
        yield batch


def pieces(batches: Iterable[pa.RecordBatch], first: int, rows: int) -> Iterator[pa.RecordBatch]:
    """``rows`` rows of a stream, from the one numbered ``first``."""
    for batch in batches:
        skipped = min(first, batch.num_rows)
        some = batch.slice(skipped, min(rows, batch.num_rows - skipped))
        first, rows = first - skipped, rows - some.num_rows
        if some.num_rows:
            yield some
        if not rows:
            return


def _parquet_bytes(path: Path, columns: Sequence[str], rows: int) -> int:
    kinds = parquet_schema(path)
    return sum(_column_bytes(path, name, kinds.field(name).type, rows) for name in columns)


def _column_bytes(path: Path, name: str, kind: Any, rows: int) -> int:
    import pyarrow as pa

    if pa.types.is_nested(kind):
        raise ReleaseError(f"{path}: column {name!r} holds lists or records, where a release has codes, numbers or ids")
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind  # what it is when it is read
    try:
        return rows * max(1, int(plain.bit_width) // 8)
    except ValueError:  # texts, each of a length of its own
        return rows * 4 + _text_bytes(path, name, most_bytes(path))


def _text_bytes(path: Path, name: str, enough: int) -> int:
    """The length of all texts of a column: written once, one text can stand in a million rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    told = structure(path, [name])
    if (total := told.text_bytes[name]) > enough:
        return total
    check_received(path, [name])
    if name not in told.listed_texts:  # each stands there for itself
        return total
    with open_parquet(path, [name], read_dictionary=[name]) as file:
        total = 0
        for batch in file.iter_batches(_BATCH, columns=[name]):
            texts = batch.column(0)
            if isinstance(texts, pa.DictionaryArray):
                lengths = pc.binary_length(texts.dictionary).cast(pa.int64())
                total += int(pc.sum(lengths.take(texts.indices)).as_py() or 0)
            else:
                total += int(texts.nbytes)
            if total > enough:
                break
    return total


def _too_large(path: Path, most: int) -> TooLargeError:
    return TooLargeError(
        f"{path}: all rows together would take more than {most >> 20} MB of memory, {MOST_EXPANSION} times the file: "
        f"count them as they are, or ask its owner for files of fewer rows"
    )
