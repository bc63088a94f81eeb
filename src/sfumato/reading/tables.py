"""Whatever table the user has, as a stream of Arrow batches.

A path to CSV or Parquet, a CsvFile that says more about its format, a pyarrow, pandas or polars table, a DuckDB
relation, a Spark or Dask frame, or a mapping of columns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import SchemaError, showing_values
from sfumato.reading.csv_format import CsvFile, CsvFormat, detect
from sfumato.reading.csv_reader import csv_batches
from sfumato.reading.file_stamp import stamp
from sfumato.reading.parquet_file import open_parquet, parquet_rows, parquet_schema
from sfumato.reading.parquet_folder import (
    PARQUET,
    check_alike,
    folder_names,
    folder_rows,
    named_values,
    with_named_values,
)
from sfumato.reading.positions import placed
from sfumato.reading.problems import described, without_values
from sfumato.reading.spark_rows import spark_batches
from sfumato.reading.spark_session import is_spark

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows in a batch: large enough to be fast, small enough that memory stays flat.
BATCH = 1 << 19

#: For ``types``: leave every column of a CSV file as the text it is.
AS_TEXT = "text"

CSV = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
#: The kind of a folder of Parquet files.
FOLDER = "folder"


def is_path(table: Any) -> bool:
    return isinstance(table, str | Path | CsvFile)


def suffix(path: str | Path | CsvFile) -> str:
    """The ending that tells the file type: one of CSV or PARQUET, FOLDER of a folder, else a clear error."""
    name = Path(path).name.lower()
    if Path(path).is_dir():
        return FOLDER
    for ending in (*CSV, *PARQUET):
        if name.endswith(ending):
            return ending
    raise SchemaError(f"{name}: the name must end in one of {', '.join((*PARQUET, *CSV))}")


def batches(
    table: Any,
    columns: Sequence[str] | None = None,
    types: Mapping[str, Any] | str | None = None,
    most: int = BATCH,
) -> Iterator[pa.RecordBatch]:
    """The table in Arrow batches, only the named columns; of Parquet at most so many rows at a time.

    ``types`` tells a CSV reader what its columns are; by default it guesses, with AS_TEXT it does not.
    """
    import pyarrow as pa

    wanted = None if columns is None else list(columns)
    if is_path(table):
        yield from _file_batches(table, wanted, types, most)
        return
    _check_columns(column_names(table), wanted)
    with without_values("the table cannot be read"):
        if isinstance(table, pa.RecordBatchReader):
            for batch in table:
                yield batch if wanted is None else batch.select(wanted)
        elif type(table).__module__.startswith("dask"):
            for partition in (table if wanted is None else table[wanted]).to_delayed():
                yield from _arrow(partition.compute()).to_batches(max_chunksize=BATCH)
        elif is_spark(table):
            yield from spark_batches(table, column_names(table) if wanted is None else wanted)
        elif type(table).__module__.startswith(("duckdb", "_duckdb")):
            for batch in table.to_arrow_reader(BATCH):
                yield batch if wanted is None else batch.select(wanted)
        else:
            yield from _even_batches(_arrow(table, wanted))


def _even_batches(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """The same batches of the same rows, whatever chunks a reader left them in: draws under a seed follow them."""
    for start in range(0, table.num_rows, BATCH):
        yield from table.slice(start, BATCH).combine_chunks().to_batches()


def column_names(table: Any) -> list[str]:
    """The names of the columns, without reading rows."""
    import pyarrow as pa

    if is_path(table):
        return _file_names(table)[0]
    if isinstance(table, Mapping):
        return [str(name) for name in table]
    if isinstance(table, pa.RecordBatchReader | pa.Table | pa.RecordBatch):
        return list(table.schema.names)
    return list(_narwhals(table).collect_schema().names())


def count_rows(table: Any) -> int | None:
    """The number of rows where it is known without reading them."""
    import pyarrow as pa

    if is_path(table):
        kind = suffix(table)
        return None if kind in CSV else (folder_rows if kind == FOLDER else parquet_rows)(Path(table))
    if isinstance(table, pa.Table | pa.RecordBatch):
        return int(table.num_rows)
    try:
        return len(table)
    except TypeError:
        return None


def counted_rows(table: Any) -> int | None:
    """The number of rows as the table's own engine counts them; None for a file of text, which has none."""
    if is_path(table):
        return None
    import narwhals as nw

    with without_values("the rows cannot be counted"):
        counted = _narwhals(table).lazy().select(nw.len().alias("rows")).collect(backend="pyarrow").to_native()
    return int(counted.column("rows")[0].as_py())


def _narwhals(table: Any) -> Any:
    import narwhals as nw

    try:
        return nw.from_native(table)
    except TypeError:
        raise SchemaError(
            f"a table must be a path, or a pandas, polars, pyarrow, DuckDB, Spark or Dask table, "
            f"got {type(table).__name__} instead"
        ) from None


def _column(name: str, values: Any) -> Any:
    """The values of a column that is given by itself."""
    import pyarrow as pa

    try:
        return values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)
    except OverflowError:
        raise SchemaError(
            f"column {name!r} holds whole numbers beyond 64 bits: give them as text, or as numbers with a point"
        ) from None


def _arrow(table: Any, columns: list[str] | None = None) -> pa.Table:
    """The whole table in memory as Arrow."""
    import narwhals as nw
    import pyarrow as pa

    if isinstance(table, Mapping):
        with without_values("the columns do not make a table"):
            table = pa.table({name: _column(name, values) for name, values in table.items()})
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    if isinstance(table, pa.Table):
        return table if columns is None else table.select(columns)
    frame = _narwhals(table)
    wanted = list(frame.collect_schema().names()) if columns is None else columns
    with without_values("the table cannot be read"):
        frame = nw.from_native(placed(table, wanted)) if wanted else frame.select()
        found = frame.collect(backend="pyarrow").to_native() if isinstance(frame, nw.LazyFrame) else frame.to_arrow()
    return found.select(range(len(wanted))).rename_columns(wanted) if wanted else found  # pandas adds its index


def _check_columns(present: list[str], wanted: list[str] | None, twice: Sequence[str] = ()) -> None:
    times = Counter(present)
    several = [name for name in wanted or [] if name in twice or times[name] > 1]
    if several:
        named = [name for name in present if re.fullmatch(re.escape(several[0]) + r"_\d+", name)]
        mend = f"ask for {' or '.join(named)}" if named else "rename one"
        raise SchemaError(f"the table has two columns called {several[0]!r}: {mend}")
    missing = [name for name in wanted or [] if not times[name]]
    if missing:
        raise SchemaError(f"the table has no column {missing[0]!r}; {instead(missing[0], present)}")


def check_has(table: Any, columns: Sequence[str]) -> None:
    """Raise unless the table has each of these columns once."""
    _check_columns(column_names(table), list(columns))


def instead(wanted: str, present: list[str]) -> str:
    """What the table has instead. Names are not listed unasked: without a header they are somebody's record."""
    if showing_values():
        return f"it has {', '.join(map(str, present[:20]))}"
    names = {str(name).strip().casefold(): name for name in reversed(present)}
    near = get_close_matches(wanted.strip().casefold(), names, 1, 0.75)
    if near:
        return f"it has {names[near[0]]!r}"
    others = "its only column is not" if len(present) == 1 else f"none of its {len(present)} columns is"
    return f"{others} called so: is there a header? sfumato schema FILE lists all columns"


def csv_format(table: Any) -> CsvFormat | None:
    """How a text file writes its table; None for every other table."""
    if not is_path(table) or suffix(table) not in CSV:
        return None
    if not Path(table).exists():
        raise SchemaError(f"{Path(table)}: there is no such file")
    return detect(table)


def _file_names(table: str | Path | CsvFile) -> tuple[list[str], CsvFormat | None]:
    import pyarrow as pa

    path, ending = Path(table), suffix(table)
    if isinstance(table, CsvFile) and ending not in CSV:
        raise SchemaError(f"{path}: delimiter, decimal, encoding, header and skip are for text files; this is none")
    if not path.exists():
        raise SchemaError(f"{path}: there is no such file")
    if ending == FOLDER:
        return folder_names(path), None
    try:
        if ending in CSV:
            found = detect(table)
            return list(found.names), found
        return list(parquet_schema(path).names), None
    except (pa.ArrowException, ValueError, OSError) as problem:
        if isinstance(problem, SchemaError):
            raise
        raise SchemaError(f"{path}: cannot be read: {described(problem)}") from None


def _file_batches(
    table: str | Path | CsvFile, columns: list[str] | None, types: Mapping[str, Any] | str | None, most: int
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    path = Path(table)
    if suffix(table) == FOLDER:
        yield from _folder_batches(path, columns, most)
        return
    before, rows = stamp(path), 0
    names, text = _file_names(table)
    _check_columns(names, columns, text.twice if text else ())
    try:
        if text is not None:
            known = {name: pa.string() for name in text.names} if types == AS_TEXT else types
            yield from csv_batches(path, text, columns, known if isinstance(known, Mapping) else {}, types == AS_TEXT)
        else:
            with open_parquet(path, columns) as file:
                for some in _row_groups(file.metadata):  # one iterator over all would keep what it has read
                    for batch in file.iter_batches(batch_size=most, row_groups=some, columns=columns):
                        rows += batch.num_rows
                        yield batch
                if rows != file.metadata.num_rows and columns != []:
                    raise SchemaError(f"{path}: {rows} of {file.metadata.num_rows} rows could be read; it is cut short")
    except (pa.ArrowException, ValueError, OSError) as problem:
        if isinstance(problem, SchemaError):
            raise
        raise SchemaError(f"{path}: cannot be read: {described(problem)}") from None
    if stamp(path) != before:
        raise SchemaError(
            f"{path}: the file changed while it was read; wait until it is complete, or read a copy of it"
        )


def _folder_batches(folder: Path, columns: list[str] | None, most: int) -> Iterator[pa.RecordBatch]:
    """File after file; one that cannot be read is named."""
    wanted = folder_names(folder) if columns is None else columns
    _check_columns(folder_names(folder), wanted)
    for file in check_alike(folder, wanted):
        named = named_values(folder, file)
        own = [name for name in wanted if name not in named]
        for batch in _file_batches(file, own, None, most):
            yield with_named_values(batch, wanted, named)


def _row_groups(metadata: Any) -> Iterator[list[int]]:
    """Neighbouring row groups that make a batch together."""
    some, rows = [], 0
    for group in range(metadata.num_row_groups):
        some.append(group)
        rows += metadata.row_group(group).num_rows
        if rows >= BATCH:
            yield some
            some, rows = [], 0
    if some:
        yield some
