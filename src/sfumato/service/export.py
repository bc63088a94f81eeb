"""All rows of a study as one file: a release, in random order and without ids, or the resampled rows of all sites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Engine, select

from sfumato.randomness import SecureSource, permutation
from sfumato.release import Release
from sfumato.released.part import Part
from sfumato.service.layout import Layout
from sfumato.service.parties import complete
from sfumato.service.refusals import RefusalError
from sfumato.service.storage import tables
from sfumato.service.study import Study
from sfumato.service.uploads import Uploads

_ROWS = 100_000


def export(path: Path, engine: Engine, study: Study, uploads: Uploads) -> None:
    """Write every row that the study holds; columns that wait for those of other parties are left out."""
    taken = uploads.accepted(study.id)
    if study.scheme is None:
        _resampled(path, [uploads.path(one) for one in taken])
        return
    parts = [_responses(engine, study.id, form, layout) for form, layout in enumerate(study.forms)]
    for one in taken:
        if one.about is not None and one.about["attributes"] is None and not one.about["counted"]:
            parts += [_without_ids(part) for part in Release.load(uploads.path(one)).parts]
    for held in uploads.by_link(study.id).values():
        joined = complete(study, held)
        parts += [] if joined is None else [_without_ids(part) for part in joined.parts]
    kept = [part for part in parts if len(part)]
    if not kept:
        raise RefusalError("not_possible", "only tables of counts were pushed: there are no rows to download")
    Release.of(kept).save(path, overwrite=True)


def _responses(engine: Engine, study: str, form: int, layout: Layout) -> Part:
    """The responses to one form, in an order that says nothing of when they came or who sent them."""
    import pyarrow as pa

    r = tables.responses.c
    asked = select(r.codes).where(r.study == study, r.form == form, r.codes.is_not(None))
    found: list[dict[str, Any]] = []
    with engine.connect() as connection:
        rows = connection.execute(asked.execution_options(stream_results=True)).scalars()
        found.extend(layout.unpack(map(bytes, some)) for some in rows.partitions(_ROWS))
    whole = {name: _together([some[name] for some in found], layout, name) for name in layout.columns}
    order = permutation(SecureSource(), len(next(iter(whole.values()))))
    return Part(pa.table({name: column[order] for name, column in whole.items()}), layout.scheme, order="shuffled")


def _together(columns: Sequence[Any], layout: Layout, name: str) -> Any:
    empty = np.zeros(0, dtype=layout.dtype[layout.columns.index(name)])
    return np.concatenate([empty, *columns])


def _without_ids(part: Part) -> Part:
    return replace(part, id=None, link=None)


def _resampled(path: Path, files: Sequence[Path]) -> None:
    import pyarrow.parquet as pq

    kinds = pq.read_schema(str(files[0])).remove_metadata()
    with pq.ParquetWriter(str(path), kinds, compression="zstd") as sink:
        for file in files:
            with pq.ParquetFile(str(file)) as source:
                for batch in source.iter_batches(columns=kinds.names):
                    sink.write_batch(batch.cast(kinds))
