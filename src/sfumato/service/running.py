"""The server process: uvicorn around the application, stopped gracefully, without a word about who asked for what."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from sfumato.service.app import create_app
from sfumato.service.collection import Collection

#: Seconds that requests have to end once the server is asked to stop.
PATIENCE = 10


class PatientProtocol(HttpToolsProtocol):
    """HTTP on one connection, closed if the headers of a request take too long, or too much room.

    Their clock runs from the first byte of the request on, and for the first request from the beginning. The rest of a
    body whose request was answered already has as long. Between requests the time counts that a connection is kept.
    """

    slowest_head = 10.0
    largest_head = 64 << 10

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._head_bytes, self._in_head = 0, True
        self._timer: Any = None
        self._wait()

    def _wait(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(self.slowest_head, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def data_received(self, data: bytes) -> None:
        self._head_bytes += len(data) if self._in_head else 0
        if self._in_head or (self.cycle is not None and self.cycle.response_complete):
            self._wait()
        super().data_received(data)  # sets the count back if it ends the headers
        if self._head_bytes > self.largest_head and not self.transport.is_closing():
            self.transport.close()

    def on_headers_complete(self) -> None:
        self._head_bytes, self._in_head = 0, False
        self._stop_waiting()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_head = True
        self._stop_waiting()
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)


class Server(uvicorn.Server):
    """Stops at SIGINT and SIGTERM, after the requests that run, and calls ``ready`` once it listens."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[int], None] | None = None) -> None:
        super().__init__(config)
        self._ready = ready

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        await super().startup(sockets=sockets)  # type: ignore[arg-type]
        if self.started and self._ready is not None:
            self._ready(self.servers[0].sockets[0].getsockname()[1])


def server(
    collection: Collection, host: str = "127.0.0.1", port: int = 8000, ready: Callable[[int], None] | None = None
) -> Server:
    """A server over a collection; ``run()`` serves until it is asked to stop. Port 0 takes any free one."""
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    config = uvicorn.Config(
        create_app(collection),
        host=host,
        port=port,
        access_log=False,  # it would hold addresses, and ids in paths
        log_config=None,
        server_header=False,
        proxy_headers=False,
        http=PatientProtocol,
        ws="none",
        lifespan="off",
        limit_concurrency=2000,
        backlog=2048,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=PATIENCE,
    )
    return Server(config, ready)
