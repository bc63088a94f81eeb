"""All rows of a study as one file: a release, in random order and without ids, or the resampled rows of all sites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Engine, select

from sfumato.domains.base import Domain
from sfumato.domains.numeric import Numeric
from sfumato.randomness import SecureSource, permutation
from sfumato.reading.tables import batches
from sfumato.release import Release
from sfumato.released.part import Part
from sfumato.released.writer import code_types
from sfumato.schema import Schema
from sfumato.scheme import Scheme
from sfumato.service.layout import Layout
from sfumato.service.parties import complete
from sfumato.service.refusals import RefusalError
from sfumato.service.storage import tables
from sfumato.service.study import Study
from sfumato.service.uploads import Uploads

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 100_000


def export(path: Path, engine: Engine, study: Study, uploads: Uploads) -> None:
    """Write every row that the study holds; columns that wait for those of other parties are left out."""
    taken = uploads.accepted(study.id)
    if study.scheme is None:
        _resampled(path, [uploads.files.taken(one) for one in taken], study.schema)
        return
    parts = [_responses(engine, study.id, form, layout) for form, layout in enumerate(study.forms)]
    for one in taken:
        if one.about is not None and one.about["attributes"] is None and not one.about["counted"]:
            parts += [_without_ids(part) for part in Release.load(uploads.files.taken(one)).parts]
    for held in uploads.by_link(study.id).values():
        joined = complete(study, held)
        parts += [] if joined is None else [joined]
    kept = [part for part in parts if len(part)]
    if not kept:
        raise RefusalError("not_possible", "only tables of counts were pushed: there are no rows to download")
    Release.of(_mixed(kept)).save(path, overwrite=True)


def _responses(engine: Engine, study: str, form: int, layout: Layout) -> Part:
    """The responses to one form."""
    import pyarrow as pa

    r = tables.responses.c
    asked = select(r.codes).where(r.study == study, r.form == form, r.codes.is_not(None))
    found: list[dict[str, Any]] = []
    with engine.connect() as connection:
        rows = connection.execute(asked.execution_options(stream_results=True)).scalars()
        found.extend(layout.unpack(map(bytes, some)) for some in rows.partitions(_ROWS))
    whole = {name: _together([some[name] for some in found], layout, name) for name in layout.columns}
    return Part(pa.table(whole), layout.scheme)


def _mixed(parts: Sequence[Part]) -> list[Part]:
    """All rows of one scheme in a random order, which says nothing of when they came, who sent them, or their ids.

    Those of a site stand in the order of their pseudonyms, which whoever holds the link key can compute, or in one that
    the site kept.
    """
    import pyarrow as pa

    by_scheme: dict[Scheme, list[pa.Table]] = {}
    for part in parts:
        by_scheme.setdefault(part.scheme, []).append(part.arrow())
    out = []
    for scheme, tables_ in by_scheme.items():
        whole = pa.concat_tables(tables_, promote_options="permissive")
        out.append(Part(whole.take(permutation(SecureSource(), whole.num_rows)), scheme, order="shuffled"))
    return out


def _together(columns: Sequence[Any], layout: Layout, name: str) -> Any:
    empty = np.zeros(0, dtype=layout.dtype[layout.columns.index(name)])
    return np.concatenate([empty, *columns])


def _without_ids(part: Part) -> Part:
    return replace(part, id=None, link=None)


def _resampled(path: Path, files: Sequence[Path], schema: Schema) -> None:
    """The rows of all sites in a random order, which does not say whose they are."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = (batch for file in files for batch in batches(file, most=_ROWS))
    whole = pa.concat_tables(_as_schema_says(batch, schema) for batch in found)
    pq.write_table(whole.take(permutation(SecureSource(), whole.num_rows)), str(path), compression="zstd")


def _as_schema_says(rows: pa.RecordBatch, schema: Schema) -> pa.Table:
    """Numbers as doubles, other values by the names that the schema has for them, whatever types a site has chosen."""
    import pyarrow as pa

    def column(name: str) -> pa.Array:
        domain, given = schema[name], rows.column(name)
        if isinstance(domain, Numeric):
            return pa.array(domain.unrounded(given, name), from_pandas=True)
        return domain.decode(domain.encode(given, name))

    return pa.table({name: column(name) for name in schema.names})


def row_bytes(study: Study) -> int:
    """The memory that a row takes at most while it is written."""
    if study.scheme is not None:
        return max(sum(int(kind.bit_width) // 8 for kind in code_types(form.scheme).values()) for form in study.forms)
    return sum(_value_bytes(domain) for domain in study.schema.values())


def _value_bytes(domain: Domain) -> int:
    if isinstance(domain, Numeric):
        return 8
    longest = max(len(str(one)) for one in domain.labels) if domain.listed else int(domain.code_type.itemsize)
    return 4 * (1 + longest)  # a place, and letters of up to four bytes
