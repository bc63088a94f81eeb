"""A standalone cluster of two workers, one of which is killed midway: answers stay what they were."""

from __future__ import annotations

import json
import shutil
import threading
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from conftest import need
from spark_cluster import Cluster, ConnectServer, run_driver

DRIVER = Path(__file__).with_name("cluster_driver.py")
CONNECT_DRIVER = Path(__file__).with_name("connect_driver.py")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory):
    need(find_spec("pyspark") is not None, "PySpark", "pip install 'sfumato[spark]'")
    need(shutil.which("java") is not None, "Java", "apt-get install default-jre-headless")
    started = Cluster(tmp_path_factory.mktemp("cluster"))
    yield started
    started.stop()


def test_a_worker_killed_midway_changes_no_answer(cluster: Cluster, tmp_path: Path) -> None:
    """Keyed answers stay; fresh ones are drawn once: a second copy stands in for the worker that is gone."""
    marker, source = tmp_path / "begun", tmp_path / "raw"
    source.mkdir()
    rng = np.random.default_rng(3)
    raw = pd.DataFrame({"id": np.arange(24_000), **{name: rng.integers(0, 3, 24_000) for name in "abc"}})
    for piece in range(3):
        raw.iloc[piece::3].to_parquet(source / f"part-{piece}.parquet", index=False)

    def kill_midway() -> None:
        while not marker.exists():
            time.sleep(0.05)
        time.sleep(1.0)
        cluster.kill(0)

    killer = threading.Thread(target=kill_midway, daemon=True)
    killer.start()
    ran = run_driver(DRIVER, cluster.master, str(marker), str(source), str(tmp_path / "release"))
    killer.join(timeout=5)
    assert not killer.is_alive(), ran.stderr[-2000:]
    lines = [line for line in ran.stdout.splitlines() if line.startswith("FOUND")]
    assert lines, ran.stdout[-1000:] + ran.stderr[-3000:]
    found = json.loads(lines[0].removeprefix("FOUND "))
    assert found["keyed"] == found["keyed again"] == found["here"]
    assert found["before"] == found["before again"]
    assert found["midway"][0] == found["midway"][1] and sum(found["midway"][0]) == 24_000
    assert found["midway"][0] != found["before"]  # another release draws anew
    rows, written, here = found["files"]
    assert rows == 24_000 and written == here


def test_the_same_over_spark_connect(tmp_path: Path) -> None:
    need(find_spec("pyspark") is not None, "PySpark", "pip install 'sfumato[spark]'")
    need(find_spec("grpc") is not None, "gRPC", "pip install 'sfumato[spark]'")
    need(shutil.which("java") is not None, "Java", "apt-get install default-jre-headless")
    server = ConnectServer(tmp_path)
    try:
        ran = run_driver(CONNECT_DRIVER, server.master)
    finally:
        server.stop()
    lines = [line for line in ran.stdout.splitlines() if line.startswith("FOUND")]
    assert lines, ran.stdout[-1000:] + ran.stderr[-3000:]
    found = json.loads(lines[0].removeprefix("FOUND "))
    assert found["kind"].startswith("pyspark.sql.connect")
    assert found["keyed"][0] == found["keyed"][1]
    assert found["fresh"][0] == found["fresh"][1] and sum(found["fresh"][0]) == 3000
    assert found["forms"][0] == found["forms"][1]
    assert found["density"] < 0.002 and found["nodes"] == 3
