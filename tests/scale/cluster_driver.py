"""What a program does on a cluster of which a worker dies; run by test_spark_cluster.py in a process of its own."""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import sfumato as sf
from sfumato import channels as c
from sfumato.reading.spark_session import spark_session

warnings.simplefilter("ignore")
N, PIECES = 24_000, 6
NAMES = ["a", "b", "c"]
SCHEMA = sf.Schema({name: sf.Categorical((0, 1, 2)) for name in NAMES})
SCHEME = sf.Scheme(SCHEMA, {name: c.symmetric(3, 0.3) for name in NAMES})
KEY = sf.new_key(study="cluster")


def table() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame({"id": np.arange(N), **{name: rng.integers(0, 3, N) for name in NAMES}})


def counts(release: sf.Release) -> list[int]:
    """Counted anew, whatever was counted before."""
    parts = [part.select(NAMES) for part in release.parts]
    return sf.evidence(sf.Release.of(parts)).released_counts(NAMES).tolist()


def main(master: str, marker: str, source: str, target: str) -> None:
    session = spark_session(
        master,
        {
            "spark.executor.memory": "512m",
            "spark.driver.host": "127.0.0.1",
            "spark.sql.shuffle.partitions": "2",
            "spark.log.level": "OFF",
        },
    )
    frame = session.createDataFrame(table()).repartition(PIECES)

    def slowly(batches):
        for batch in batches:
            Path(marker).touch()
            time.sleep(1.5)
            yield batch

    slow = frame.mapInArrow(slowly, frame.schema)
    found: dict[str, object] = {}
    before = sf.randomize(frame, SCHEME)
    found["before"] = counts(before)
    keyed = sf.randomize(frame, SCHEME, key=KEY, id="id", study="cluster")
    found["keyed"] = counts(keyed)
    midway = sf.randomize(slow, SCHEME)  # a worker is killed as soon as it has begun
    found["midway"] = [counts(midway), counts(midway)]
    found["before again"] = counts(before)
    found["keyed again"] = counts(keyed)
    found["here"] = counts(sf.randomize(table(), SCHEME, key=KEY, id="id", study="cluster"))
    from sfumato.owner.spark_files import randomize_on_spark

    forms = sf.Forms.for_gamma(SCHEMA, 9, ask=2)
    written = randomize_on_spark(master, source, target, forms, key=KEY, id="id", study="cluster")
    one = sf.randomize(table(), forms, key=KEY, id="id", study="cluster")
    pairs = [[sf.evidence(r).counts(["a", "b"], quiet=True).value.tolist()] for r in (written, one)]
    found["files"] = [len(written), *pairs]
    print("FOUND", json.dumps(found))
    session.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
