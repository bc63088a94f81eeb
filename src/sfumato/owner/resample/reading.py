"""A table of any size, batch by batch and as often as needed, each batch taken in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfumato.arrays import Labels
from sfumato.errors import SchemaError
from sfumato.owner.resample.intake import Intake, take_in
from sfumato.reading import tables
from sfumato.writing.description import check_raw


@dataclass
class Reading:
    """Which table is read, and what its columns are for; iterating gives every batch, with the site of each row.

    ``names`` are the numeric columns and ``kinds`` the types of label and site, known once the table has been read.
    """

    table: Any
    y: str | None
    site_column: str | None
    drop: Sequence[str]
    columns: Sequence[str] | None = None  # only these, in their order, and the label and the site
    names: tuple[str, ...] = ()
    kinds: dict[str | None, Any] = field(default_factory=dict)

    def __iter__(self) -> Iterator[tuple[Intake, Labels]]:
        import pyarrow as pa

        if isinstance(self.table, pa.RecordBatchReader):
            raise SchemaError("the table is read twice, but a stream of batches can be read only once: give a file")
        check_raw(self.table)
        present = tables.column_names(self.table)
        for option, given in (("drop", self.drop), ("columns", self.columns or ())):
            missing = [name for name in given if name not in present]
            if missing:
                raise SchemaError(f"{option} names a column that is not there: {tables.instead(missing[0], present)}")
        wanted = None
        if self.columns is not None or self.drop:
            known = [name for name in (self.y, self.site_column) if name is not None]
            asked = present if self.columns is None else dict.fromkeys([*self.columns, *known])
            wanted = [name for name in asked if name not in self.drop]
        for batch in tables.batches(self.table, wanted, self._types(present)):
            if batch.num_rows:
                whole = pa.Table.from_batches([batch])
                data = take_in(whole, self.y, self.site_column)
                self.names = data.names
                for name in (self.y, self.site_column):
                    if name is not None:
                        kind = whole.schema.field(name).type
                        self.kinds[name] = kind.value_type if pa.types.is_dictionary(kind) else kind
                yield data, np.broadcast_to(np.int64(0), len(data.X)) if data.site is None else data.site

    def _types(self, present: list[str]) -> dict[str, Any] | None:
        """Numbers in a CSV file are read as such even if its first part holds only whole ones."""
        import pyarrow as pa

        if not (tables.is_path(self.table) and tables.suffix(self.table) in tables.CSV):
            return None
        first = next(tables.batches(self.table), None)
        others = {self.y, self.site_column}
        fields = [] if first is None else [first.schema.field(name) for name in present if name not in others]
        return {field.name: pa.float64() for field in fields if pa.types.is_integer(field.type)}
