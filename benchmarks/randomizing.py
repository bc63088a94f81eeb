"""Randomizing against numpy drawing as many doubles, which is not secure and randomizes nothing yet."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf
from sfumato import channels as c
from sfumato.channels import lookup

from .harness import Case, benchmark

RECORDS = 50_000_000


@benchmark
def codes() -> Iterator[Case]:
    """50M one-byte codes under the secure source, with numba and without."""
    values = np.random.default_rng(0).integers(0, 16, RECORDS).astype(np.uint8)
    drawing = np.random.Generator(np.random.PCG64())
    general = c.matrix(np.random.default_rng(1).dirichlet(np.ones(16), 16))
    settings = [
        ("symmetric(16, p=.3)", c.symmetric(16, 0.3), 1.0, 3.0),
        ("symmetric(16, p=.05)", c.symmetric(16, 0.05), 0.6, 3.0),
        ("a general 16 x 16 matrix", general, 2.5, 4.0),
    ]
    for name, channel, with_numba, without in settings:
        for engine, goal in (("numba", with_numba), ("numpy", without)):

            def ours(channel: c.Channel = channel, engine: str = engine) -> None:
                if engine == "numba":
                    channel.randomize(values)
                else:
                    with patch.object(lookup, "_compiled", lambda: None):
                        channel.randomize(values)

            yield Case(
                f"50M codes, {name}, {engine}",
                ours=ours,
                reference=lambda: drawing.random(RECORDS),
                against="PCG64().random",
                goal=goal,
            )


@benchmark
def keyed() -> Iterator[Case]:
    """The same record always gets the same answer: two million keyed answers against as many fresh ones."""
    n = 2_000_000
    table = pa.table({"id": np.arange(n), "a": np.random.default_rng(0).integers(0, 16, n).astype(np.uint8)})
    scheme = sf.Scheme(sf.Schema({"a": sf.Categorical(tuple(range(16)))}), {"a": c.symmetric(16, 0.3)})
    key = sf.new_key()
    yield Case(
        "2M keyed answers",
        ours=lambda: sf.randomize(table, scheme, key=key, id="id"),
        reference=lambda: sf.randomize(table, scheme, id="id"),
        against="fresh answers",
        goal=20,
        repeat=3,
    )


@benchmark
def files() -> Iterator[Case]:
    """A Parquet file of 100M rows and 6 columns, batch by batch: memory must stay flat."""
    folder = tempfile.TemporaryDirectory(prefix="sfumato-bench-")
    source, target = Path(folder.name) / "raw.parquet", Path(folder.name) / "release.parquet"
    names = [f"x{i}" for i in range(6)]
    rng = np.random.default_rng(0)
    batch = pa.table({name: rng.integers(0, 8, 1_000_000).astype(np.int8) for name in names})
    with pq.ParquetWriter(str(source), batch.schema) as writer:
        for _ in range(100):
            writer.write_table(batch)
    schema = sf.Schema({name: sf.Categorical(tuple(range(8))) for name in names})
    scheme = sf.Scheme(schema, {name: c.symmetric(8, 0.3) for name in names})
    yield Case(
        "Parquet of 100M rows, 6 columns",
        ours=lambda: sf.randomize_file(source, target, scheme, overwrite=True),
        reference=lambda: _copy(source, target),
        against="reading and writing it",
        goal=4,
        repeat=1,
        peak_goal=1000,
    )
    folder.cleanup()


def _copy(source: Path, target: Path) -> None:
    with (
        pq.ParquetFile(str(source)) as file,
        pq.ParquetWriter(str(target), file.schema_arrow, compression="zstd") as out,
    ):
        for batch in file.iter_batches(batch_size=1 << 19):
            out.write_batch(batch)
