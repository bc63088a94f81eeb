"""A client of the HTTP API, for the command line: it sends the same again until it hears an answer."""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from sfumato.errors import SfumatoError
from sfumato.service.refusals import STATUS, RefusalError

#: How often something is sent before giving up, and the seconds between the first two.
TRIES, PAUSE = 6, 0.5
_TIMEOUT = 120
_LONGEST = 1 << 26  # bytes of an answer
_LONGEST_PAUSE = 30.0
_ADDRESS = "the server's address must look like https://collect.example.org"
#: Names of this machine: what is sent there is seen by nobody else.
HERE = ("localhost", "127.0.0.1", "::1")


def on_this_machine(url: str) -> bool:
    """Whether a server's address is on this machine."""
    try:
        return urlsplit(url if "//" in url else f"http://{url}").hostname in HERE
    except ValueError:
        return False


class Client:
    """Requests to one server, with one token. A request that got no answer, or "busy", is sent again as it was."""

    def __init__(self, url: str, token: str | None = None, sleep: Callable[[float], None] = time.sleep) -> None:
        try:
            parts = urlsplit(url if "//" in url else f"http://{url}")
            port = parts.port
        except ValueError:
            raise SfumatoError(_ADDRESS) from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SfumatoError(_ADDRESS)
        if parts.scheme == "http" and parts.hostname not in HERE and token is not None:
            raise SfumatoError("a token is sent over https only, or to this machine: give an https address")
        self._host, self._port, self._tls = parts.hostname, port, parts.scheme == "https"
        self._prefix, self.token, self._sleep = parts.path.rstrip("/"), token, sleep

    def ask(
        self, method: str, path: str, document: Any = None, body: bytes | None = None, headers: Mapping[str, str] = {}
    ) -> Any:
        """The JSON of the answer; what the server refuses is raised as it says it."""
        given = dict(headers)
        if self.token is not None:
            given["Authorization"] = f"Bearer {self.token}"
        if document is not None:
            body, given["Content-Type"] = json.dumps(document).encode(), "application/json"
        elif body is not None:
            given["Content-Type"] = "application/octet-stream"
        for attempt in range(TRIES):
            last = attempt == TRIES - 1
            try:
                status, text, retry = self._once(method, path, body, given)
            except (OSError, http.client.HTTPException, UnicodeError) as problem:
                if last:
                    said = getattr(problem, "strerror", None) or type(problem).__name__
                    raise SfumatoError(f"the server at {self._host} does not answer: {said}") from None
            else:
                if status not in (429, 503) or last:
                    return _read(status, text)
                self._sleep(_pause(retry))
            if not last:
                self._sleep(PAUSE * 2**attempt)
        raise SfumatoError("no answer")

    def _once(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes, str | None]:
        kind = http.client.HTTPSConnection if self._tls else http.client.HTTPConnection
        connection = kind(self._host, self._port, timeout=_TIMEOUT)
        try:
            connection.request(method, self._prefix + quote(path, safe="/?&=,%"), body, dict(headers))
            answer = connection.getresponse()
            return answer.status, answer.read(_LONGEST), answer.headers.get("Retry-After")
        finally:
            connection.close()


def _read(status: int, text: bytes) -> Any:
    try:
        document = json.loads(text)
    except ValueError:
        raise SfumatoError(f"the server answered with status {status}, and not as this program expects") from None
    if status < 400:
        return document
    error = document.get("error") if isinstance(document, dict) else None
    code, message, details = (error.get(key) if isinstance(error, dict) else None for key in _ERROR)
    if not isinstance(code, str) or code not in STATUS or not isinstance(message, str):
        raise SfumatoError(f"the server refused with status {status}")
    refusal = RefusalError(code, message)
    refusal.details |= details if isinstance(details, dict) else {}
    raise refusal


_ERROR = ("code", "message", "details")


def _pause(retry: str | None) -> float:
    """The seconds that a server asks for, within reason; none where it says something else."""
    return min(float(retry), _LONGEST_PAUSE) if retry is not None and re.fullmatch(r"[0-9]{1,9}", retry) else 0.0
