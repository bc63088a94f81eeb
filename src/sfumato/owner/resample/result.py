"""What a resampling gives: the sanitized rows, with the proportions that travel and the risk that was measured."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato import tables
from sfumato.errors import ReleaseError
from sfumato.files import replacing
from sfumato.owner.resample.calibrate import Risk
from sfumato.owner.resample.intake import Labels
from sfumato.owner.resample.kernel import Array, Index

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Resampled:
    """Sanitized rows X with labels y, ready for any classifier; ``table()`` and ``save`` give them with names.

    ``centres`` names the record behind each row: it is for measuring disclosure at the owner and is never written.
    ``risk`` holds, for each site, what was asked and what the games at that site achieved.
    """

    X: Array
    y: Labels | None
    site: Labels
    centres: Index
    names: tuple[str, ...]
    target: str | None
    method: str
    risk: dict[Any, Risk] = field(default_factory=dict)
    others: Any = None
    place: str = "site"

    def __len__(self) -> int:
        return len(self.X)

    def __repr__(self) -> str:
        sites = len(np.unique(self.site))
        rows = f"{len(self)} rows of {len(self.names)} columns at {sites} site{'s' if sites > 1 else ''}"
        worst = self.worst
        if worst is None:
            return f"Resampled({rows}; {self.method})"
        held = "held" if worst.held else "NOT HELD"
        return f"Resampled({rows}; {self.method}; AUC {worst.achieved:.3f} of {worst.asked:g}, {held})"

    @property
    def worst(self) -> Risk | None:
        """The site that discloses most."""
        return max(self.risk.values(), key=lambda risk: (not risk.held, risk.achieved), default=None)

    @property
    def proportions(self) -> list[dict[str, Any]]:
        """How many rows each class has at each site: this travels with the release, nothing of the density does."""
        if self.y is None:
            places, counts = np.unique(self.site, return_counts=True)
            return [{"site": plain(p), "rows": int(n)} for p, n in zip(places, counts, strict=True)]
        found = []
        for place in np.unique(self.site):
            labels, counts = np.unique(self.y[self.site == place], return_counts=True)
            found += [
                {"site": plain(place), "class": plain(label), "rows": int(n)}
                for label, n in zip(labels, counts, strict=True)
            ]
        return found

    def table(self) -> pa.Table:
        """The rows as a table, columns named as they came; the site is a column where there are several."""
        import pyarrow as pa

        columns = {name: self.X[:, i] for i, name in enumerate(self.names)}
        out = pa.table(columns)
        for name in self.others.column_names if self.others is not None else ():
            out = out.append_column(name, self.others.column(name))
        if self.y is not None:
            out = out.append_column(self.target or "y", pa.array(self.y.tolist()))
        if self.place != "site" or len(np.unique(self.site)) > 1:
            out = out.append_column(self.place, pa.array(self.site.tolist()))
        return out

    @property
    def description(self) -> dict[str, Any]:
        """What the release says of itself."""
        return describe(self.method, self.proportions, self.risk)

    def save(self, path: str | Path, overwrite: bool = False) -> Path:
        """Write Parquet that carries its description, or CSV with the description in a JSON file beside it."""
        with replacing(path, overwrite) as temporary:
            write(self.table(), Path(path), temporary, self.description)
        if tables.suffix(path) in tables.CSV:
            write_beside(Path(path), self.description)
        return Path(path)


def describe(method: str, proportions: list[dict[str, Any]], risk: dict[Any, Risk]) -> dict[str, Any]:
    """Method, proportions, and asked against achieved risk of each site."""
    return {
        "format": "sfumato resampled",
        "version": 1,
        "method": method,
        "proportions": proportions,
        "risk": [
            {
                "site": plain(place),
                "asked": one.asked,
                "achieved": round(one.achieved, 4),
                "outliers_asked": one.outliers_asked,
                "outliers": round(one.outliers, 4),
                "held": one.held,
            }
            for place, one in risk.items()
        ],
    }


def write(rows: pa.Table, path: Path, temporary: Path, description: dict[str, Any]) -> None:
    """One table into one file."""
    import pyarrow.parquet as pq
    from pyarrow import csv

    ending = tables.suffix(path)
    if ending.endswith(".gz"):
        raise ReleaseError(f"{path}: compressed CSV is read but not written; write Parquet instead")
    if ending in tables.CSV:
        options = csv.WriteOptions(delimiter="\t" if ending == ".tsv" else ",")
        csv.write_csv(rows, str(temporary), write_options=options)
        return
    metadata = {**(rows.schema.metadata or {}), b"sfumato": json.dumps(description).encode()}
    pq.write_table(rows.replace_schema_metadata(metadata), str(temporary), compression="zstd")


def write_beside(path: Path, description: dict[str, Any]) -> None:
    """The description of a CSV file."""
    with replacing(path.with_name(path.name + ".json"), True) as temporary:
        temporary.write_text(json.dumps(description, indent=1, ensure_ascii=False))


def plain(value: Any) -> Any:
    """A label or a site as JSON can say it: dates, decimals and the like as text."""
    value = value.item() if hasattr(value, "item") else value
    return value if isinstance(value, str | int | float | bool) else str(value)
