"""A PostgreSQL of the tests' own: in a folder, on a socket, started and killed as they like."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path


def programs() -> Path | None:
    """The folder of PostgreSQL's programs, where it is installed."""
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    return max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)


class Postgres:
    """One cluster. As root it runs as the user postgres: it refuses to run as root."""

    def __init__(self) -> None:
        self._bin = programs()
        self._user = "postgres" if os.name == "posix" and os.geteuid() == 0 else None
        self.folder = Path(tempfile.mkdtemp(dir=_fast()))
        if self._user:
            shutil.chown(self.folder, self._user)
        self._run("initdb", "-D", "data", "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def _run(self, name: str, *arguments: str) -> None:
        subprocess.run(
            [self._bin / name, *arguments], cwd=self.folder, user=self._user, check=True, capture_output=True
        )

    def start(self) -> None:
        """Start it, again and again while children of one that was killed still live: it refuses to share with them."""
        options = ["-c", "listen_addresses=", "-k", str(self.folder), "-c", "max_connections=40"]
        for _ in range(600):
            if self._process is None or self._process.poll() is not None:
                self._process = subprocess.Popen(
                    [self._bin / "postgres", "-D", "data", *options],
                    cwd=self.folder,
                    user=self._user,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
            if subprocess.run([self._bin / "pg_isready", "-q", "-h", self.folder]).returncode == 0:
                return
            time.sleep(0.05)
        raise RuntimeError("PostgreSQL does not start")

    def clear(self) -> None:
        """An empty database."""
        sql = "DROP SCHEMA public CASCADE; CREATE SCHEMA public"
        self._run("psql", "-q", "-h", str(self.folder), "-U", "postgres", "-c", sql)

    def kill(self) -> None:
        """As a power failure would: kill -9 of the postmaster, whose children then go by themselves."""
        self._process.kill()
        self._process.wait()
        (self.folder / "data" / "postmaster.pid").unlink(missing_ok=True)

    def stop(self) -> None:
        self._process.send_signal(signal.SIGINT)  # at once: SIGTERM waits for connections that a failed test left
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def _fast() -> str | None:
    """Memory instead of a disk, where there is one: tests wait for thousands of commits."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
