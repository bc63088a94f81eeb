"""A server that is not what it seems: it gets no token that is not for it, and whatever it answers ends in one line."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sfumato.cli.service_address import client
from sfumato.errors import SfumatoError
from sfumato.service.client import Client
from sfumato.service.push import push

Said = tuple[int, bytes, dict[str, str]]


@pytest.fixture
def server() -> Iterator[tuple[str, list[Said]]]:
    """A server that answers everything with what stands in a list."""
    said: list[Said] = []

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, body, headers = said[0]
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_PATCH = do_GET = do_POST  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    made = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{made.server_port}", said
    made.shutdown()
    thread.join()
    made.server_close()


def patient(seconds: float) -> None:
    assert 0 <= seconds <= 30  # as time.sleep would have it


@pytest.mark.parametrize(
    "said",
    [
        (400, b'{"error": {"code": "conflict", "message": "x", "details": {"code": 1, "message": 2}}}', {}),
        (400, b'{"error": {"code": "conflict", "message": "x", "details": [1]}}', {}),
        (400, b'{"error": {"code": ["conflict"], "message": "x"}}', {}),
        (400, b'{"error": []}', {}),
        (400, b"[]", {}),
        (200, b"no JSON", {}),
        (429, b"{}", {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}),
        (429, b"{}", {"Retry-After": "-5"}),
        (503, b"{}", {"Retry-After": "nan"}),
    ],
)
def test_answers_that_make_no_sense_end_in_one_line(server: tuple[str, list[Said]], said: Said) -> None:
    url, answers = server
    answers.append(said)
    with pytest.raises(SfumatoError):
        Client(url, sleep=patient).ask("GET", "/v1/studies")


@pytest.mark.parametrize(
    "said",
    [b"{}", b"[]", b'{"received": "all"}', b'{"received": -1, "state": "arriving"}', b'{"received": 0, "state": "arriving"}', b'{"received": 8, "state": "accepted", "rows": null}'],
)  # fmt: skip
def test_a_push_to_such_a_server_ends_in_one_line(server: tuple[str, list[Said]], said: bytes, tmp_path: Path) -> None:
    """One that says for ever that nothing has arrived is not sent to for ever."""
    url, answers = server
    answers.append((200, said, {}))
    (tmp_path / "a.parquet").write_bytes(b"PAR1PAR1")
    with pytest.raises(SfumatoError, match="server"):
        push(Client(url, "token", sleep=patient), tmp_path / "a.parquet", "study")


@pytest.mark.parametrize("url", ["http://a:99999", "http://[::1", "http://a..b"])
def test_an_address_that_makes_no_sense_is_told_so(url: str) -> None:
    with pytest.raises(SfumatoError, match="server"):
        Client(url, sleep=patient).ask("GET", "/v1/studies")


def test_the_token_of_the_server_here_is_sent_nowhere_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SFUMATO_TOKEN", raising=False)
    (tmp_path / "sfumato-data").mkdir()
    (tmp_path / "sfumato-data" / "admin.token").write_text("sfa_secret\n")
    for url in ("http://localhost:8000", "127.0.0.1:9000", "http://[::1]:8000"):
        assert client(url, None).token == "sfa_secret"
    for url in (
        "https://collect.example.org",
        "https://localhost.example.org",
        "https://localhost@example.org",
        "https://[::1",
    ):
        with pytest.raises(SfumatoError, match="needs a token"):
            client(url, None)
    assert client("https://collect.example.org", tmp_path / "sfumato-data" / "admin.token").token == "sfa_secret"
