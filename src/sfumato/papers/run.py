"""Running the entries: in parallel, each kept in a file when it is done, so that a second run goes on from there."""

from __future__ import annotations

import hashlib
import json
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import cache
from importlib import resources
from multiprocessing import active_children, get_context
from pathlib import Path
from textwrap import wrap
from typing import Any

from sfumato import datasets
from sfumato.errors import SfumatoError, without_warnings
from sfumato.pages.chart import svg
from sfumato.papers.figure import Figure, Found, Row, verdict_of
from sfumato.papers.registry import figures
from sfumato.threads import one_thread

FORMAT = "sfumato gallery entry 1"
#: Letters of a title to an inch, and the inches of a line.
_LETTERS, _LINE = 15.5, 0.15


@dataclass(frozen=True)
class Result:
    """What an entry gave, and the seconds of processor time it took.

    ``missing`` says how to get the data, where it needs some that are not bundled.
    """

    id: str
    rows: tuple[Row, ...]
    runs: int
    picture: str
    seconds: float
    missing: str = ""

    @property
    def verdict(self) -> str:
        return verdict_of(self.rows)

    def document(self) -> dict[str, Any]:
        """Everything but the picture, for machines."""
        kept = asdict(self)
        kept.pop("picture")
        return {**kept, "verdict": self.verdict}


def result_of(figure: Figure, fast: bool) -> Result:
    """Measure one entry and draw it."""
    began = time.process_time()
    for name in figure.needs:
        try:
            datasets.load(name)
        except SfumatoError as problem:
            return Result(figure.id, (), 0, "", 0.0, str(problem))
    with one_thread(), without_warnings():  # the papers' settings
        found = figure.measure(fast)
    return Result(figure.id, found.rows, found.runs, picture(figure, found), time.process_time() - began)


def picture(figure: Figure, found: Found) -> str:
    """The drawing as SVG; its title names paper and figure, and says what is claimed."""
    width, height = figure.size
    head = [f"{figure.name}: {figure.title}", *wrap(f"The paper: {figure.claim}", int(_LETTERS * width))]

    def draw(canvas: Any) -> None:
        figure.draw(canvas, found)
        canvas.suptitle("\n".join(head), x=0.01, ha="left", fontsize=9)

    return svg(draw, width, height + _LINE * len(head), figure.id, f"{figure.name}. {figure.title}. {figure.claim}")


def run(
    wanted: Sequence[Figure], folder: Path, fast: bool, jobs: int, done: Callable[[Result, bool], None]
) -> list[Result]:
    """All results, in the order asked for; ``done(result, kept)`` is told of each, and whether it was there already."""
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Result] = {}
    todo = []
    for figure in wanted:
        kept = _read(_file(folder, figure.id, fast), fast)
        if kept is None:
            todo.append(figure)
        else:
            found[figure.id] = kept
            done(kept, True)
    todo.sort(key=lambda figure: not figure.heavy)
    for result in _results(todo, fast, min(jobs, len(todo))):
        if not result.missing:  # the data may be there next time
            _write(_file(folder, result.id, fast), result, fast)
        found[result.id] = result
        done(result, False)
    return [found[figure.id] for figure in wanted]


def _results(todo: Sequence[Figure], fast: bool, jobs: int) -> Iterator[Result]:
    if jobs <= 1:
        for figure in todo:
            yield result_of(figure, fast)
        return
    others = set(active_children())
    # a fresh process for each worker: a fork would inherit the threads of numpy and Arrow
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_leave_interrupts_alone)
    finished = False
    try:
        for future in as_completed([pool.submit(_work, figure.id, fast) for figure in todo]):
            yield future.result()
        finished = True
    finally:
        if not finished:  # an error, or an interrupt: what the workers are at is not waited for
            for worker in set(active_children()) - others:
                worker.terminate()
        pool.shutdown(wait=True, cancel_futures=True)


def _leave_interrupts_alone() -> None:
    """Ctrl-C reaches every process of a terminal; the one that collects the results decides."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _work(name: str, fast: bool) -> Result:
    return result_of(figures()[name], fast)


@cache
def source_digest() -> str:
    """A digest of the package's sources: what was kept counts only while they are the same."""
    root = resources.files("sfumato")
    digest = hashlib.sha256()
    for path in sorted(Path(str(root)).rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _file(folder: Path, name: str, fast: bool) -> Path:
    return folder / f"{name}{'-fast' if fast else ''}.json"


def _write(path: Path, result: Result, fast: bool) -> None:
    document = {"format": FORMAT, "sources": source_digest(), "fast": fast, **asdict(result)}
    half = path.with_suffix(".part")
    half.write_text(json.dumps(document), encoding="utf-8")
    half.replace(path)


def _read(path: Path, fast: bool) -> Result | None:
    """What was kept, unless it is of other sources or was cut short."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if (document.pop("format"), document.pop("sources"), document.pop("fast")) != (FORMAT, source_digest(), fast):
            return None
        rows = tuple(Row(**row) for row in document.pop("rows"))
        return Result(rows=rows, **document)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
