"""Writing a release batch by batch, so that a table larger than memory can pass: whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.errors import ReleaseError
from sfumato.scheme import Scheme
from sfumato.writing.described_file import DescribedFile

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 2


class Writer(DescribedFile):
    """Writes Parquet that carries its schemes, or CSV with the schemes in a JSON file beside it."""

    def __init__(
        self,
        path: str | Path,
        schemes: Sequence[Scheme],
        id: str | None,
        overwrite: bool = False,
        links: Sequence[str | None] | None = None,
        order: str | None = None,
        raw: Sequence[bool] | None = None,
    ) -> None:
        super().__init__(path, overwrite)
        self._schemes = list(schemes)
        self._id = id
        self._links = [None] * len(self._schemes) if links is None else list(links)
        self._order, self._raw = order, [False] * len(self._schemes) if raw is None else list(raw)
        self._rows = [0] * len(self._schemes)
        self._kinds = common_types(self._schemes)

    def write(self, batch: pa.RecordBatch, part: int = 0) -> None:
        """Append rows that were made under the scheme of this part."""
        import pyarrow as pa

        names = [*self._kinds, *([self._id] if self._id is not None else [])]
        held = set(batch.schema.names)
        columns = {  # a question that was not asked has no answers
            name: batch.column(name) if name in held else pa.nulls(batch.num_rows, self._kinds[name]) for name in names
        }
        batch = pa.RecordBatch.from_pydict(columns)
        if self._sink is None:
            kinds = {**self._kinds, **({self._id: _plain_type(batch, self._id)} if self._id is not None else {})}
            self._schema = pa.schema([pa.field(name, kinds[name]) for name in names])
        self.append(batch)
        self._rows[part] += batch.num_rows

    def _packing(self) -> dict[str, Any]:
        # Pseudonyms are random: no dictionary, no compression and no statistics finds anything in them but time.
        packed = dict.fromkeys(self._kinds, "zstd")
        if self._id is not None and None not in self._links:
            packed[self._id] = "none"
        return {"compression": packed, "use_dictionary": list(self._kinds)}

    def _finish(self) -> None:
        parts = [
            {"rows": n, "link": link, "scheme": scheme.to_dict(), **({"raw": True} if raw else {})}
            for n, link, scheme, raw in zip(self._rows, self._links, self._schemes, self._raw, strict=True)
        ]
        self.describe(release_document(parts, self._id, self._links, self._order))
        super()._finish()


def release_document(
    parts: Sequence[Mapping[str, Any]], id: str | None, links: Sequence[str | None], order: str | None
) -> dict[str, Any]:
    """What a release says of itself, in a file as in a folder."""
    return {
        "format": "sfumato release",
        "version": VERSION,
        "id": None if id is None else {"name": id, "kind": id_kind(links)},
        "order": order,
        "parts": list(parts),
    }


def id_kind(links: Sequence[str | None]) -> str:
    """Whether the ids of a release are pseudonyms in all its parts, or ids in the clear in some."""
    return "clear" if None in links else "pseudonym"


def code_types(scheme: Scheme) -> dict[str, Any]:
    """The Arrow type of each released column: the smallest integers that hold its codes, doubles under noise."""
    import pyarrow as pa

    sizes = scheme.output_sizes
    codes = {name: pa.from_numpy_dtype(np.min_scalar_type(max(size - 1, 0))) for name, size in sizes.items()}
    return codes | {name: pa.float64() for name in scheme.noises}


def no_rows(kinds: Mapping[str, Any]) -> pa.Table:
    """A table of these columns, with their Arrow types, that holds nothing."""
    import pyarrow as pa

    return pa.schema(list(kinds.items())).empty_table()


def check_codes(column: str, codes: Any, size: int) -> None:
    """Raise unless every entry of a released column is one of the codes 0 .. size - 1."""
    if codes.dtype.kind not in "iu":
        raise ReleaseError(f"column {column!r} of the release must hold codes without gaps, got {codes.dtype}")
    if codes.size and (int(codes.min()) < 0 or int(codes.max()) >= size):
        worst = int(codes.min()) if int(codes.min()) < 0 else int(codes.max())
        raise ReleaseError(
            f"column {column!r} of the release holds {worst}, outside the codes 0 .. {size - 1} of its scheme"
        )


def _plain_type(batch: pa.RecordBatch, name: str) -> Any:
    """The type of a column's values: a dictionary, which would list values of other rows, is not written."""
    import pyarrow as pa

    kind = batch.schema.field(name).type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def common_types(schemes: Sequence[Scheme]) -> dict[str, Any]:
    """The widest type that any part needs, for each column of any part."""
    kinds: dict[str, Any] = {}
    for scheme in schemes:
        for name, kind in code_types(scheme).items():
            kinds[name] = max(kinds.get(name, kind), kind, key=lambda t: t.bit_width)
    return kinds
