"""The one route that must be fast, single responses: a lane of its own past the router, which takes most of the time.

What it answers is what ``routes.responses.respond`` answers, from the same functions; a test holds them side by side.
"""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import ValidationError

from sfumato.service.collection import Collection
from sfumato.service.documents import ResponseIn
from sfumato.service.guard import App, Receive, Scope, Send
from sfumato.service.refusals import RefusalError, malformed
from sfumato.service.responses import Stored
from sfumato.service.tokens import bearer

_PATH = re.compile(r"/v1/studies/([^/]+)/responses")


class Route:
    """What metrics and logs call this route."""

    path = "/v1/studies/{study}/responses"


async def store(held: Collection, study: str, body: ResponseIn, secret: str | None) -> Stored:
    """Check a response and have it written; it is on the disk when this returns."""
    token = None if secret is None else held.tokens.find(secret)
    report = held.responses.report(study, body.id, body.fingerprint, body.form, body.answers, token, secret)
    stored: Stored = await held.writer.soon(held.responses, report)
    return stored


class Lane:
    """Answers single responses itself, and leaves everything else to the application."""

    def __init__(self, app: App, collection: Collection) -> None:
        self._app, self._held = app, collection

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = _PATH.fullmatch(scope["path"]) if scope.get("method") == "POST" else None
        if found is None:
            await self._app(scope, receive, send)
            return
        scope["route"] = Route
        try:
            body = ResponseIn.model_validate_json(await _body(receive))
        except ValidationError as problem:
            raise malformed(problem.errors(include_url=False, include_context=False, include_input=False)) from None
        header = next((value for name, value in scope["headers"] if name == b"authorization"), None)
        secret = None if header is None else bearer(header.decode("latin-1"))
        stored = await store(self._held, found[1], body, secret)
        text = json.dumps(stored.public()).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(text)).encode())]
        status = 201 if stored.status == "accepted" else 200
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": text})


async def _body(receive: Receive) -> bytes:
    pieces: list[Any] = []
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RefusalError("malformed", "the connection broke off")
        pieces.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(pieces)
