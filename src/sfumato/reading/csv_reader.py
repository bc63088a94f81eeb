"""Text files as a stream of Arrow batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import SchemaError
from sfumato.reading.csv_broken_line import find_open_quote, find_ragged
from sfumato.reading.csv_format import CsvFormat
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
        respelt = [] if as_text else _respelt(text, columns, types)
        with _open(path, text, {**types, **dict.fromkeys(respelt, pa.string())}) as reader:
            for batch in _with_numbers(reader, path, text, respelt, types) if respelt else reader:
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
        raise SchemaError(f"{path}: {line}") from None
    if isinstance(end, str) and "\n" in end.replace("\r", "\n") and (line := find_open_quote(path, text)):
        raise SchemaError(f"{path}: {line}: the lines below it would be read as one field")


def _plain_values(batch: pa.RecordBatch, text: CsvFormat) -> pa.RecordBatch:
    """The text of a batch without blanks around it, and with numbers written as programs do."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        plain = pc.utf8_trim_whitespace(column) if text.trim else column
        columns.append(plain if name in text.words else with_points(plain, text.decimal, text.thousands))
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _respelt(text: CsvFormat, columns: list[str] | None, types: Mapping[str, Any]) -> list[str]:
    """The columns whose numbers Arrow does not read by itself, and that nobody asked for as something else."""
    import pyarrow as pa

    wanted = text.respelt if columns is None else text.respelt & {*columns}
    return [name for name in wanted if name not in types or pa.types.is_floating(types[name])]


def _with_numbers(
    reader: Iterable[pa.RecordBatch], path: Path, text: CsvFormat, names: list[str], types: Mapping[str, Any]
) -> Iterator[pa.RecordBatch]:
    """Batches with these columns as numbers; one that was not asked for, and holds words from the start, keeps them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    left = list(names)
    for place, batch in enumerate(reader):
        for name in list(left):
            plain = with_points(pc.utf8_trim_whitespace(batch.column(name)), text.decimal, text.thousands)
            held = pc.if_else(pc.is_in(plain, value_set=pa.array(NULL_WORDS)), pa.scalar(None, pa.string()), plain)
            try:
                numbers = held.cast(pa.float64())
            except pa.ArrowInvalid:
                if place or name in types:
                    raise SchemaError(f"{path}: cannot be read: column {name!r}: a field is no number") from None
                left.remove(name)
                continue
            batch = batch.set_column(batch.schema.get_field_index(name), name, numbers)
        yield batch


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
