"""How far each stage is from what the machine allows: `python -m benchmarks.floor [--rows 20000000]`.

The floors are measured on the spot: memory copied by numpy, random bytes of the secure source, a Parquet file copied by
pyarrow. A stage that must read and write so many bytes and needs so many random bytes cannot take less than their sum.
The growth of cost is measured beside: the exponent b of seconds ~ size^b over a range of sizes; 1 is linear.
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sfumato as sf
from sfumato import channels as c
from sfumato.randomness import SecureSource

Action = Callable[[], object]


@dataclass(frozen=True)
class Stage:
    """What is timed, and the seconds that nothing could be below."""

    name: str
    action: Action
    floor: float
    needs: str


@dataclass(frozen=True)
class Speeds:
    """Bytes a second of this machine, now."""

    memory: float  # read and written once
    random: float

    @classmethod
    def measured(cls, size: int = 1 << 27) -> Speeds:
        data, source = np.ones(size, dtype=np.uint8), SecureSource()
        target = np.empty_like(data)
        copied = median(lambda: np.copyto(target, data))
        drawn = median(lambda: source.fill(target))
        return cls(2 * size / copied, size / drawn)


def stages(rows: int, speeds: Speeds) -> Iterator[Stage]:
    """Encode, randomize, shuffle, count and estimate one column of 16 values, one after the other."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 16, rows)
    schema = sf.Schema({"x": sf.Categorical(tuple(range(16)))})
    texts = sf.Schema({"x": sf.Categorical(tuple(f"value {k}" for k in range(16)))})
    words = pa.array([f"value {k}" for k in range(16)]).take(pa.array(values))
    numbers, written = pa.table({"x": values}), pa.table({"x": words})
    channel = c.symmetric(16, gamma=math.e)
    codes = values.astype(np.uint8)
    scheme = sf.Scheme(schema, {"x": channel})
    release = sf.randomize(numbers, scheme)

    def seconds(memory: int, random: int = 0) -> float:
        return memory / speeds.memory + random / speeds.random

    yield Stage("encode int64 values", lambda: schema.encode(numbers), seconds(9 * rows), "8 bytes in, 1 out")
    yield Stage("encode text", lambda: texts.encode(written), seconds(written.nbytes + rows), "text in, 1 byte out")
    yield Stage(
        "randomize codes", lambda: channel.randomize(codes), seconds(2 * rows, rows), "1 byte in, 1 out, 1 random"
    )
    yield Stage("count", lambda: _fresh(release).released_counts("x"), seconds(rows), "1 byte in")
    yield Stage(
        "all: table to release",
        lambda: sf.randomize(numbers, scheme),
        seconds(11 * rows, 9 * rows),
        "8 bytes in, 1 out and in, 1 + 8 random (answer, shuffle)",
    )
    yield Stage(
        "all: release to intervals", lambda: _fresh(release).counts(["x"]).interval(), seconds(rows), "1 byte in"
    )


def _fresh(release: sf.Release) -> sf.Evidence:
    """Evidence that has counted nothing yet: tables are kept for as long as their release lives."""
    return sf.evidence(sf.Release(release.parts[0].rows, release.scheme))


def parquet(rows: int) -> tuple[float, float]:
    """Seconds to randomize a Parquet file of six columns, and to copy it with the same codec."""
    rng = np.random.default_rng(1)
    names = [f"x{k}" for k in range(6)]
    schema = sf.Schema({name: sf.Categorical(tuple(range(16))) for name in names})
    scheme = sf.Scheme(schema, {name: c.symmetric(16, gamma=3) for name in names})
    with tempfile.TemporaryDirectory(prefix="sfumato-floor-") as folder:
        source, target = Path(folder) / "raw.parquet", Path(folder) / "out.parquet"
        pq.write_table(pa.table({name: rng.integers(0, 16, rows) for name in names}), source, compression="zstd")

        def copied() -> None:
            with (
                pq.ParquetFile(source) as file,
                pq.ParquetWriter(target, file.schema_arrow, compression="zstd") as out,
            ):
                for batch in file.iter_batches(batch_size=1 << 19):
                    out.write_batch(batch)

        return (
            median(lambda: sf.randomize_file(source, target, scheme, overwrite=True), 3),
            median(copied, 3),
        )


def growth() -> Iterator[tuple[str, list[int], list[float], float]]:
    """Sizes, seconds and exponent for records, values, attributes and cells."""
    rng = np.random.default_rng(2)

    def shares(n: int, k: int) -> Action:
        schema = sf.Schema({"x": sf.Categorical(tuple(range(k)))})
        scheme, table = sf.Scheme(schema, {"x": c.subset(k, 3)}), pa.table({"x": rng.integers(0, k, n)})
        return lambda: sf.evidence(sf.randomize(table, scheme)).counts(["x"]).interval()

    def attributes(d: int) -> Action:
        schema = sf.Schema({f"x{i}": sf.Categorical((0, 1)) for i in range(d)})
        scheme = sf.Scheme(schema, {name: c.binary(0.2, 0.2) for name in schema})
        table = pa.table({name: rng.integers(0, 2, 100_000) for name in schema})
        return lambda: sf.randomize(table, scheme)

    def cells(d: int) -> Action:
        schema = sf.Schema({f"x{i}": sf.Categorical((0, 1)) for i in range(d)})
        scheme = sf.Scheme(schema, {name: c.binary(0.1, 0.1) for name in schema})
        release = sf.randomize(pa.table({name: rng.integers(0, 2, 200_000) for name in schema}), scheme)
        return lambda: sf.evidence(release).counts(list(schema)).interval()

    plans: dict[str, tuple[list[int], Callable[[int], Action], Callable[[int], int]]] = {
        "records, 16 values": ([10**5, 10**6, 10**7], lambda n: shares(n, 16), lambda n: n),
        "values, 10^6 records": ([2**8, 2**12, 2**16, 2**20], lambda k: shares(10**6, k), lambda k: k),
        "attributes, 10^5 records": ([10, 100, 1000], attributes, lambda d: d),
        "cells of one table, 2·10^5 records": ([10, 14, 18, 20], cells, lambda d: 2**d),
    }
    for name, (sizes, make, size) in plans.items():
        times = []
        for one in sizes:
            action = make(one)
            action()
            times.append(median(action, 3))
        x, y = np.log([size(one) for one in sizes]), np.log(times)
        yield name, [size(one) for one in sizes], times, float(np.polyfit(x, y, 1)[0])


def median(action: Action, repeats: int = 5) -> float:
    """Seconds of processor time, which other work on the machine disturbs less than the clock."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.floor", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    speeds = Speeds.measured()
    print(f"memory {speeds.memory / 1e9:.1f} GB/s, secure random bytes {speeds.random / 1e9:.1f} GB/s\n")
    print("| stage | needs, a record | floor, ns | measured, ns | times the floor |\n|---|---|---|---|---|")
    for stage in stages(options.rows, speeds):
        found = median(stage.action, 3)
        nano = 1e9 / options.rows
        print(
            f"| {stage.name} | {stage.needs} | {stage.floor * nano:.2f} | {found * nano:.2f} | "
            f"{found / stage.floor:.1f} |",
            flush=True,
        )
    ours, copied = parquet(options.rows)
    print(f"\nParquet, 6 columns: {ours:.2f} s, copying it {copied:.2f} s: {100 * copied / ours:.0f} % of its speed\n")
    print("| size of what | sizes | seconds | exponent |\n|---|---|---|---|")
    for name, sizes, times, exponent in growth():
        row = (", ".join(f"{size:,}" for size in sizes), ", ".join(f"{t:.3g}" for t in times))
        print(f"| {name} | {row[0]} | {row[1]} | {exponent:.2f} |", flush=True)


if __name__ == "__main__":
    main()
