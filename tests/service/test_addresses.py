"""Addresses that are not what they look like: of a host, and of a database."""

from __future__ import annotations

import asyncio

import pytest

from sfumato.errors import SfumatoError
from sfumato.service.guard import Guard
from sfumato.service.settings import Settings
from sfumato.service.storage.database import open_database


async def _fine(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def _status(host):
    sent = []

    async def send(message):
        sent.append(message)

    guard = Guard(_fine, Settings(hosts=("localhost", "127.0.0.1", "[::1]"), per_address=0, per_token=0))
    scope = {"type": "http", "path": "/", "method": "GET", "headers": [(b"host", host.encode())], "client": None}
    asyncio.run(guard(scope, None, send))
    return sent[0]["status"]


@pytest.mark.parametrize("host", ["localhost", "localhost:8000", "[::1]", "[::1]:8000", "127.0.0.1:80"])
def test_this_machine_is_known_with_and_without_a_port(host):
    assert _status(host) == 200


@pytest.mark.parametrize(
    "host", ["[::1].evil.com", "[::1].evil.com:80", "localhost.evil.com", "evil.com:8000", "[::2]"]
)
def test_a_name_that_begins_like_this_machine_is_a_stranger(host):
    assert _status(host) == 403


def test_a_port_that_is_no_number_is_refused_in_a_line(tmp_path):
    with pytest.raises(SfumatoError) as refused:
        open_database(tmp_path, "postgresql://me:secret@localhost:port/answers")
    assert "secret" not in str(refused.value) and "\n" not in str(refused.value)
