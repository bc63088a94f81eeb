"""A collection with a study in it, over both databases, and a client that speaks HTTP to it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from conftest import need
from postgres import Postgres, programs
from service_client import Clock, Http
from sfumato.service.app import create_app
from sfumato.service.collection import open_collection
from sfumato.service.settings import Settings


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL of this session's own."""
    need(programs() is not None, "PostgreSQL", "apt-get install postgresql")
    held = Postgres()
    yield held
    held.stop()


@pytest.fixture
def folder():
    """Where a server keeps its files: in memory, where the system has room for that."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as path:
        yield Path(path)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request):
    """The database: None is the SQLite in the folder."""
    if request.param == "sqlite":
        return None
    held = request.getfixturevalue("postgres")
    held.clear()
    return held.url


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def collection(folder, url, clock):
    held = open_collection(folder, url, Settings(per_address=0, per_token=0, read_apart=False), clock)
    yield held
    held.close()


@pytest.fixture
def http(collection, clock):
    ((_, admin),) = collection.writer.now(collection.tokens.make("admin", None))
    with TestClient(create_app(collection)) as client:
        made = Http(client, collection, clock, admin)
        made.study("commuting")
        yield made
