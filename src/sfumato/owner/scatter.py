"""The two steps of a shuffle that is larger than memory, each cut into pieces that can be done apart.

First every piece of the table is answered, and its rows go to buckets, at random or by their tags, in one file. Then
every bucket is gathered from all files, put in order, and is a file of the release. See ``sfumato.owner.shuffle`` for
why the order says nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sfumato.domains import Tally
from sfumato.errors import SchemaError
from sfumato.forms import read_scheme
from sfumato.owner.answers import Fresh, Keyed
from sfumato.owner.bucketed_rows import by_bucket
from sfumato.owner.request import RandomizeRequest, answered_batches
from sfumato.owner.request import finished as as_released
from sfumato.owner.shuffle import TAG, Shuffle, tags_of
from sfumato.owner.unfinished import Unit, beside, draft, finish, finished
from sfumato.randomness import SecureSource
from sfumato.reading.parquet_file import open_parquet
from sfumato.reading.parquet_folder import with_named_values
from sfumato.secrets.pseudonyms import Pseudonyms

if TYPE_CHECKING:
    import pyarrow as pa

Segments = dict[tuple[int, int], list[tuple[int, int]]]  # of every form and bucket: where they begin, and their bytes

_ROWS = 1 << 20  # read at a time: from so many on, sampling is compiled where numba is there


@dataclass(frozen=True)
class Job:
    """All that a process needs to know; it is sent to each of them once."""

    scheme: str
    key: bytes | None
    id: str | None
    pseudonyms: Pseudonyms | None
    clear_ids: bool
    folder: Path
    buckets: int  # a power of two, at most 2^16
    pieces: tuple[Unit, ...]
    threads: bool = True  # whether files may be read by several threads: where no other process wants the processors

    def __reduce__(self) -> tuple[Any, ...]:  # to another process, without the ciphers
        return Job, tuple(getattr(self, field.name) for field in fields(self))

    @cached_property
    def request(self) -> RandomizeRequest:
        src = SecureSource()
        answers = Fresh(src) if self.key is None else Keyed(self.key, src)
        scheme = read_scheme(self.scheme)
        return RandomizeRequest(scheme, self.id, answers, self.pseudonyms, self.clear_ids, False, src)

    @cached_property
    def segments(self) -> dict[Path, Segments]:
        """Where the segments of pieces stand, as far as they were asked for: of this job only, for another run of the
        same process draws other answers into files of the same names."""
        return {}

    def drawn(self, unit: Unit) -> Path:
        """The file of a piece's answers."""
        return self.folder / f"drawn-{unit.number:06d}.arrows"

    def gathered(self, form: int, bucket: int) -> Path:
        """The file of a bucket's rows, as it is released."""
        return self.folder / "release" / self.place(form) / f"part-{bucket:05d}.parquet"

    def place(self, form: int) -> str:
        """The folder of a form inside the release."""
        return f"form={form}" if len(self.request.schemes) > 1 else "."


def answer_unit(job: Job, unit: Unit) -> tuple[Unit, Tally, str]:
    """Answer a piece, unless that is done: rows in buckets, a segment for each form and bucket.

    Tells how many values were moved into their domains, and the digest of the answers.
    """
    import pyarrow as pa

    path = job.drawn(unit)
    known = finished(path)
    if known is not None:
        return unit, Tally(known["moved"]), known["sha256"]
    moved = Tally()
    held: dict[int, list[pa.RecordBatch]] = {}
    for batch in _unit_batches(job, unit):
        for form, answered in answered_batches(batch, job.request, moved=moved):
            held.setdefault(form, []).append(answered)
    segments: list[tuple[int, int, int, int]] = []
    with draft(path).open("wb") as out:
        for form, batches in sorted(held.items()):
            whole = pa.Table.from_batches(batches).combine_chunks()
            moved_rows, ends = by_bucket(whole, _buckets(job, whole), job.buckets)
            (sorted_rows,) = moved_rows.combine_chunks().to_batches()
            start = 0
            for bucket, end in enumerate(ends):
                if end > start:
                    at = out.tell()
                    buffer = _with_schema(sorted_rows.slice(start, end - start))
                    out.write(buffer)
                    segments.append((form, bucket, at, buffer.size))
                start = end
    told = finish(path, {"segments": segments, "rows": unit.rows, "moved": moved})
    return unit, moved, told["sha256"]


def gather_bucket(job: Job, form: int, bucket: int, drawn: str) -> tuple[str, dict[str, Any]]:
    """One file of the release, unless it is there: the rows of a bucket from all pieces, in their new order.

    ``drawn`` is the digest of all answers. A file that was gathered from others lacks some rows, and has others twice.
    """
    import pyarrow.parquet as pq

    path = job.gathered(form, bucket)
    name = path.relative_to(job.folder / "release").as_posix()
    known = finished(path)
    if known is not None and known.get("drawn") == drawn:
        return name, known
    path.parent.mkdir(parents=True, exist_ok=True)
    rows, sink = 0, None
    with Shuffle(None, job.request.source, job.pseudonyms is not None) as mixed:
        for batch in _segments(job, form, bucket):
            mixed.add(batch)
            rows += batch.num_rows
        for batch in mixed.rows():
            ready = as_released(batch, job.request)
            if sink is None:
                sink = pq.ParquetWriter(str(draft(path)), ready.schema, **_packing(job))
            sink.write_batch(ready)
    if sink is None:
        path.unlink(missing_ok=True)
        return name, {}
    sink.close()
    return name, finish(path, {"rows": rows, "drawn": drawn})


def repeated_in_bucket(job: Job, bucket: int) -> int:
    """How many tags occur more than once, in whatever forms: equal ones meet in the same bucket of each."""
    forms = range(len(job.request.schemes))
    tags = [tags_of(batch.column(TAG)) for form in forms for batch in _segments(job, form, bucket)]
    if not tags:
        return 0
    _, times = np.unique(np.concatenate(tags).view("S16"), return_counts=True)
    return int((times > 1).sum())


def _packing(job: Job) -> dict[str, Any]:
    """As a release in one file is packed: pseudonyms are random, and nothing is found in them but time."""
    columns = list(job.request.scheme.columns)
    packed = dict.fromkeys(columns, "zstd")
    if job.id is not None:
        packed[job.id] = "zstd" if job.clear_ids else "none"
    return {"compression": packed, "use_dictionary": columns}


def _buckets(job: Job, whole: pa.Table) -> NDArray[np.unsignedinteger[Any]]:
    """The bucket of every row: at random, or by its tag."""
    bits = job.buckets.bit_length() - 1
    if job.pseudonyms is not None:
        (column,) = whole.column(TAG).chunks
        words = tags_of(column)[:, :2]
    else:
        words = np.empty((whole.num_rows, 1 if bits <= 8 else 2), dtype=np.uint8)
        job.request.source.fill(words.reshape(-1))
    if bits <= 8:
        return words[:, 0] >> np.uint8(8 - bits) if bits else np.zeros(len(words), dtype=np.uint8)
    return np.ascontiguousarray(words).view(">u2").reshape(-1).astype(np.uint16) >> np.uint16(16 - bits)


def _segments(job: Job, form: int, bucket: int) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    for unit in job.pieces:
        for at, size in _listed(job, unit).get((form, bucket), []):
            with job.drawn(unit).open("rb") as given:
                given.seek(at)
                yield pa.ipc.open_stream(pa.py_buffer(given.read(size))).read_next_batch()


def _listed(job: Job, unit: Unit) -> Segments:
    """Where the segments of a piece stand, read once."""
    path = job.drawn(unit)
    if path not in job.segments:
        told = json.loads(beside(path).read_text(encoding="utf-8"))
        found: Segments = {}
        for form, bucket, at, size in told["segments"]:
            found.setdefault((form, bucket), []).append((at, size))
        job.segments[path] = found
    return job.segments[path]


def _with_schema(batch: pa.RecordBatch) -> Any:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as out:
        out.write_batch(batch)
    return sink.getvalue()


def _unit_batches(job: Job, unit: Unit) -> Iterator[pa.RecordBatch]:
    """The raw rows of a piece; a file that cannot be read is named."""
    wanted = [*job.request.scheme.schema.names, *([job.id] if job.id is not None else [])]
    rows = 0
    with open_parquet(unit.file, wanted) as file:
        own = [name for name in wanted if name in file.schema_arrow.names]
        for batch in file.iter_batches(
            batch_size=_ROWS, row_groups=list(unit.groups), columns=own, use_threads=job.threads
        ):
            rows += batch.num_rows
            yield with_named_values(batch, wanted, dict(unit.named))
    if rows != unit.rows:
        raise SchemaError(f"{unit.file}: {rows} of {unit.rows} rows could be read; it is cut short")
