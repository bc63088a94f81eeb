"""Tables of counts in place of rows: what a site shares that may share no rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import ReleaseError
from sfumato.reading.tables import BATCH
from sfumato.released.part import Part
from sfumato.scheme import Scheme

if TYPE_CHECKING:
    import pyarrow as pa

Columns = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class CountedPart(Part):
    """How many of the ``records`` hold each combination of codes; ``rows`` has a flat table for some sets of columns,
    first column slowest.
    """

    records: int = 0

    @property
    def tables(self) -> dict[Columns, NDArray[np.int64]]:
        """The tables by their released columns."""
        held: dict[Columns, NDArray[np.int64]] = self.rows
        return held

    def __len__(self) -> int:
        return self.records

    def batches(
        self, columns: Sequence[str], types: Mapping[str, Any] | None = None, most: int = BATCH
    ) -> Iterator[pa.RecordBatch]:
        raise self._no_rows()

    def _table(self, rows: int | None) -> pa.Table:
        raise self._no_rows()

    def _no_rows(self) -> ReleaseError:
        return ReleaseError(
            "these are tables of counts without rows: what looks at records one by one (rows, joins, exports, attacks, "
            "held-out records) needs the release itself"
        )

    def select(self, names: Sequence[str]) -> CountedPart:
        scheme = self._selected(names)
        kept: dict[Columns, NDArray[np.int64]] = {}
        for columns, table in self.tables.items():
            own = tuple(column for column in columns if column in scheme.columns)
            if own:
                gone = tuple(i for i, column in enumerate(columns) if column not in own)
                kept[own] = table.reshape([self.scheme.output_sizes[c] for c in columns]).sum(axis=gone).reshape(-1)
        return replace(self, rows=kept, scheme=scheme)


def merged_parts(parts: Iterable[CountedPart]) -> list[CountedPart]:
    """Parts of the same tables under the same scheme, added up."""
    out: dict[tuple[Scheme, frozenset[Columns]], CountedPart] = {}
    for part in parts:
        key = (part.scheme, frozenset(part.tables))
        if key not in out:
            out[key] = part
            continue
        held = out[key]
        sums = {columns: table + part.tables[columns] for columns, table in held.tables.items()}
        out[key] = replace(held, rows=sums, records=held.records + part.records, raw=held.raw or part.raw)
    return list(out.values())


def check_tables(part: CountedPart) -> None:
    """Raise unless the tables can all be of the same records."""
    margins: dict[str, NDArray[np.int64]] = {}
    for columns, table in part.tables.items():
        said = ", ".join(columns)
        if int(table.min(initial=0)) < 0:
            raise ReleaseError(f"the table of {said} holds a negative count")
        if sum(table.tolist()) != part.records:
            raise ReleaseError(f"the table of {said} does not count all {part.records} records")
        tensor = table.reshape([part.scheme.output_sizes[column] for column in columns])
        for place, column in enumerate(columns):
            margin = tensor.sum(axis=tuple(i for i in range(len(columns)) if i != place))
            if not np.array_equal(margins.setdefault(column, margin), margin):
                raise ReleaseError(f"the tables disagree about {column}: they are not of the same records")
