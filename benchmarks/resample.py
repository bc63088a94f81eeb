"""Resampling against numpy drawing as many normals, which is not secure and resamples nothing yet."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.owner.resample import resample, resample_file

from .harness import Case, benchmark

ROWS, COLUMNS = 10_000_000, 8


@benchmark
def rows() -> Iterator[Case]:
    """Ten million rows of eight columns in memory, per class and as a whole."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((ROWS, COLUMNS)), rng.integers(0, 2, ROWS)
    for name, labels in (("two classes", y), ("one density", None)):
        yield Case(
            f"10M rows of 8 columns, {name}",
            ours=lambda labels=labels: resample(X, labels),
            reference=lambda: rng.standard_normal((ROWS, COLUMNS)),
            against="numpy's normals",
            goal=4,
            repeat=3,
        )


@benchmark
def files() -> Iterator[Case]:
    """A Parquet file, batch by batch, by both ways: memory must stay flat."""
    folder = tempfile.TemporaryDirectory(prefix="sfumato-bench-")
    source, target = Path(folder.name) / "raw.parquet", Path(folder.name) / "out.parquet"
    rng = np.random.default_rng(0)
    with pq.ParquetWriter(str(source), _batch(rng).schema) as writer:
        for _ in range(10):
            writer.write_table(_batch(rng))
    for name, options, goal in (("the paper's kernel", {}, 6.0), ("a blurred model", {"max_risk": 0.55}, 12.0)):
        yield Case(
            f"Parquet of 5M rows, 8 columns, {name}",
            ours=lambda options=options: resample_file(source, target, "y", overwrite=True, **options),
            reference=lambda: _copy(source, target),
            against="reading and writing it",
            goal=goal,
            repeat=1,
            peak_goal=1500,
        )
    folder.cleanup()


def _batch(rng: np.random.Generator) -> pa.Table:
    n = 500_000
    y = rng.integers(0, 2, n)
    return pa.table({**{f"x{i}": rng.normal(y, 1) for i in range(COLUMNS)}, "y": y})


def _copy(source: Path, target: Path) -> None:
    with (
        pq.ParquetFile(str(source)) as file,
        pq.ParquetWriter(str(target), file.schema_arrow, compression="zstd") as out,
    ):
        for batch in file.iter_batches(batch_size=1 << 19):
            out.write_batch(batch)
