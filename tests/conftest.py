"""What the tests share: which parts of the system must be there, and how a sampler is judged."""

from __future__ import annotations

import os
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


@pytest.fixture(autouse=True)
def no_word_of_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands write no line on stderr that depends on how busy the machine is."""
    monkeypatch.setattr("sfumato.cli.busy._marks", lambda: iter(()))


@pytest.fixture(scope="session")
def spark_session():
    """A local Spark, for tests of the distributed engine."""
    need(find_spec("pyspark") is not None, "PySpark", "pip install 'sfumato[spark]'")
    from sfumato.reading.spark_session import spark_session as begin

    here = {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    session = begin("local[1]", {**here, "spark.sql.shuffle.partitions": "2"})
    yield session
    session.stop()
