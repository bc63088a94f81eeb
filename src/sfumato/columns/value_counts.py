"""What stands in the columns of a table: the different values of each, and how often, with flat memory."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from sfumato.domains.base import is_text
from sfumato.errors import SchemaError
from sfumato.reading import tables

if TYPE_CHECKING:
    import pyarrow as pa

#: Different values that are kept of a column. Of those that come later, at most as many, spread over all of them.
MOST_KEPT = 20_000


@dataclass
class Cells:
    """The values of one column: text, numbers, booleans, dates or times, each with the rows that hold it."""

    name: str
    counts: Counter[Any] = field(default_factory=Counter)
    rows: int = 0
    blank: int = 0  # rows that hold nothing
    later: Counter[Any] = field(default_factory=Counter)  # a sample of the values that came when the first were full
    spacing: int = 1  # one in so many of those is in the sample
    running: bool = True  # whether whole numbers have gone up by one from row to row so far
    last: int | None = None
    kind: str = "text"  # text, number, boolean, date, time or the name of a type that nothing can be made of
    infinite: int = 0

    @property
    def held(self) -> int:
        """Rows that hold a value."""
        return self.rows - self.blank

    @property
    def overflowing(self) -> bool:
        return bool(self.later)

    @property
    def sampled(self) -> bool:
        """Whether there are different values beside those that are kept."""
        return self.spacing > 1

    @property
    def distinct(self) -> int:
        return len(self.counts)


def collect(table: Any, columns: Sequence[str] | None = None) -> list[Cells]:
    """One pass over the table."""
    found: dict[str, Cells] = {}
    for batch in tables.batches(table, columns, tables.AS_TEXT):
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            if not name.startswith("__index_level_"):
                _add(found.setdefault(name, Cells(name)), column)
    if not any(cells.rows for cells in found.values()):
        raise SchemaError("an empty table tells nothing about its schema: write the schema by hand")
    return list(found.values())


def _add(cells: Cells, column: pa.Array) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not pa.types.is_null(column.type):
        cells.kind = _kind(column.type)
    cells.rows += len(column)
    if cells.kind not in ("text", "number", "boolean", "date", "time"):
        return
    if cells.running:
        _follow(cells, column)
    try:
        counted = pc.value_counts(column).to_pylist()
    except (pa.ArrowNotImplementedError, OverflowError, ValueError):  # such as times beyond the year 9999
        cells.kind = str(column.type)
        return
    for entry in counted:
        value = _plain(entry["values"])
        if value is None or (isinstance(value, str) and not value):
            cells.blank += entry["counts"]
        elif isinstance(value, float) and not math.isfinite(value):
            cells.infinite += entry["counts"]
        elif value in cells.counts or cells.distinct < MOST_KEPT:
            cells.counts[value] += entry["counts"]
        else:
            _sample(cells, value, entry["counts"])


def _sample(cells: Cells, value: Any, times: int) -> None:
    """Keep one value in so many, the same ones whenever they come; the first is always kept."""
    if cells.later and value not in cells.later and _place(value) % cells.spacing:
        return
    cells.later[value] += times
    while len(cells.later) > MOST_KEPT:
        cells.spacing *= 2
        kept = {value: times for value, times in cells.later.items() if not _place(value) % cells.spacing}
        cells.later = Counter(kept) or Counter({value: times})


def _place(value: Any) -> int:
    return crc32(repr(value).encode("utf-8", "replace"))


def _kind(kind: pa.DataType) -> str:
    import pyarrow as pa

    types = pa.types
    if types.is_boolean(kind):
        return "boolean"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if is_text(kind):
        return "text"
    if types.is_date(kind) or types.is_timestamp(kind):
        return "date"
    return "time" if types.is_time(kind) else str(kind)


def _plain(value: Any) -> Any:
    """A Python value; numbers that are whole as whole numbers, NaN as nothing."""
    if isinstance(value, bool | int | date | datetime | time) or value is None:
        return value
    if isinstance(value, str):
        return value.strip()
    number = float(value)
    if math.isnan(number):
        return None
    return int(number) if number.is_integer() and abs(number) < 2**63 else number


def _follow(cells: Cells, column: pa.Array) -> None:
    """Whether the rows are numbered one after the other."""
    import pyarrow as pa

    try:
        numbers = np.asarray(column.cast(pa.int64()).to_numpy(zero_copy_only=False))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError):
        cells.running = False
        return
    if column.null_count or numbers.dtype != np.int64 or not len(numbers):
        cells.running = not len(numbers)
        return
    before = numbers[0] - 1 if cells.last is None else cells.last
    cells.running = bool((np.diff(numbers, prepend=before) == 1).all())
    cells.last = int(numbers[-1])
