"""What sfumato resample tells the owner of a release: what the attack reaches, and a page on what is disclosed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Labels
from sfumato.assess.comparison import ATTACKED, BOUND, NEIGHBOURS, Row, compare
from sfumato.assess.disclosure import disclosure
from sfumato.assess.resample_page import page
from sfumato.cli import console
from sfumato.cli.forecast import foretelling
from sfumato.errors import SfumatoError, without_warnings
from sfumato.membership import SHADOWS, Risk, shadow_risk
from sfumato.owner.resample import Resampled
from sfumato.owner.resample.plan import repeat
from sfumato.printable import many
from sfumato.randomness import source as source_of
from sfumato.reading import tables
from sfumato.writing.whole_files import replacing

if TYPE_CHECKING:
    import pyarrow as pa

#: Records of a large table that its report is about.
REPORTED = 4000
#: Records on which the attack is run where no bound was asked for.
MEASURED = 1200
#: Tables with more records have no comparison of methods in their report.
COMPARED = 5000
#: Records of a class of which, after a quarter went to the test, half still make a density: two or more.
SMALLEST_CLASS = 5


def sample(source: Path, columns: Sequence[str]) -> pa.Table:
    """A random part of a large table, for its report: every record gets a tag, those with the least stay."""
    import pyarrow as pa

    rng = np.random.default_rng()
    tags = np.empty(0)
    kept: list[pa.RecordBatch] = []
    for batch in tables.batches(source, columns):
        pool = pa.Table.from_batches([*kept, batch])
        tags = np.concatenate([tags, rng.random(batch.num_rows)])
        least = np.argsort(tags)[:REPORTED]
        tags, kept = tags[least], pool.take(least).combine_chunks().to_batches()
    return pa.Table.from_batches(kept)


def measure(table: pa.Table, target: str | None, released: Resampled) -> Risk | None:
    """What the shadow attack reaches where no bound was asked for, on releases of half of some records."""
    if released.risk:
        return None
    X, y = _numbers(table, released), _labels(table, target)
    some = np.random.default_rng().permutation(len(X))[:MEASURED]
    if len(released.plan.rows) > 1 and len({place for place, _ in released.plan.rows}) > 1:
        return None  # each site released its own; the attack is run site by site
    console.note("measuring what the shadow attack reaches ...")
    console.step("measuring what the shadow attack reaches")
    rows = max(round(len(released) * len(some) / len(X) / 2), 1)
    method = repeat(released.plan.request, None, released.plan.ranges, rows)
    return shadow_risk(X[some], y[some], method, source_of(None), SHADOWS)


def _numbers(table: pa.Table, released: Resampled) -> Any:
    return np.column_stack([np.asarray(table.column(name), dtype=np.float64) for name in released.names])


def _labels(table: pa.Table, target: str | None) -> Labels:
    return np.asarray(table.column(target)) if target else np.zeros(table.num_rows, dtype=np.int64)


def write_report(
    path: Path,
    table: pa.Table,
    target: str | None,
    released: Resampled,
    measured: Risk | None,
    title: str,
    rows: Sequence[Row] = (),
) -> None:
    """The page on what is disclosed, with ``rows`` that compare methods."""
    X = _numbers(table, released)
    with replacing(path, True) as temporary:
        temporary.write_text(page(X, released, disclosure(X, released), measured, rows, title), encoding="utf-8")


def compared(table: pa.Table, target: str | None, released: Resampled) -> Sequence[Row]:
    """Methods at equal risk, where there is a target, and few records; a warning where they cannot be compared."""
    if target is None or table.num_rows > COMPARED:
        return ()
    X, y = _numbers(table, released), _labels(table, target)
    console.note(
        "comparing methods at equal risk (on the owner's own records; nothing of it is released; --no-comparison "
        "leaves it out) ..."
    )
    test = _quarter(y)
    try:
        if (~test).sum() < NEIGHBOURS or not test.any():
            raise SfumatoError(f"{len(X)} records are too few to train classifiers on and to test them")
        fewest = int(np.unique(y, return_counts=True)[1].min())
        if fewest < SMALLEST_CLASS:
            raise SfumatoError(
                f"the smallest class has {many(fewest, 'record')}; the attacks that compare them release random "
                f"halves of the records, which takes at least {SMALLEST_CLASS} of each class"
            )
        worst = released.worst
        asked, outer = (None, None) if worst is None else (worst.asked, worst.outliers_asked)
        # what a warning would say of three quarters of the records it said of all of them
        with without_warnings(), console.progress("shadow releases of other methods attacked", ATTACKED) as advance:
            told = foretelling(advance, ATTACKED, "shadow releases of other methods")
            train, held = (X[~test], y[~test]), (X[test], y[test])
            return compare(*train, *held, asked or BOUND, 2, outliers_asked=outer, progress=told)
    except SfumatoError as problem:
        console.warn(f"the report has no comparison of methods: {problem}")
        return ()


def _quarter(y: Labels) -> NDArray[np.bool_]:
    """A random quarter of the records of each class, to test on; small classes are left to training."""
    rng = np.random.default_rng()
    out = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == label))
        out[members[: len(members) // 4]] = True
    return out
