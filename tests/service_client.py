"""A study about commuting, and a client that speaks HTTP to the server that collects it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

from starlette.testclient import TestClient

import sfumato as sf
from sfumato.service.collection import Collection

START = 1_800_000_000.0  # within an hour, not at its beginning
SCHEMA = sf.Schema({"car": sf.Categorical(("no", "yes")), "sex": sf.Categorical(("F", "M", "other"))})
SCHEME = sf.Scheme(SCHEMA, {"car": sf.channels.symmetric(2, 0.25), "sex": sf.channels.symmetric(3, 0.3)})


class Clock:
    """Time that moves when it is told to."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


def new_id() -> str:
    return secrets.token_hex(16)


@dataclass
class Http:
    """A client with the token of an admin, and a study that is open."""

    client: TestClient
    collection: Collection
    clock: Clock
    admin: str

    def ask(self, method: str, path: str, document: Any = None, token: str | None = "", **more: Any) -> Any:
        headers = dict(more.pop("headers", {}))
        if token is not None:
            headers["authorization"] = f"Bearer {token or self.admin}"
        given = {} if document is None else {"json": document}
        return self.client.request(method, path, headers=headers, **given, **more)

    def token(self, role: str, study: str | None = "commuting", **more: Any) -> str:
        return self.ask("POST", "/v1/tokens", {"role": role, "study": study, **more}).json()["tokens"][0]["token"]

    def study(self, id: str, scheme: Any = SCHEME, opened: bool = True, **fields: Any) -> None:
        made = self.ask("POST", "/v1/studies", {"id": id, "scheme": scheme.to_dict(), "minimum": 2, **fields})
        assert made.status_code == 201, made.text
        if opened:
            assert self.ask("POST", f"/v1/studies/{id}/open").status_code == 200

    def respond(self, id: str | None = None, car: Any = 1, sex: Any = 2, study: str = "commuting", **more: Any) -> Any:
        token = more.pop("token", None)
        body = {"id": id or new_id(), "fingerprint": SCHEME.fingerprint, "answers": {"car": car, "sex": sex}, **more}
        return self.ask("POST", f"/v1/studies/{study}/responses", body, token)

    def count(self, study: str = "commuting") -> int:
        return self.collection.responses.collected(self.collection.studies[study]).responses
