"""What a program does over Spark Connect, where there are no RDDs; run by test_spark_cluster.py."""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np
import pandas as pd

import sfumato as sf
from sfumato import channels as c
from sfumato.reading.spark_session import spark_session

warnings.simplefilter("ignore")
N = 3000
NAMES = ["a", "b", "c"]
SCHEMA = sf.Schema({name: sf.Categorical((0, 1, 2)) for name in NAMES})
SCHEME = sf.Scheme(SCHEMA, {name: c.symmetric(3, 0.3) for name in NAMES})
KEY = sf.new_key(study="connect")


def main(master: str) -> None:
    session = spark_session(master)
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"id": np.arange(N), **{name: rng.integers(0, 3, N) for name in NAMES}})
    frame = session.createDataFrame(table)
    keyed, here = (sf.randomize(each, SCHEME, KEY, "id", study="connect") for each in (frame, table))
    fresh = sf.randomize(frame, SCHEME)
    twice = [sf.evidence(sf.Release.of(fresh.parts)).released_counts(NAMES).tolist() for _ in range(2)]
    forms = sf.Forms.for_gamma(SCHEMA, 9, ask=2)
    by_form = [
        [len(part) for part in sf.randomize(each, forms, KEY, "id", study="connect").parts] for each in (frame, table)
    ]
    z = rng.normal(50, 10, 25_000)
    noisy = session.createDataFrame(pd.DataFrame({"z": z}))
    at = np.linspace(20, 80, 50)
    apart = np.abs(sf.density(noisy, c.gaussian(5), column="z").pdf(at) - sf.density(z, c.gaussian(5)).pdf(at)).max()
    net = sf.learn.BayesianNetwork(order=NAMES).fit(sf.evidence(fresh))
    found = {
        "kind": type(frame).__module__,
        "keyed": [r.arrow().to_pylist() for r in (keyed, here)],
        "fresh": twice,
        "forms": by_form,
        "density": float(apart),
        "nodes": len(net.parents_),
    }
    print("FOUND", json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
