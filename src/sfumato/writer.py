"""Writing a release batch by batch, so that a table larger than memory can pass: whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sfumato import tables
from sfumato.errors import ReleaseError
from sfumato.files import replacing
from sfumato.scheme import Scheme

if TYPE_CHECKING:
    import pyarrow as pa

VERSION = 2
KEY = b"sfumato"
_HEAD = 1 << 20  # how much of a CSV file its sidecar remembers the digest of


class Writer:
    """Writes Parquet that carries its schemes, or CSV with the schemes in a JSON file beside it."""

    def __init__(
        self,
        path: str | Path,
        schemes: Sequence[Scheme],
        id: str | None,
        overwrite: bool = False,
        links: Sequence[str | None] | None = None,
        order: str | None = None,
    ) -> None:
        self.path = Path(path)
        self.csv = tables.suffix(path) in tables.CSV
        if str(path).endswith(".gz"):
            raise ReleaseError(f"{path}: compressed CSV is read but not written; write Parquet instead")
        self._schemes = list(schemes)
        self._id = id
        self._links = [None] * len(self._schemes) if links is None else list(links)
        self._order = order
        self._rows = [0] * len(self._schemes)
        self._kinds = _common_types(self._schemes)
        self._overwrite = overwrite
        self._files = ExitStack()
        self._sink: Any = None
        #: Called once the file is complete and before it takes its place.
        self.before_it_is_there: Callable[[], None] | None = None

    def __enter__(self) -> Self:
        # Entered first, left last: the data file takes its place after the sidecar, and either alone does not load.
        self._temporary = self._files.enter_context(replacing(self.path, self._overwrite))
        if self.csv:
            self._beside = self._files.enter_context(replacing(sidecar(self.path), self._overwrite))
        return self

    def write(self, batch: pa.RecordBatch, part: int = 0) -> None:
        """Append rows that were made under the scheme of this part."""
        import pyarrow as pa

        names = [*self._kinds, *([self._id] if self._id is not None else [])]
        batch = batch.select(names)
        if self._sink is None:
            kinds = {**self._kinds, **({self._id: _plain_type(batch, self._id)} if self._id is not None else {})}
            self._schema = pa.schema([pa.field(name, kinds[name]) for name in names])
            self._sink = self._open()
        self._sink.write_batch(batch.cast(self._schema) if batch.schema != self._schema else batch)
        self._rows[part] += batch.num_rows

    def _open(self) -> Any:
        import pyarrow.parquet as pq
        from pyarrow import csv

        if self.csv:
            options = csv.WriteOptions(delimiter="\t" if ".tsv" in tables.suffix(self.path) else ",")
            return csv.CSVWriter(str(self._temporary), self._schema, write_options=options)
        # Pseudonyms are random: neither a dictionary nor compression finds anything in them but time.
        codes = list(self._kinds)
        packed = dict.fromkeys(self._schema.names, "zstd")
        if self._id is not None and None not in self._links:
            packed[self._id] = "none"
        return pq.ParquetWriter(str(self._temporary), self._schema, compression=packed, use_dictionary=codes)

    def __exit__(self, kind: Any, problem: Any, trace: Any) -> bool | None:
        if kind is None:
            try:
                self._finish()
                if self.before_it_is_there is not None:
                    self.before_it_is_there()
            except BaseException as late:
                self._files.__exit__(type(late), late, late.__traceback__)
                raise
        elif self._sink is not None:
            _close_quietly(self._sink)
        return self._files.__exit__(kind, problem, trace)

    def _finish(self) -> None:
        if self._sink is None:
            raise ReleaseError(f"{self.path}: an empty table has nothing to release")
        parts = [
            {"rows": n, "link": link, "scheme": scheme.to_dict()}
            for n, link, scheme in zip(self._rows, self._links, self._schemes, strict=True)
        ]
        id = None if self._id is None else {"name": self._id, "kind": id_kind(self._links)}
        about: dict[str, Any] = {"format": "sfumato release", "version": VERSION}
        about |= {"id": id, "order": self._order, "parts": parts}
        if not self.csv:
            self._sink.add_key_value_metadata({KEY.decode(): json.dumps(about, ensure_ascii=False)})
            self._sink.close()
            return
        self._sink.close()
        text = json.dumps({**about, **content(self._temporary)}, ensure_ascii=False, indent=1)
        self._beside.write_text(text, encoding="utf-8")


def id_kind(links: Sequence[str | None]) -> str:
    """Whether the ids of a release are pseudonyms in all its parts, or ids in the clear in some."""
    return "clear" if None in links else "pseudonym"


def sidecar(path: Path) -> Path:
    """Where the scheme of a CSV release stands: release.csv has release.csv.json."""
    return path.with_name(path.name + ".json")


def content(path: Path) -> dict[str, Any]:
    """What ties a sidecar to its file: the size, and the digest of the beginning."""
    with path.open("rb") as file:
        return {"bytes": path.stat().st_size, "sha256_head": hashlib.sha256(file.read(_HEAD)).hexdigest()}


def code_types(scheme: Scheme) -> dict[str, Any]:
    """The Arrow type of each released column: the smallest integers that hold its codes, doubles under noise."""
    import pyarrow as pa

    sizes = scheme.output_sizes
    codes = {name: pa.from_numpy_dtype(np.min_scalar_type(max(size - 1, 0))) for name, size in sizes.items()}
    return codes | {name: pa.float64() for name in scheme.noises}


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


def _common_types(schemes: Sequence[Scheme]) -> dict[str, Any]:
    """The widest type that any part needs, for each column."""
    kinds = code_types(schemes[0])
    for scheme in schemes[1:]:
        others = code_types(scheme)
        if set(others) != set(kinds):
            raise ReleaseError(
                f"the parts release different columns ({', '.join(kinds)} against {', '.join(others)}); save them apart"
            )
        kinds = {name: max(kind, others[name], key=lambda t: t.bit_width) for name, kind in kinds.items()}
    return kinds


def _close_quietly(sink: Any) -> None:
    try:
        sink.close()
    except Exception:  # the first error is the one to report; this only frees the file
        return
