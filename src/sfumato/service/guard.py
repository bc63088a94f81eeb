"""What stands around every request: rates, limits of bodies in size and time, headers of every answer, metrics.

Nothing here writes down an address, a token, a path with ids in it, or a body.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from sfumato.service.rates import Rates, network
from sfumato.service.refusals import RefusalError
from sfumato.service.settings import Settings

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

log = logging.getLogger("sfumato.service")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
HEADERS = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
]
_NOT_KEPT = (b"cache-control", b"no-store")
_JSON, _BYTES = b"application/json", b"application/octet-stream"


class Body:
    """Why the body of a request was broken off, if it was."""

    refused: RefusalError | None = None

    def refuse(self, reason: RefusalError) -> RefusalError:
        self.refused = reason
        return reason


class Guard:
    """The outermost layer of the server."""

    def __init__(self, app: App, settings: Settings) -> None:
        self._app, self._settings = app, settings
        self._addresses = Rates(settings.per_address, settings.burst)
        self.tokens = Rates(settings.per_token, settings.burst)
        self.answers: Counter[tuple[str, int]] = Counter()  # by route and status
        self.seconds = 0.0
        self.running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        began, status = time.perf_counter(), 0
        body = Body()
        api = scope["path"].startswith("/v1")

        async def answer(message: Message) -> None:
            nonlocal status
            if body.refused is not None and not status:
                return  # whatever the application makes of a body that broke off: the reason is ours to give
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), *HEADERS, *([_NOT_KEPT] if api else [])]
            await send(message)

        self.running += 1
        try:
            self._check_host(headers)
            self.charge(scope)
            await self._app(scope, self._body(scope, headers, receive, body), answer)
            if body.refused is not None:
                raise body.refused
        except RefusalError as refusal:
            body.refused = None
            if not status:
                await _refuse(answer, refusal)
        except Exception as problem:
            body.refused = None
            log.error("%s failed: %s", _route(scope), _where(problem))
            if not status:
                await _refuse(
                    answer, RefusalError("internal", "something went wrong in the server; it was written down")
                )
        finally:
            self.running -= 1
            self.seconds += time.perf_counter() - began
            self.answers[_route(scope), status] += 1

    def _check_host(self, headers: dict[bytes, bytes]) -> None:
        """Refuse the pages of a stranger whose name suddenly leads to this machine: browsers take both for one."""
        name = headers.get(b"host", b"").decode("latin-1").lower()
        plain = re.sub(r":\d*$", "", name)  # without the port; that of [::1] stands behind the bracket
        if self._settings.hosts and name and plain not in self._settings.hosts:
            raise RefusalError(
                "forbidden", "this server answers to localhost only; behind a proxy start it with --behind-proxy"
            )

    def charge(self, scope: Scope, cost: float = 1.0) -> None:
        """Count a request, or what it asks for, against the rates of its address and its token."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        client = scope.get("client")
        address = client[0] if client else ""
        if self._settings.behind_proxy:
            address = headers.get(b"x-forwarded-for", b"").decode("latin-1").split(",")[-1].strip() or address
        wait = self._addresses.wait(network(address), cost)
        token = headers.get(b"authorization")
        if not wait and token is not None:
            wait = self.tokens.wait(token.decode("latin-1"), cost)
        if wait:
            raise RefusalError("too_many", "too many requests: come back later", seconds=math.ceil(wait))

    def _body(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, body: Body) -> Receive:
        """The body, as long as it keeps to its type, its size and its time."""
        piece = scope["method"] == "PATCH" and "/uploads/" in scope["path"]
        limits = self._settings
        most = limits.largest_piece if piece else limits.largest_body
        if scope["path"].endswith("/responses") and scope["path"] != "/v1/responses":
            most = limits.largest_response
        length = headers.get(b"content-length", b"")
        if length.isdigit() and int(length) > most:
            raise _too_large(most)
        has_body = length not in (b"", b"0") or b"transfer-encoding" in headers
        kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
        wanted = _BYTES if piece else _JSON
        if has_body and scope["method"] in ("POST", "PATCH", "PUT") and kind != wanted:
            raise RefusalError("wrong_type", f"the Content-Type must be {wanted.decode()}")
        size, deadline = 0, time.monotonic() + limits.slowest_body

        async def limited() -> Message:
            nonlocal size, deadline
            if not has_body:
                return await receive()
            try:
                async with asyncio.timeout(max(deadline - time.monotonic(), 0.001)):
                    message = await receive()
            except TimeoutError:
                late = RefusalError("too_slow", "the body did not arrive in time: send the same again")
                raise body.refuse(late) from None
            size += len(message.get("body", b""))
            if size > most:
                raise body.refuse(_too_large(most))
            if piece and message.get("body"):
                deadline = time.monotonic() + limits.slowest_body
            if not message.get("more_body", False):
                deadline = math.inf
            return message

        return limited


def _too_large(most: int) -> RefusalError:
    return RefusalError("too_large", f"the body is larger than {most:,} bytes", most=most)


async def _refuse(send: Send, refusal: RefusalError) -> None:
    body = json.dumps(refusal.document()).encode()
    headers = [(b"content-type", _JSON), (b"content-length", str(len(body)).encode()), *retry_after(refusal)]
    if refusal.code in ("too_large", "too_slow"):
        headers.append((b"connection", b"close"))  # what is left of the body is not waited for
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def retry_after(refusal: RefusalError) -> list[tuple[bytes, bytes]]:
    """When to come back, where that helps; and how to say who one is."""
    if refusal.code in ("too_many", "busy"):
        return [(b"retry-after", str(refusal.details.get("seconds", 1)).encode())]
    return [(b"www-authenticate", b"Bearer")] if refusal.code == "unauthorized" else []


def _route(scope: Scope) -> str:
    """The route as it is declared, without the ids that stand in a path."""
    found = getattr(scope.get("route"), "path", None)
    return f"{scope['method'] if found else '-'} {found or '-'}"


def _where(problem: BaseException) -> str:
    """What failed and where, without the values that its message may hold."""
    trace = problem.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f" in {trace.tb_frame.f_code.co_qualname}, line {trace.tb_lineno}"
    return f"{type(problem).__name__}{place}"
