"""A real Spark cluster on this machine, for tests: one master and two workers on the loopback."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

_MASTER = "org.apache.spark.deploy.master.Master"
_WORKER = "org.apache.spark.deploy.worker.Worker"


class Cluster:
    """One master and two workers of one core each, every one a process (and an executor) of its own."""

    def __init__(self, folder: Path) -> None:
        import pyspark

        self._folder = folder
        self._home = Path(pyspark.__file__).parent
        self.port = _free_port()
        self.master = f"spark://127.0.0.1:{self.port}"
        self._processes: list[subprocess.Popen[bytes]] = []
        self._start("master", _MASTER, "--port", str(self.port), "--webui-port", "0")
        self.workers = [self._start_worker(number) for number in range(2)]
        self._wait_for("worker-0", "Successfully registered with master")
        self._wait_for("worker-1", "Successfully registered with master")

    def kill(self, number: int) -> None:
        """End a worker as a power failure does, and the executors that it began."""
        worker = self.workers[number]
        children = subprocess.run(["pgrep", "-P", str(worker.pid)], capture_output=True, text=True).stdout.split()
        for process in [worker.pid, *map(int, children)]:
            os.kill(process, signal.SIGKILL)
        worker.wait()

    def restart(self, number: int) -> None:
        """Begin the worker again."""
        (self._folder / f"worker-{number}.log").unlink()
        self.workers[number] = self._start_worker(number)
        self._wait_for(f"worker-{number}", "Successfully registered with master")

    def stop(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait()

    def _start_worker(self, number: int) -> subprocess.Popen[bytes]:
        work = str(self._folder / f"work-{number}")
        wanted = ("--cores", "1", "--memory", "700m", "--webui-port", "0", "--work-dir", work, self.master)
        return self._start(f"worker-{number}", _WORKER, *wanted)

    def _start(self, name: str, main: str, *arguments: str) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "SPARK_HOME": str(self._home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_LOCAL_DIRS": str(self._folder / "local"),
        }
        environment.pop("PYSPARK_PYTHON", None)
        command = [str(self._home / "bin" / "spark-class"), main, "--host", "127.0.0.1", *arguments]
        with (self._folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        self._processes.append(process)
        if main == _MASTER:
            self._wait_for(name, "I have been elected leader")
        return process

    def _wait_for(self, name: str, line: str) -> None:
        log = self._folder / f"{name}.log"
        for _ in range(1200):
            if line in log.read_text(errors="replace"):
                return
            time.sleep(0.1)
        raise RuntimeError(f"{name} did not start: {log.read_text(errors='replace')[-500:]}")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def run_driver(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A Python of its own, since a process has one Spark only; without PYSPARK_PYTHON, as a first run is."""
    environment = {name: value for name, value in os.environ.items() if name != "PYSPARK_PYTHON"}
    return subprocess.run(
        [sys.executable, str(script), *arguments], capture_output=True, text=True, env=environment, timeout=600
    )
