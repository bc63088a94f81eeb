"""The process that reads pushed files: ``python -m sfumato.service.reader``, and the call that starts it.

It has a limit on its memory and its time: a hostile file may exhaust or crash the library that reads it, but not the
server.
"""

from __future__ import annotations

import json
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sfumato.errors import ReleaseError, SfumatoError
from sfumato.service import own_process
from sfumato.service.counted_files import examine_counts, is_json
from sfumato.service.intake import Intake, examine
from sfumato.service.packed_tables import packed
from sfumato.service.parties import Held, check_repeated, joined
from sfumato.service.refusals import RefusalError, busy
from sfumato.service.rewritten import rewrite
from sfumato.service.study import Study

_TIME = 600  # seconds of that process
#: Processes that read at a time, and requests that may wait for one, half of them of one token: many files at once
#: shall not fill the machine, and those of one site not keep the files of others out.
_READERS = threading.BoundedSemaphore(2)
_LINE = 8
_waiting: Counter[str] = Counter()
_counting = threading.Lock()


def read(
    study: Study, file: Path, others: Sequence[Held], apart: bool = True, rewritten: Path | None = None
) -> tuple[dict[str, Any], bytes]:
    """What a pushed file holds, and its tables; refused where it does not fit, or cannot be read within the limits.

    The columns of a party, and counts, are also written to ``rewritten``, in the server's own way.
    """
    return _ask(study, file.parent, {"file": str(file), "others": list(others)}, apart, rewritten)


def join(study: Study, folder: Path, held: Sequence[Held], apart: bool = True) -> tuple[dict[str, Any], bytes]:
    """What the files of several parties hold together, and the tables of it."""
    return _ask(study, folder, {"join": list(held)}, apart)


@contextmanager
def in_line(token: str) -> Iterator[None]:
    """A place among those who wait for a process that reads; whoever finds none is asked to come back."""
    with _counting:
        if _waiting.total() >= _LINE or _waiting[token] >= max(_LINE // 2, 1):
            raise RefusalError("busy", "many files are being read: ask again in a moment", seconds=10)
        _waiting[token] += 1
    try:
        yield
    finally:
        with _counting:
            _waiting[token] -= 1
            if not _waiting[token]:
                del _waiting[token]


def _ask(
    study: Study, folder: Path, what: dict[str, Any], apart: bool, rewritten: Path | None = None
) -> tuple[dict[str, Any], bytes]:
    with _room(folder) as place:
        counts, rows = Path(place) / "counts", Path(place) / "rows.parquet"
        request = {
            "study": study.id,
            "document": dict(study.document),
            "counts": str(counts),
            "rows": str(rows),
            **what,
        }
        answer = _apart(request) if apart else answered(request)
        if "full" in answer:
            raise busy()
        if "taken" not in answer:
            raise RefusalError("refused", answer["refused"]["message"], **answer["refused"]["details"])
        if rewritten is not None and answer["rewritten"] is not None:
            Path(answer["rewritten"]).replace(rewritten)
        return answer["taken"], counts.read_bytes()


def _room(folder: Path) -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(dir=folder)
    except OSError:
        raise busy() from None


def _apart(request: dict[str, Any]) -> dict[str, Any]:
    try:
        with _READERS:
            return own_process.ask("sfumato.service.reader", json.dumps(request).encode(), _TIME)
    except own_process.NoAnswerError as problem:
        raise RefusalError("refused", _failed(request, problem.late)) from None


def _failed(request: dict[str, Any], late: bool = False) -> str:
    if "join" in request:
        much = "long" if late else "much memory"
        return f"its columns cannot be joined with those of other parties: it takes too {much}"
    return "the file takes too long to read" if late else "the file cannot be read, or takes too much memory"


def answered(request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request; tables go to the file that it names."""
    study = Study(request["study"], request["document"], "open", 0)
    try:
        if "join" in request:
            found = joined(study, request["join"])
        else:
            found = _examined(Path(request["file"]), study, request["others"])
        return _written(request, found)
    except RefusalError as refusal:
        return {"refused": {"message": str(refusal), "details": refusal.details}}
    except SfumatoError as problem:
        return {"refused": {"message": _without_paths(str(problem), request), "details": {}}}
    except MemoryError:
        return {"refused": {"message": _failed(request), "details": {}}}


def _written(request: dict[str, Any], found: Intake) -> dict[str, Any]:
    """What was found, its tables in a file; a disk that is full is no fault of what was pushed."""
    counts = Path(request["counts"])
    try:
        made = None if "join" in request else rewrite(Path(request["file"]), found, counts.parent)
        counts.write_bytes(packed(found.forms))
    except (OSError, ReleaseError):
        return {"full": True}
    return {"taken": found.about(), "rewritten": None if made is None else str(made)}


def _without_paths(said: str, request: dict[str, Any]) -> str:
    """A message in which files are not called by their places on this machine, which hold the digests of others'."""
    said = said.replace(request["file"], "the file") if "file" in request else said
    for other in (*request.get("others", ()), *request.get("join", ())):
        said = said.replace(other["file"], "a file of another upload")
    return said


def main() -> None:
    """Read a request on standard input, answer on standard output."""
    request = json.load(sys.stdin)
    own_process.limit_memory()
    sys.stdout.write(json.dumps(answered(request)))


def _examined(path: Path, study: Study, others: Sequence[Held]) -> Intake:
    if is_json(path):
        return examine_counts(path, study, others)
    found = examine(path, study)
    check_repeated(path, found, others, study)
    return found


if __name__ == "__main__":
    main()
