"""Resample a file of any size, a batch at a time: one pass to learn, and for the paper's kernel one to draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.errors import ReleaseError, SfumatoError
from sfumato.input_checks import check_flags, check_progress
from sfumato.owner.resample.calibrate import refuse_or_warn
from sfumato.owner.resample.description import describe, proportions
from sfumato.owner.resample.plan import Piece, Plan, learn
from sfumato.owner.resample.reading import Reading
from sfumato.owner.resample.request import Request
from sfumato.randomness import Rng, source
from sfumato.reading import tables
from sfumato.writing.described_file import DescribedFile

if TYPE_CHECKING:
    import pyarrow as pa


def resample_file(
    table: Any,
    target: str | Path,
    y: str | None = None,
    *,
    site_column: str | None = None,
    drop: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    per_class: bool = True,
    bandwidth: str | float = "scott",
    shrink: bool = False,
    max_risk: float | None = None,
    max_outlier_risk: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    ranges: Any = None,
    rng: Rng = None,
    strict: bool = False,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
) -> dict[str, Any]:
    """Resample a table of any size into a Parquet or CSV file; return its description.

    The law is that of ``resample``, per site and class. The paper's kernel draws as many rows as there are records,
    with replacement from the whole table, which it reads twice; the order within a batch is random, but which batch a
    row comes from can be told from its place in the file. With ``max_risk`` or ``epsilon`` a model is fitted to a
    random sample of each class, and rows have nothing to do with batches. ``columns`` are the only ones that are
    read, in their order, beside ``y`` and the site. ``strict`` refuses where a bound is not held.
    """
    check_flags(SfumatoError, strict=strict, overwrite=overwrite)
    check_progress(SfumatoError, progress)
    check_target(table, target, overwrite)
    src = source(rng)
    request = Request.check(bandwidth, shrink, per_class, max_risk, max_outlier_risk, epsilon, delta, ranges)
    request.warn_of_seed(rng)
    reading = Reading(table, y, site_column, drop, columns)
    learned = learn(reading, request, src, named=site_column is not None)
    rows = request.quotas({key: one.n for key, one in learned.items()}, None)
    plan = Plan.make(request, learned, rows, reading.names, src)
    for place, one in plan.risk.items():
        if not one.held:
            refuse_or_warn(place if site_column else None, one, strict)
    about = describe(plan, proportions(plan.rows, site_column is not None), reading.names, y)
    with DescribedFile(target, overwrite) as file:
        for piece in plan.pieces(reading, src):
            if len(piece.X):
                file.append(_table(piece, reading))
            if progress is not None:
                progress(len(piece.X))
        file.describe(about)
    return about


def check_target(table: Any, target: str | Path, overwrite: bool) -> None:
    """Refuse, before anything is read, a target that is there or that is the raw table itself."""
    path = Path(target)
    if tables.is_path(table) and path.resolve() == Path(table).resolve():
        raise ReleaseError(f"{path} is the raw table itself: choose another name for the release")
    if path.exists() and not overwrite:
        raise ReleaseError(f"{path} already exists; choose another name or allow overwriting")


def _table(piece: Piece, reading: Reading) -> pa.Table:
    import pyarrow as pa

    out = pa.table({name: piece.X[:, i] for i, name in enumerate(reading.names)})
    if piece.y is not None:
        out = out.append_column(reading.y, pa.array(piece.y.tolist(), reading.kinds.get(reading.y)))
    if reading.site_column is not None:
        kind = reading.kinds.get(reading.site_column)
        out = out.append_column(reading.site_column, pa.array(np.full(len(piece.X), piece.key[0]).tolist(), kind))
    return out
