"""Counting against the bare DuckDB query, on a Parquet file of 20M rows."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf
from sfumato import channels as c

from .harness import Case, benchmark

NAMES = [f"x{i}" for i in range(6)]
ROWS = 20_000_000


@benchmark
def scans() -> Iterator[Case]:
    """Four columns at once; all fifteen pairs of six columns."""
    with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as folder:
        path = Path(folder) / "rows.parquet"
        rng = np.random.default_rng(0)
        pq.write_table(pa.table({name: rng.integers(0, 6, ROWS).astype(np.uint8) for name in NAMES}), path)
        schema = sf.Schema({name: sf.Categorical(tuple(range(6))) for name in NAMES})
        scheme = sf.Scheme(schema, {name: c.symmetric(6, 0.2) for name in NAMES})
        pairs = list(combinations(NAMES, 2))

        def query(names: list[str]) -> None:
            listed = ", ".join(names)
            duckdb.connect().sql(f"select {listed}, count(*) from read_parquet('{path}') group by {listed}").fetchall()

        yield Case(
            "counts of 4 columns, 20M rows",
            ours=lambda: sf.evidence(sf.Release(path, scheme)).counts(NAMES[:4]),
            reference=lambda: query(NAMES[:4]),
            against="bare DuckDB",
            goal=1.15,
        )
        yield Case(
            "all 15 pairs of 6 columns, 20M rows",
            ours=lambda: sf.evidence(sf.Release(path, scheme)).counts_many(pairs),
            reference=lambda: query(NAMES),
            against="one joint query",
            goal=2,
        )
