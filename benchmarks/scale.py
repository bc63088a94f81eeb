"""Past one machine: folders of Parquet against a copy by pyarrow, Spark against a mapInArrow that copies."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf
from sfumato import channels as c

from .harness import Case, benchmark

FILES, ROWS = 10, 10_000_000
SPARK_ROWS = 50_000_000
NAMES = [f"x{i}" for i in range(6)]
SCHEME = sf.Scheme(
    sf.Schema({name: sf.Categorical(tuple(range(8))) for name in NAMES}), {name: c.symmetric(8, 0.3) for name in NAMES}
)


@benchmark
def folders() -> Iterator[Case]:
    """100M rows of 6 columns in ten files, randomized and shuffled: by one process, by two."""
    with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as place:
        source, target = Path(place) / "raw", Path(place) / "released"
        source.mkdir()
        rng = np.random.default_rng(0)
        for number in range(FILES):
            table = pa.table({name: rng.integers(0, 8, ROWS, dtype=np.int8) for name in NAMES})
            pq.write_table(table, source / f"part-{number}.parquet", compression="zstd", row_group_size=1 << 20)
        for jobs, goal in ((1, 1 / 0.6), (2, 1 / 0.6)):
            yield Case(
                f"100M rows in a folder, {jobs} process{'es' * (jobs > 1)}",
                ours=lambda jobs=jobs: sf.randomize_folder(source, target, SCHEME, jobs=jobs, overwrite=True),
                reference=lambda: _copy(source, Path(place) / "copy"),
                against="pyarrow's copy",
                goal=goal,
                repeat=1,
                peak_goal=1000 if jobs == 1 else None,
            )


def _copy(source: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for path in sorted(source.iterdir()):
        with (
            pq.ParquetFile(str(path)) as file,
            pq.ParquetWriter(str(target / path.name), file.schema_arrow, compression="zstd") as out,
        ):
            for batch in file.iter_batches(batch_size=1 << 19):
                out.write_batch(batch)


@benchmark
def spark() -> Iterator[Case]:
    """50M rows of 6 columns on local[2]."""
    session = sf.spark_session("local[2]", {"spark.log.level": "ERROR", "spark.driver.memory": "2g"})
    with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as place:
        columns = [f"cast(hash(id, {i}) & 7 as int) as x{i}" for i in range(6)]
        session.range(SPARK_ROWS, numPartitions=16).selectExpr(*columns).write.parquet(f"{place}/raw")
        frame = session.read.parquet(f"{place}/raw")
        yield Case(
            "Spark, 50M rows of 6 columns",
            ours=lambda: sf.randomize(frame, SCHEME),
            reference=lambda: _through_python(frame),
            against="a copying mapInArrow",
            goal=1.5,
            repeat=3,
        )


def _through_python(frame: Any) -> None:
    def copied(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches

    frame.mapInArrow(copied, frame.schema).write.format("noop").mode("overwrite").save()


@benchmark
def wide() -> Iterator[Case]:
    """Many binary attributes: all pairs of 200, a network of 100, one joint table of 20."""
    pairs = _binary(200, 1_000_000)
    yield Case(
        "all pair tables of 200 binary attributes, 10^6 rows",
        ours=lambda: sf.evidence(sf.Release(pairs.parts[0].rows, pairs.scheme)).counts_many(
            list(combinations(pairs.schema.names, 2)), quiet=True
        ),
        goal=20,
        repeat=1,
    )
    network = _binary(100, 1_000_000)
    yield Case(
        "a network of 100 binary attributes, 10^6 rows",
        ours=lambda: sf.learn.BayesianNetwork().fit(sf.evidence(network)),
        goal=300,
        repeat=1,
        peak_goal=2000,
    )
    joint = _binary(20, 10_000_000)
    yield Case(
        "one joint table of 20 binary attributes, 10^7 rows",
        ours=lambda: sf.evidence(sf.Release(joint.parts[0].rows, joint.scheme)).counts(joint.schema.names, quiet=True),
        goal=10,
        repeat=1,
    )


def _binary(count: int, n: int) -> sf.Release:
    """Attributes that depend on two of the ten before them, through a channel that changes one in ten."""
    rng = np.random.default_rng(0)
    columns: list[Any] = []
    for i in range(count):
        if i < 2 or rng.random() < 0.2:
            columns.append((rng.random(n) < rng.uniform(0.3, 0.7)).astype(np.uint8))
            continue
        first, second = (i - 1 - rng.choice(min(i, 10), 2, replace=False)).tolist()
        chance = np.array([0.2, 0.5, 0.5, 0.8])[2 * columns[first] + columns[second]]
        columns.append((rng.random(n) < chance).astype(np.uint8))
    names = [f"v{i:03d}" for i in range(count)]
    schema = sf.Schema({name: sf.Categorical((0, 1)) for name in names})
    scheme = sf.Scheme(schema, {name: c.binary(0.1, 0.1) for name in names})
    rows = {
        name: (column ^ (rng.random(n) < 0.1)).astype(np.uint8) for name, column in zip(names, columns, strict=True)
    }
    return sf.Release(pa.table(rows), scheme)
