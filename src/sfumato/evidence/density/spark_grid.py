"""The fine histogram of a column that lies in Spark: counted where the values are, only whole numbers come here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sfumato.errors import EstimationError
from sfumato.evidence.density.grid import EXACT, Grid, bulk, lattice, some_of
from sfumato.reading import tables
from sfumato.reading.positions import spark_places
from sfumato.reading.spark_session import in_one_line
from sfumato.reading.spark_workers import map_batches

if TYPE_CHECKING:
    import pyarrow as pa


class FineCounts(NamedTuple):
    """How many values there are, their histogram, and the spacing where they lie on a lattice."""

    n: int
    grid: Grid
    step: float


def not_finite(cells: int, column: str | None) -> EstimationError:
    """What is said of cells that hold no number."""
    where = "z" if column is None else f"column {column!r}"
    many = f"{cells:,} cell{'s' * (cells != 1)}"
    return EstimationError(f"{where}: {many} empty, NaN or infinite: leave these rows out, or fill them in, first")


def spark_grid(frame: Any, column: str) -> FineCounts | None:
    """Two jobs: where the values lie, then how many lie in each cell. None where they are few, and each is kept."""
    from pyspark.sql import functions as f

    tables.check_has(frame, [column])
    with in_one_line():
        z = spark_places(frame, [column]).toDF("z")
        numbers = z.select(f.col("z").cast("double").alias("z"))
        bad = f.sum((f.col("z").isNull() | f.isnan("z") | f.abs("z").eqNullSafe(float("inf"))).cast("bigint"))
        ends = f.percentile_approx("z", [0.005, 0.995], 10_000)
        told = numbers.agg(f.count(f.lit(1)), bad, f.min("z"), f.max("z"), ends).first()
    n, wrong, low, high, reached = told
    if n <= EXACT:
        return None
    if wrong:
        raise not_finite(wrong, column)
    place = bulk(np.array(reached, dtype=np.float64), low, high)
    with in_one_line():
        counted = map_batches(
            numbers, count_cells_of_partition, (low, high, place), "cell bigint, n bigint, step double"
        )
        found = counted.groupBy("cell").agg(f.sum("n"), f.min("step"), f.max("step")).toArrow()
    cell, count, least, most = (found.column(i).to_numpy(zero_copy_only=False) for i in range(4))
    grid = Grid(np.array([low, high]), place)
    held = cell >= 0
    grid.counts[cell[held]] = count[held]
    step = float(least[~held][0]) if (~held).any() and least[~held][0] == most[~held][0] else 0.0
    return FineCounts(int(n), grid, step)


def count_cells_of_partition(
    low: float, high: float, place: tuple[float, float], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """On a worker: the cells that hold values of a partition; in cell -1 the spacing of its first values."""
    import pyarrow as pa

    grid, first = Grid(np.array([low, high]), place), None
    for batch in batches:
        if batch.num_rows:
            values = batch.column(0).to_numpy(zero_copy_only=False)
            first = some_of(values).copy() if first is None else first
            grid.add(values)
    if first is None:
        return
    at = np.flatnonzero(grid.counts)
    yield pa.RecordBatch.from_pydict(
        {
            "cell": np.append(at, -1).astype(np.int64),
            "n": np.append(grid.counts[at], 0).astype(np.int64),
            "step": np.append(np.zeros(len(at)), lattice(np.sort(first))),
        }
    )
