"""How many single responses a server stores and acknowledges in a second: ``python -m benchmarks.collecting 60``.

``python -m benchmarks.collecting upload`` pushes a release of ten million rows and asks for estimates from them.

A server process on this machine, and clients on the same machine, so that both share its cores. Every response is a
request of its own, on a connection that is kept, and counts only once its acknowledgement has arrived: it is on the
disk then. The server's processor time is told too, which does not depend on what else the machine does, and so are the
bytes that a response takes on the way, without TLS, and in the database, with its indexes.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np
from sqlalchemy import create_engine, text

import sfumato as sf
from sfumato.service.client import Client
from sfumato.service.push import push

CONNECTIONS = 64


def scheme() -> sf.Scheme:
    """Five questions of a usual survey."""
    schema = sf.Schema(
        {
            "sex": sf.Categorical(("F", "M")),
            "age": sf.Numeric(15, 95, bins=16),
            "car": sf.Categorical(("no", "yes")),
            "income": sf.Ordinal(tuple("abcdefgh")),
            "town": sf.Categorical(tuple("abcdefghij")),
        }
    )
    return sf.Scheme.for_gamma(schema, 3)


def start(folder: Path, url: str | None = None) -> tuple[subprocess.Popen[str], str]:
    """A server process and its address."""
    command = [sys.executable, "-m", "sfumato", "serve", str(folder), "--port", "0", "--per-address", "1000000"]
    command += ["--per-token", "1000000"] if url is None else ["--per-token", "1000000", "--database", url]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        found = re.search(r"http://localhost:\d+", line)
        if found:
            return process, found[0]
    raise RuntimeError("the server does not start")


async def client(
    port: int, fingerprint: str, sizes: dict[str, int], until: float, waits: list[float], moved: Counter[str]
) -> None:
    """Responses one after the other on one connection; the time of each until it was acknowledged, and the bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    codes = {name: secrets.randbelow(size) for name, size in sizes.items()}
    rest = f'","fingerprint":"{fingerprint}","answers":{json.dumps(codes)}}}'.encode()
    head = b"POST /v1/studies/load/responses HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += b"Content-Length: "
    while time.perf_counter() < until:
        body = b'{"id":"' + secrets.token_hex(16).encode() + rest
        began = time.perf_counter()
        sent = head + str(len(body)).encode() + b"\r\n\r\n" + body
        writer.write(sent)
        answer = await reader.readuntil(b"\r\n\r\n")
        if not answer.startswith(b"HTTP/1.1 201 "):
            raise RuntimeError(answer.split(b"\r\n")[0].decode())
        length = re.search(rb"content-length: (\d+)", answer)
        assert length is not None
        await reader.readexactly(int(length[1]))
        moved.update({"sent": len(sent), "received": len(answer) + int(length[1])})
        waits.append(time.perf_counter() - began)
    writer.close()


def measure(seconds: float, url: str | None = None, folder: str | None = None) -> dict[str, float]:
    """Acknowledged responses a second, and how long they took."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        process, address = start(Path(place), url)
        try:
            admin = Client(address, (Path(place) / "admin.token").read_text().strip())
            made = scheme()
            admin.ask("POST", "/v1/studies", {"id": "load", "scheme": made.to_dict(), "minimum": 2})
            admin.ask("POST", "/v1/studies/load/open")
            waits: list[float] = []
            moved: Counter[str] = Counter()
            port = int(address.rpartition(":")[2])

            async def everybody() -> None:
                until = time.perf_counter() + seconds
                given = (port, made.fingerprint, made.output_sizes, until, waits, moved)
                await asyncio.gather(*(client(*given) for _ in range(CONNECTIONS)))

            began, busy, own = time.perf_counter(), _processor(process.pid), time.process_time()
            asyncio.run(everybody())
            took, busy = time.perf_counter() - began, _processor(process.pid) - busy
            own = time.process_time() - own
            stored = admin.ask("GET", "/v1/studies/load/progress")["responses"]
            assert stored == len(waits), "what is stored is not what was acknowledged"
            p50, p99 = (1000 * float(np.quantile(waits, q)) for q in (0.5, 0.99))
            return {
                "responses": len(waits),
                "a second": len(waits) / took,
                "p50 ms": p50,
                "p99 ms": p99,
                "server's processor time, µs a response": 1e6 * busy / len(waits),
                "clients' processor time, µs a response": 1e6 * own / len(waits),
                "bytes sent": moved["sent"] / len(waits),
                "bytes received": moved["received"] / len(waits),
                "bytes stored": _stored(Path(place), url) / stored,
            }
        finally:
            process.terminate()
            process.wait()
            if process.stderr is not None:
                process.stderr.close()


def _stored(folder: Path, url: str | None) -> float:
    """Bytes that the responses take in the database, with their indexes."""
    if url is None:
        with sqlite3.connect(folder / "sfumato.db") as base:
            base.execute("PRAGMA wal_checkpoint(PASSIVE)")
            (size,) = base.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()
        base.close()
        return float(size)
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        found = connection.execute(text("SELECT pg_total_relation_size('responses')")).scalar()
    engine.dispose()
    return float(found or 0)


def _processor(process: int) -> float:
    """Seconds of processor time that a process has used; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Memory(threading.Thread):
    """The most memory that a process and those which it started have held together, looked at twenty times a second."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.most, self._process, self._done = 0.0, process, threading.Event()

    def run(self) -> None:
        while not self._done.wait(0.05):
            self.most = max(self.most, sum(map(_resident, _family(self._process))))

    def stop(self) -> float:
        self._done.set()
        self.join()
        return self.most


def _family(process: int) -> list[int]:
    """A process and those which it started."""
    try:
        below = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    except OSError:
        return [process]
    return [process, *(one for child in below for one in _family(int(child)))]


def _resident(process: int) -> float:
    """MB of memory of its own: what processes share counts for each of them in parts."""
    try:
        found = re.search(r"Pss:\s+(\d+)", Path(f"/proc/{process}/smaps_rollup").read_text())
    except OSError:
        return 0.0
    return float(found[1]) / 1e3 if found else 0.0


def upload(rows: int) -> dict[str, float]:
    """Seconds to push a release and to ask about it, and the most memory that the server took."""
    rng = np.random.default_rng(0)
    made = scheme()
    with tempfile.TemporaryDirectory() as place:
        process, address = start(Path(place) / "data")
        try:
            admin = Client(address, (Path(place) / "data" / "admin.token").read_text().strip())
            admin.ask("POST", "/v1/studies", {"id": "load", "scheme": made.to_dict(), "minimum": 2})
            admin.ask("POST", "/v1/studies/load/open")
            token = admin.ask("POST", "/v1/tokens", {"role": "site", "study": "load"})["tokens"][0]["token"]
            codes = {c: rng.integers(0, size, rows).astype(np.uint16) for c, size in made.output_sizes.items()}
            file = sf.Release(codes, made, order="shuffled").save(Path(place) / "rows.parquet")
            memory = Memory(process.pid)
            memory.start()
            began = time.perf_counter()
            receipt = push(Client(address, token), file, "load")
            pushed = time.perf_counter() - began
            assert receipt["rows"] == rows
            began = time.perf_counter()
            for names in ("sex", "town", "age", "sex,town", "age,income"):
                assert admin.ask("GET", f"/v1/studies/load/estimates?names={names}")["answers"] == rows
            asked = time.perf_counter() - began
            size = file.stat().st_size / 1e6
            return {
                "rows": rows,
                "MB": size,
                "seconds to push": pushed,
                "seconds to ask 5 tables": asked,
                "server MB, with the process that reads": memory.stop(),
            }
        finally:
            process.terminate()
            process.wait()
            if process.stderr is not None:
                process.stderr.close()


def main() -> None:
    if sys.argv[1:2] == ["upload"]:
        found = upload(int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000)
        print(", ".join(f"{name} {value:,.1f}" for name, value in found.items()))
        return
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    url = os.environ.get("SFUMATO_DATABASE")
    found = measure(seconds, url)
    kind = "SQLite" if url is None else "PostgreSQL"
    print(f"{kind}: " + ", ".join(f"{name} {value:,.0f}" for name, value in found.items()))


if __name__ == "__main__":
    main()
