"""A collection with a study in it, and a client that speaks HTTP to it."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from service_client import Clock, Http
from sfumato.service.app import create_app
from sfumato.service.collection import open_collection
from sfumato.service.settings import Settings


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def collection(tmp_path, clock):
    held = open_collection(tmp_path / "data", None, Settings(per_address=0, per_token=0), clock)
    yield held
    held.close()


@pytest.fixture
def http(collection, clock):
    ((_, admin),) = collection.writer.now(collection.tokens.make("admin", None))
    with TestClient(create_app(collection)) as client:
        made = Http(client, collection, clock, admin)
        made.study("commuting")
        yield made
