"""A server to push files to, and the steps of a push."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

import sfumato as sf
from service_client import SCHEMA, SCHEME, Clock, Http, new_id
from sfumato.service.app import create_app
from sfumato.service.collection import open_collection
from sfumato.service.settings import Settings

UPLOADS = "/v1/studies/commuting/uploads"


def served(**limits: Any) -> Iterator[Http]:
    """A server with an open study, and its admin's client."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(**{"per_address": 0, "per_token": 0, "read_apart": False, **limits})
        held = open_collection(folder, None, settings, Clock())
        held.writer.now(held.studies.create("commuting", {"scheme": SCHEME.to_dict(), "minimum": 2}))
        held.writer.now(held.studies.open("commuting"))
        ((_, admin),) = held.writer.now(held.tokens.make("admin", None))
        with TestClient(create_app(held), raise_server_exceptions=False) as client:
            yield Http(client, held, held.clock, admin)
        held.close()


def send(http: Http, file: Path, token: str, id: str) -> None:
    """Announce a file and send all of it."""
    data = file.read_bytes()
    about = {"id": id, "digest": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    assert http.ask("POST", UPLOADS, about, token).status_code == 201
    kind = {"content-type": "application/octet-stream", "upload-offset": "0"}
    assert http.ask("PATCH", f"{UPLOADS}/{id}", token=token, content=data, headers=kind).status_code == 200


def push(http: Http, file: Path, token: str, id: str | None = None) -> Any:
    id = id or new_id()
    send(http, file, token, id)
    return http.ask("POST", f"{UPLOADS}/{id}/commit", token=token)


def some_columns(path: Path, name: str, people: range, link: bytes, id: str = "person") -> Path:
    raw = {name: [SCHEMA[name].labels[0]] * len(people), id: [f"p{i}" for i in people]}
    return sf.randomize(raw, SCHEME.select([name]), id=id, link_key=link).save(path)
