"""A table of any size, batch by batch and as often as needed, each batch taken in and cut into its groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato import tables
from sfumato.errors import SchemaError
from sfumato.owner.resample.intake import Intake, take_in
from sfumato.owner.resample.kernel import Index

#: The site and the class of a group; None where there is one site, or where classes are pooled.
Key = tuple[Any, Any]


@dataclass(frozen=True)
class Reading:
    """Which table is read, and what its columns are for."""

    table: Any
    y: str | None
    extra: Sequence[str]
    site_column: str | None
    drop: Sequence[str]
    per_class: bool

    def intakes(self) -> Iterator[tuple[Intake, Any]]:
        """Every batch, with the site of each row."""
        import pyarrow as pa

        if isinstance(self.table, pa.RecordBatchReader):
            raise SchemaError("the table is read twice, but a stream of batches can be read only once: give a file")
        present = tables.column_names(self.table)
        missing = [name for name in self.drop if name not in present]
        if missing:
            raise SchemaError(f"drop names a column that is not there: {tables.instead(missing[0], present)}")
        wanted = [name for name in present if name not in self.drop] if self.drop else None
        for batch in tables.batches(self.table, wanted, self._types(present)):
            if batch.num_rows:
                whole = pa.Table.from_batches([batch])
                data = take_in(whole, self.y, list(self.extra))
                yield data, np.asarray(whole.column(self.site_column)) if self.site_column else None

    def _types(self, present: list[str]) -> dict[str, Any] | None:
        """Numbers in a CSV file are read as such even if its first part holds only whole ones."""
        import pyarrow as pa

        if not (tables.is_path(self.table) and tables.suffix(self.table) in tables.CSV):
            return None
        first = next(tables.batches(self.table), None)
        others = {self.y, *self.extra}
        fields = [] if first is None else [first.schema.field(name) for name in present if name not in others]
        return {field.name: pa.float64() for field in fields if pa.types.is_integer(field.type)}

    def keys(self, data: Intake, site: Any) -> Iterator[tuple[Key, Index]]:
        """The groups of a batch and their rows."""
        places = np.unique(site).tolist() if site is not None else [None]
        labels = np.unique(data.y).tolist() if data.y is not None and self.per_class else [None]
        for place in places:
            here = np.ones(len(data.X), dtype=bool) if place is None else site == place
            for label in labels:
                rows = np.flatnonzero(here if label is None else here & (data.y == label))
                if len(rows):
                    yield (place, label), rows
