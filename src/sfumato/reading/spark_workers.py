"""Functions of ours on Spark's workers, which need not have the package installed.

A function is sent as its name. On this machine the worker finds the package where it is here; for workers elsewhere,
and for Spark Connect, the package itself is sent along once for each session.
"""

from __future__ import annotations

import atexit
import os
import pickle
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from sfumato.reading.spark_session import works_here

_PACKAGE = Path(__file__).parents[1]
#: What a worker runs before it knows the package: by value, so it must not name anything of ours.
_LOADER = """
def run(batches):
    import importlib, os, pickle, sys
    if os.path.isdir(path) and path not in sys.path:
        sys.path.append(path)
    return getattr(importlib.import_module(module), name)(*pickle.loads(arguments), batches)
"""
_shipped: WeakKeyDictionary[Any, Path] = WeakKeyDictionary()


def map_batches(frame: Any, work: Callable[..., Iterator[Any]], arguments: tuple[Any, ...], columns: str) -> Any:
    """``frame.mapInArrow(work)``: a function of some module of ours, called with the arguments and then the batches."""
    session = frame.sparkSession
    context = None if _is_connect(session) else session.sparkContext
    if context is None or not works_here(str(context.master)):
        _ship(session, context)
    scope = {
        "__name__": "__main__",  # so that it is pickled by value
        "path": str(_PACKAGE.parent),
        "module": work.__module__,
        "name": work.__name__,
        "arguments": pickle.dumps(arguments),
    }
    exec(_LOADER, scope)
    with _own_python(context):
        return frame.mapInArrow(scope["run"], columns)


def place_of_partition() -> int:
    """On a worker: the number of the partition that is computed."""
    from pyspark import TaskContext

    here = TaskContext.get()
    return 0 if here is None else int(here.partitionId())


def _is_connect(session: Any) -> bool:
    return type(session).__module__.startswith("pyspark.sql.connect")


@contextmanager
def _own_python(context: Any) -> Iterator[None]:
    """Workers of this machine run this Python where nobody chose another one: the system's has no package of ours."""
    chosen = context is None or "PYSPARK_PYTHON" in os.environ or not works_here(str(context.master))
    if chosen or context.getConf().get("spark.pyspark.python"):
        yield
        return
    before, context.pythonExec = context.pythonExec, sys.executable
    try:
        yield
    finally:
        context.pythonExec = before


def _ship(session: Any, context: Any) -> None:
    """Send the package to the workers of a session, once."""
    if session in _shipped:
        return
    folder = tempfile.mkdtemp(prefix="sfumato-spark-")  # kept as long as workers may ask for what is in it
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = Path(folder) / "sfumato.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for source in sorted(_PACKAGE.rglob("*.py")):
            inside = source.relative_to(_PACKAGE.parent)
            out.write(source, inside)
            compiled = Path(cache_from_source(str(source)))
            if compiled.exists():  # else every worker compiles all modules for itself
                out.write(compiled, inside.with_suffix(".pyc"))
    if context is None:
        session.addArtifacts(str(path), pyfile=True)
    else:
        context.addPyFile(str(path))
    _shipped[session] = path
