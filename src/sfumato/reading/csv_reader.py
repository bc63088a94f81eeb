"""Text files as a stream of Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import SchemaError
from sfumato.reading.csv_format import CsvFormat, find_open_quote, find_ragged
from sfumato.reading.csv_numbers import with_points

if TYPE_CHECKING:
    import pyarrow as pa


#: What stands for "no answer" in a text, unless its domain has such a value.
NULL_WORDS = ["", "NA", "null", "NULL"]


def csv_batches(
    path: Path, text: CsvFormat, columns: list[str] | None, types: Mapping[str, Any], as_text: bool
) -> Iterator[pa.RecordBatch]:
    """The file in batches, only the named columns; a broken line is named by its number."""
    import pyarrow as pa

    end = None
    try:
        with _open(path, text, types) as reader:
            for batch in reader:
                end = batch.column(batch.num_columns - 1)[-1].as_py() if batch.num_rows else end
                batch = batch if columns is None else batch.select(columns)
                yield _plain_values(batch, text) if as_text else batch
    except pa.ArrowInvalid as problem:
        if "UTF8" in str(problem):
            mend = "say --encoding cp1252, or whatever it is"
            raise SchemaError(f"{path}: is not written in {text.encoding} throughout: {mend}") from None
        line = find_ragged(path, text) if "columns, got" in str(problem) else None
        if line is None:
            raise
        raise SchemaError(f"{path}: {line}: mend the line, or say --delimiter") from None
    if isinstance(end, str) and "\n" in end.replace("\r", "\n") and (line := find_open_quote(path, text)):
        raise SchemaError(f"{path}: {line}: the lines below it would be read as one field")


def _plain_values(batch: pa.RecordBatch, text: CsvFormat) -> pa.RecordBatch:
    """The text of a batch without blanks around it, and with numbers written as programs do."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not text.trim and text.decimal == "." and text.thousands is None:
        return batch
    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        plain = pc.utf8_trim_whitespace(column) if text.trim else column
        columns.append(plain if name in text.words else with_points(plain, text.decimal, text.thousands))
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _open(path: Path, text: CsvFormat, types: Mapping[str, Any]) -> Any:
    from pyarrow import csv

    block = 1 << (22 if path.name.lower().endswith(".gz") else 24)  # a small file may unpack to very many tiny fields
    return csv.open_csv(
        str(path),
        read_options=csv.ReadOptions(
            block_size=block, column_names=list(text.names), skip_rows=text.skip, encoding=text.encoding
        ),
        parse_options=csv.ParseOptions(delimiter=text.delimiter, newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            column_types=dict(types), null_values=NULL_WORDS, decimal_point=text.decimal
        ),
    )
