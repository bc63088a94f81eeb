"""What the tests share: which parts of the system must be there, and how a sampler is judged."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec

import pytest


def need(present: bool, what: str, install: str) -> None:
    """Skip with one line when a system part is missing; fail where SFUMATO_REQUIRE=all says it must be there."""
    if present:
        return
    line = f"{what} is missing: {install}"
    if os.environ.get("SFUMATO_REQUIRE") == "all":
        pytest.fail(line)
    pytest.skip(line)


@pytest.fixture(scope="session")
def spark_session():
    """A local Spark, for tests of the distributed engine."""
    need(find_spec("pyspark") is not None, "PySpark", "pip install 'sfumato[spark]'")
    need(shutil.which("java") is not None, "Java", "apt-get install default-jre-headless")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable  # the workers' Python is this one, not the system's
    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    yield session
    session.stop()
