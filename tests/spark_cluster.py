"""A real Spark cluster on this machine, for tests: one master and two workers on the loopback."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

PATIENCE = 6000  # tenths of a second
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
        for _ in range(PATIENCE):
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


class ConnectServer:
    """A Spark Connect server on this machine."""

    def __init__(self, folder: Path) -> None:
        import pyspark

        home = Path(pyspark.__file__).parent
        port = _free_port()
        self.master = f"sc://127.0.0.1:{port}"
        settings = {
            "spark.connect.grpc.binding.port": port,
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.sql.shuffle.partitions": 2,
            "spark.ui.enabled": "false",
            "spark.local.dir": folder,
            "spark.sql.warehouse.dir": folder,
        }
        command = [home / "bin" / "spark-submit", "--master", "local[1]", "--driver-memory", "700m"]
        for name, value in settings.items():
            command += ["--conf", f"{name}={value}"]
        command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
        environment = {**os.environ, "SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
        self._log = folder / "connect.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen([str(one) for one in command], stdout=log, stderr=log, env=environment)
        for _ in range(PATIENCE):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                time.sleep(0.1)
        self.stop()
        raise RuntimeError(f"Spark Connect did not start: {self._log.read_text(errors='replace')[-500:]}")

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
