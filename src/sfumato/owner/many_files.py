"""Parquet of any size to a release in a folder: in pieces, by several processes, to be taken up after an interrupt."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from sfumato.domains import Tally, warn_moved
from sfumato.errors import OutsideDomainError, ReleaseError, SchemaError, SchemeError
from sfumato.forms import Forms
from sfumato.input_checks import check_flags, check_progress, path_of
from sfumato.owner.ledger import Ledger
from sfumato.owner.randomize import How, booked, take_down
from sfumato.owner.request import RandomizeRequest
from sfumato.owner.scatter import Job, answer_unit, gather_bucket, repeated_in_bucket
from sfumato.owner.shuffle import repeated_ids
from sfumato.owner.unfinished import Unfinished, units
from sfumato.owner.worker_processes import workers
from sfumato.reading import tables
from sfumato.reading.parquet_folder import check_alike
from sfumato.release import Release
from sfumato.released.release_folder import describe_folder
from sfumato.scheme import Scheme
from sfumato.secrets.keys import subkey
from sfumato.secrets.pseudonyms import Pseudonyms
from sfumato.writing.description import check_raw
from sfumato.writing.whole_files import check_distinct
from sfumato.writing.whole_folders import check_folder, in_words, take_place

#: Rows that are answered at a time: what an interrupt can cost at most, for each process.
ROWS_IN_A_UNIT = 1 << 22
#: Rows of a file of the release, at most about.
ROWS_IN_A_PART = 1 << 21
_MOST_PARTS = 4096


def randomize_folder(
    source: str | Path,
    target: str | Path,
    scheme: Scheme | Forms,
    key: bytes | None = None,
    id: str | None = None,
    link_key: bytes | None = None,
    *,
    jobs: int | None = None,
    overwrite: bool = False,
    progress: Callable[[int], None] | None = None,
    ledger: Ledger | str | Path | None = None,
    again: bool = False,
    **how: Unpack[How],
) -> Release:
    """Randomize Parquet, a file or a folder of files, into a folder of Parquet files with its scheme beside them.

    Memory stays flat, and ``jobs`` processes share the work (by default as many as there are processors). The folder is
    whole or not there. After an interrupt the same call goes on where it was: pieces that were finished are kept, and
    their answers are not drawn a second time. Everything else is as ``randomize`` has it; the rows are shuffled.
    """
    origin, path = path_of(SchemaError, "source", source), path_of(SchemaError, "target", target)
    check_flags(SchemaError, overwrite=overwrite)
    check_progress(SchemaError, progress)
    check_raw(origin)
    if how.get("order", "shuffle") != "shuffle" or how.get("rng") is not None:
        raise SchemeError("a release in a folder is shuffled and secure: order and rng are for sf.randomize")
    if tables.suffix(origin) in tables.CSV:
        raise SchemaError(f"{origin}: a release in a folder is made of Parquet, a file or a folder of files")
    request = RandomizeRequest.of(scheme, key, id, link_key, **how)
    check_distinct({"the source": origin}, {"the target": path, "the ledger": ledger})
    check_folder(path, origin, overwrite)
    wanted = [*scheme.schema.names, *([id] if id is not None else [])]
    tables.check_has(origin, wanted)
    if origin.is_dir():
        check_alike(origin, wanted)
    pieces = units(origin, ROWS_IN_A_UNIT)
    if not pieces:
        raise SchemaError("the table is empty: there is nothing to randomize")
    lasting = key is not None or link_key is not None
    with (
        _kept_when_full(path),
        Unfinished(path, request, origin, pieces, request.link if lasting else None) as work,
        booked(ledger, scheme, key, again, id, work.announced) as booking,
    ):
        if id is not None and not lasting:
            request = replace(request, pseudonyms=Pseudonyms(subkey(work.secret, "sfumato pseudonyms 2")))
        if booking is not None and id is not None:
            take_down(origin, request, id, booking)
        parts = min(1 << (sum(unit.rows for unit in pieces) // ROWS_IN_A_PART).bit_length(), _MOST_PARTS)
        processes = min(jobs or os.cpu_count() or 1, len(pieces))
        job = Job(
            scheme.to_json(),
            key,
            id,
            request.pseudonyms,
            request.clear_ids,
            work.folder,
            parts,
            tuple(pieces),
            threads=processes == 1,
        )
        inside = [job.place(form) for form in range(len(request.schemes))]
        known, drawn = _carried_out(job, origin, processes, progress)
        made = work.folder / "release"
        links = [request.link] * len(request.schemes)
        describe_folder(made, request.schemes, links, id, request.order, inside, known)
        for note in [*made.rglob("*.parquet.json"), *made.rglob("*.draft")]:
            note.unlink()
        work.check_source()
        check_folder(path, origin, overwrite)  # before anything is booked
        if booking is not None:
            booking.draft = work.announce(drawn)
            booking.settle()
        take_place(made, path, origin, overwrite)
        work.remove()
    return Release.load(path)


def _carried_out(
    job: Job, source: Path, processes: int, progress: Callable[[int], None] | None
) -> tuple[dict[str, dict[str, Any]], str]:
    """Both steps, all pieces; what was noted of every file of the release, and the digest of all answers."""
    moved, known, forms = Tally(), {}, len(job.request.schemes)
    digests: dict[int, str] = {}
    buckets = [(form, bucket) for form in range(forms) for bucket in range(job.buckets)]
    total = sum(unit.rows for unit in job.pieces)
    try:
        with workers(job, processes) as run:
            for unit, own, digest in run(answer_unit, [(unit,) for unit in job.pieces]):
                moved.update(own)
                digests[unit.number] = digest
                if progress is not None:
                    progress(unit.rows // 2)
            drawn = hashlib.sha256("".join(digests[number] for number in sorted(digests)).encode()).hexdigest()
            if forms > 1 and job.pseudonyms is not None:  # of one form, the shuffle tells
                repeated = sum(run(repeated_in_bucket, [(bucket,) for bucket in range(job.buckets)]))
                if repeated:
                    raise SchemaError(repeated_ids(repeated))
            done = sum(unit.rows // 2 for unit in job.pieces)
            for count, (name, told) in enumerate(run(gather_bucket, [(*one, drawn) for one in buckets]), 1):
                if told:
                    known[name] = {field: told[field] for field in ("rows", "bytes", "sha256")}
                if progress is not None:
                    reached = done + (total - done) * count // len(buckets)
                    progress(reached - (done + (total - done) * (count - 1) // len(buckets)))
    except OutsideDomainError as problem:
        raise job.request.scheme.schema.count_outside(source, problem) from None
    warn_moved(job.request.scheme.schema, moved, stacklevel=4)
    return known, drawn


@contextmanager
def _kept_when_full(path: Path) -> Iterator[None]:
    """A disk that is full, or no disk, in one line."""
    try:
        yield
    except OSError as problem:
        if isinstance(problem, ReleaseError | SchemaError):
            raise
        raise ReleaseError(f"{path}: {in_words(problem)}; what was finished is kept, run the same again") from None
