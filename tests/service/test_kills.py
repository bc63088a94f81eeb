"""Servers and databases are killed under load; whatever was acknowledged is there, once. SFUMATO_KILLS=20 kills more often."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

from service_client import SCHEME, new_id

KILLS = int(os.environ.get("SFUMATO_KILLS", "2"))
CLIENTS = 6


class Served:
    """A server process over a folder, which can be killed and started again."""

    def __init__(self, folder: Path, url: str | None) -> None:
        self._command = [sys.executable, "-m", "sfumato", "serve", str(folder), "--port", "0", "--per-address", "0"]
        self._command += [] if url is None else ["--database", url]
        self.port = 0
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        for _ in range(60):
            self._process = subprocess.Popen(self._command, stderr=subprocess.PIPE, text=True)
            for line in self._process.stderr:
                found = re.search(r"localhost:(\d+)", line)
                if found:
                    self.port = int(found[1])
                    return
            self._process.wait()
            self._process.stderr.close()
            time.sleep(0.2)  # the database is still on its way
        raise RuntimeError("the server does not start")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._process.stderr.close()


def ask(port: int, method: str, path: str, body=None, token: str | None = None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    headers = {"content-type": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


class Load:
    """People who answer until they are told to stop, each sending the same until it is acknowledged."""

    def __init__(self, served: Served) -> None:
        self.served, self.stop = served, threading.Event()
        self.acknowledged: dict[str, str] = {}
        self.sent: set[str] = set()
        self.wrong: list[object] = []
        self._threads = [threading.Thread(target=self._answer) for _ in range(CLIENTS)]

    def run(self) -> None:
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        self.stop.set()
        for thread in self._threads:
            thread.join()

    def _answer(self) -> None:
        while not self.stop.is_set():
            id = new_id()
            self.sent.add(id)
            body = {
                "id": id,
                "fingerprint": SCHEME.fingerprint,
                "answers": {"car": int(id, 16) % 2, "sex": int(id, 16) % 3},
            }
            while id not in self.acknowledged:
                try:
                    status, answer = ask(self.served.port, "POST", "/v1/studies/commuting/responses", body)
                except (OSError, http.client.HTTPException, ValueError):
                    time.sleep(0.02)  # no answer: the same again
                    continue
                if status in (200, 201):
                    self.acknowledged[id] = answer["receipt"]
                elif status != 503:
                    self.wrong.append(answer)
                    return


def test_kills_lose_nothing_and_count_nothing_twice(folder, url, request):
    database = None if url is None else request.getfixturevalue("postgres")
    served = Served(folder, url)
    served.start()
    admin = (folder / "admin.token").read_text().strip()
    fields = {"id": "commuting", "scheme": SCHEME.to_dict(), "minimum": 2}
    assert ask(served.port, "POST", "/v1/studies", fields, admin)[0] == 201
    assert ask(served.port, "POST", "/v1/studies/commuting/open", None, admin)[0] == 200
    load = Load(served)
    load.run()
    try:
        for number in range(KILLS):
            before = len(load.acknowledged)
            for _ in range(400):  # the kill falls into running work
                if len(load.acknowledged) > before + 20:
                    break
                time.sleep(0.02)
            if database is not None and number % 2 == 0:
                database.kill()
                database.start()
                if number % 4 == 0:
                    continue  # this time the server lives on, and must find its database again
            served.kill()
            served.start()
        for _ in range(500):
            if len(load.acknowledged) > before + 40:
                break
            time.sleep(0.02)
    finally:
        load.join()
    try:
        assert load.wrong == []
        assert len(load.acknowledged) > 20 * KILLS and set(load.acknowledged) == load.sent
        progress = ask(served.port, "GET", "/v1/studies/commuting/progress", None, admin)[1]
        assert progress["responses"] == len(load.sent)
        released = ask(served.port, "GET", "/v1/studies/commuting/estimates?names=car,sex", None, admin)[1]["released"]
        expected = [0] * 6
        for id in load.sent:
            expected[int(id, 16) % 2 * 3 + int(id, 16) % 3] += 1
        assert released["counts"] == expected
        for id in list(load.sent)[:50]:
            status, answer = ask(served.port, "GET", f"/v1/studies/commuting/responses/{id}")
            assert (status, answer["receipt"]) == (200, load.acknowledged[id])
    finally:
        served.kill()
