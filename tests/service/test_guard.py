"""Bodies too large, too slow, cut off, or of the wrong type; rates; headers; logs that say nothing about anybody."""

from __future__ import annotations

import json
import logging
import re
import socket
import threading
import time
from importlib.resources import files

import pytest
from starlette.testclient import TestClient

from command_line import run
from service_client import SCHEME, Clock, new_id
from sfumato.service.app import create_app
from sfumato.service.collection import open_collection
from sfumato.service.guard import HEADERS
from sfumato.service.refusals import STATUS
from sfumato.service.running import PatientProtocol, server
from sfumato.service.settings import Settings

PATH = "/v1/studies/commuting/responses"
SLOW = 1e-4  # requests a second: three may come at once, and no other while a test runs
LIMITS = Settings(per_address=0, per_token=0, largest_response=2000, largest_body=50_000, slowest_body=0.3)


@pytest.fixture
def running(folder, monkeypatch):
    """A server in a thread, with strict limits, and an open study."""
    held = open_collection(folder, None, LIMITS)
    held.writer.now(held.studies.create("commuting", {"scheme": SCHEME.to_dict(), "minimum": 2}))
    held.writer.now(held.studies.open("commuting"))
    monkeypatch.setattr(PatientProtocol, "slowest_head", 0.3)
    ready, port = threading.Event(), []
    made = server(held, port=0, ready=lambda number: (port.append(number), ready.set()))
    thread = threading.Thread(target=made.run)
    thread.start()
    assert ready.wait(20)
    yield port[0], held
    made.should_exit = True
    thread.join()
    held.close()


def talk(port: int, *pieces: bytes, pause: float = 0.0) -> bytes:
    """Send bytes as they are, and read until the server closes or falls silent."""
    with socket.create_connection(("127.0.0.1", port), timeout=3) as line:
        for piece in pieces:
            try:
                line.sendall(piece)
            except OSError:
                break  # the server has said what it had to say
            time.sleep(pause)
        got = b""
        try:
            while b"\r\n\r\n" not in got or not got.partition(b"\r\n\r\n")[2]:
                some = line.recv(65536)
                if not some:
                    break
                got += some
        except OSError:
            pass
        return got


def head(length: int | str, kind: str = "application/json", path: str = PATH) -> bytes:
    return f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n".encode()


def good() -> bytes:
    answers = {"id": new_id(), "fingerprint": SCHEME.fingerprint, "answers": {"car": 0, "sex": 0}}
    return json.dumps(answers).encode()


def rows(held) -> int:
    return held.responses.collected(held.studies["commuting"]).responses


def test_bad_bodies_meet_their_refusals_and_leave_no_row(running):
    port, held = running
    body = good()
    cases = {
        "too_large": [head(3000), body],
        "wrong_type": [head(len(body), "text/plain"), body],
        "too_slow": [head(len(body)), body[:20]],
        "malformed": [head(20), body[:20]],
    }
    for code, pieces in cases.items():
        answer = talk(port, *pieces)
        assert answer.startswith(f"HTTP/1.1 {STATUS[code]} ".encode()), (code, answer)
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == code
    chunked = b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = talk(port, chunked % PATH.encode(), *[b"400\r\n" + b" " * 1024 + b"\r\n"] * 4)
    assert answer.startswith(b"HTTP/1.1 413 ")
    batch = talk(port, head(60_000, path="/v1/responses"), b"{")
    assert batch.startswith(b"HTTP/1.1 413 ")
    talk(port, head(len(body)), body[:50], pause=0.0)[:0]  # cut off: the client goes
    assert rows(held) == 0
    assert talk(port, head(len(body)), body[:30], body[30:], pause=0.05).startswith(b"HTTP/1.1 201 ")
    assert rows(held) == 1


def test_a_client_that_never_ends_its_headers_is_let_go(running):
    port, _ = running
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=5) as line:
        line.sendall(b"POST /v1/responses HTTP/1.1\r\nHost: x\r\n")
        assert line.recv(100) == b""
    assert time.monotonic() - began < 4
    assert talk(port, b"nonsense\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    huge = talk(port, b"GET /v1/health HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 3_000_000)
    assert huge == b""
    body = b'{"responses": []}' + b" " * 40_000
    assert talk(port, head(len(body), path="/v1/responses") + body).startswith(b"HTTP/1.1 400 ")
    assert talk(port, b"GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n").startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "later",
    [b"GET /v1/health HTTP/1.1\r\nHost:", head(1000, path="/v1/nothing") + b"{"],
    ids=["headers", "a body that was answered"],
)
def test_later_requests_on_a_connection_have_no_more_time(running, later):
    """Otherwise a thousand connections, each with one whole request, keep everybody else out for ever."""
    port, _ = running
    with socket.create_connection(("127.0.0.1", port), timeout=5) as line:
        line.sendall(b"GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert line.recv(10_000).startswith(b"HTTP/1.1 200 ")
        line.sendall(later)
        while True:
            time.sleep(0.1)
            try:
                line.sendall(b" ")
                if not line.recv(10_000):
                    break
            except ConnectionError:
                break


@pytest.fixture
def limited(folder):
    held = open_collection(folder, None, Settings(per_address=SLOW, per_token=SLOW, burst=3 / SLOW), Clock())
    with TestClient(create_app(held)) as client:
        yield client, held
    held.close()


def test_rates_hold_for_addresses_and_tokens(limited):
    client, _ = limited
    found = [client.get("/v1/health") for _ in range(5)]
    assert [answer.status_code for answer in found] == [200, 200, 200, 429, 429]
    assert found[-1].json()["error"]["code"] == "too_many" and int(found[-1].headers["retry-after"]) >= 1


def test_every_answer_carries_the_headers(http):
    for path in ("/", "/assets/style.css", "/v1/health", "/v1/nothing", "/v1/studies"):
        answer = http.ask("GET", path, token=None)
        for name, value in HEADERS:
            assert answer.headers[name.decode()] == value.decode()
        assert answer.headers["cache-control"] == ("no-store" if path.startswith("/v1") else "no-cache")
        assert "access-control-allow-origin" not in answer.headers and "set-cookie" not in answer.headers


def test_pages_load_nothing_from_elsewhere_and_sign_what_they_load(http):
    pages = [path for path in files("sfumato.service").joinpath("pages").iterdir() if path.name.endswith(".html")]
    assert pages
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.search(r'(?:src|href)="(?:https?:)?//', text)
        assert not re.search(r"<script(?![^>]*\bsrc=)", text) and "style=" not in text and " on" + "click=" not in text
    served = http.ask("GET", "/", token=None).text
    assert served.count("integrity=") == len(re.findall(r'(?:src|href)="/assets/', served)) > 0


def test_refusals_have_one_shape_and_quote_no_answer(http):
    secret = "4711"
    for answer in (
        http.respond(car=int(secret)),
        http.respond(car=secret),
        http.ask("POST", PATH, {"id": secret}, token=None),
        http.ask("GET", f"/v1/studies/commuting/estimates?names={secret}"),
        http.ask("PUT", "/v1/studies"),
        http.ask("GET", "/v2"),
    ):
        assert set(answer.json()) == {"error"} and set(answer.json()["error"]) == {"code", "message", "details"}
        assert STATUS[answer.json()["error"]["code"]] == answer.status_code
        assert secret not in answer.text


def test_the_page_of_the_api_names_every_code(http):
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "http-api.md").read_text()
    assert [code for code in STATUS if code != "internal" and f"| {STATUS[code]} | `{code}` |" not in page] == []
    paths = http.client.get("/v1/openapi.json").json()["paths"]
    named = [path for path, methods in paths.items() for verb in methods if f"`{verb.upper()} {path}" not in page]
    assert named == []


def test_what_fails_is_logged_without_values(http, monkeypatch, caplog):
    def fail(*_, **__):
        raise ValueError("the answer 4711 of token sfa_abc")

    monkeypatch.setattr(http.collection.responses, "report", fail)
    with caplog.at_level(logging.DEBUG, logger="sfumato.service"):
        answer = http.respond()
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal")
    said = "\n".join(record.getMessage() for record in caplog.records if record.name == "sfumato.service")
    assert "ValueError in" in said and "/v1/studies/{study}/responses" in said
    assert "4711" not in said and "sfa_" not in said and "testclient" not in said and "4711" not in answer.text


def test_a_writer_with_too_much_to_do_asks_to_come_back(http, monkeypatch):
    monkeypatch.setattr("sfumato.service.storage.writer.WAITING", 0)
    answer = http.respond()
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "busy")
    assert answer.headers["retry-after"] == "1"


def rated(folder, **settings):
    held = open_collection(folder, None, Settings(burst=3 / SLOW, **settings), Clock())
    return held, TestClient(create_app(held))


def statuses(client, times=5, path="/v1/health", **headers):
    return [client.get(path, headers=headers).status_code for _ in range(times)]


def test_a_token_has_a_rate_of_its_own(folder):
    held, client = rated(folder, per_address=0, per_token=SLOW)
    with client:
        assert statuses(client) == [200] * 5  # without a token there is none to count
        assert statuses(client, authorization="Bearer sfm_one") == [200, 200, 200, 429, 429]
        assert statuses(client, authorization="Bearer sfm_two") == [200, 200, 200, 429, 429]
        assert statuses(client) == [200] * 5
    held.close()


def test_behind_a_proxy_the_address_is_the_one_that_it_reports(folder):
    """The proxy's own entry is the last; what stands before it was sent by the client, who may send anything."""
    held, client = rated(folder, per_address=SLOW, per_token=0, behind_proxy=True)
    with client:
        assert statuses(client, **{"x-forwarded-for": "192.0.2.1"}) == [200, 200, 200, 429, 429]
        assert statuses(client, **{"x-forwarded-for": "192.0.2.2"}) == [200, 200, 200, 429, 429]
        forged = [client.get("/v1/health", headers={"x-forwarded-for": f"10.0.0.{i}, 192.0.2.1"}) for i in range(3)]
        assert [answer.status_code for answer in forged] == [429] * 3
        assert statuses(client) == [200, 200, 200, 429, 429]  # without the header it is the connection's
    held.close()


def test_without_a_proxy_nobody_chooses_an_address(folder):
    held, client = rated(folder, per_address=SLOW, per_token=0)
    with client:
        found = [client.get("/v1/health", headers={"x-forwarded-for": f"192.0.2.{i}"}).status_code for i in range(5)]
    assert found == [200, 200, 200, 429, 429]
    held.close()


def test_the_option_reaches_the_guard(monkeypatch, tmp_path):
    from sfumato.errors import SfumatoError

    seen = []

    def stop(folder, database, settings, clock):
        seen.append(settings)
        raise SfumatoError("that is all")

    monkeypatch.setattr("sfumato.service.collection.open_collection", stop)
    for options in ("", "--behind-proxy --per-address 7 --per-token 9"):
        assert run(f"serve {tmp_path} {options}").code == 1
    plain, set_ = seen
    assert (plain.behind_proxy, plain.per_address, plain.per_token) == (False, 50, 200)
    assert (set_.behind_proxy, set_.per_address, set_.per_token) == (True, 7, 9)


ADMIN = [
    ("POST", "/v1/studies", {"id": "evil", "scheme": SCHEME.to_dict()}),
    ("PATCH", "/v1/studies/commuting", {"title": "changed"}),
    ("POST", "/v1/studies/commuting/close", None),
    ("DELETE", "/v1/studies/commuting", None),
    ("POST", "/v1/tokens", {"role": "admin"}),
    ("DELETE", "/v1/tokens/0f3a5c", None),
]
FORMS = ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data")


def test_another_site_cannot_act_for_an_admin(http):
    """A browser lets another site send simple requests, without a token; whatever else needs a permission that nobody gives."""
    evil = {"origin": "https://evil.example", "sec-fetch-site": "cross-site", "cookie": f"token={http.admin}"}
    before = http.ask("GET", "/v1/studies/commuting").json()
    for method, path, body in ADMIN:
        asked = {**evil, "access-control-request-method": method, "access-control-request-headers": "authorization"}
        preflight = http.client.options(path, headers=asked)
        assert preflight.status_code == 405
        assert not [name for name in preflight.headers if name.startswith("access-control")]
        for kind in FORMS if body else (None,):
            headers = {**evil, **({"content-type": kind} if kind else {})}
            simple = http.client.request(method, path, headers=headers, content=body and json.dumps(body))
            assert simple.status_code in (401, 415), (method, path, kind)
    assert http.ask("GET", "/v1/studies/commuting").json() == before
    assert [one["id"] for one in http.ask("GET", "/v1/studies").json()["studies"]] == ["commuting"]


def test_another_site_cannot_answer_for_a_visitor(http):
    """A response is JSON, which a browser does not send to another site unasked; nobody gives the permission."""
    for kind in FORMS:
        headers = {"origin": "https://evil.example", "content-type": kind}
        assert http.client.post(PATH, content=good(), headers=headers).status_code == 415
    assert http.client.options(PATH, headers={"origin": "https://evil.example"}).status_code == 405
    assert http.count() == 0
