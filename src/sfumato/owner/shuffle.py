"""Released rows in an order that says nothing about the order of the raw rows, whatever their number.

Rows go to 256 buckets at random, or by the first byte of their tag (a pseudonym of 16 bytes), and each bucket is put
in a random order, or sorted by tag, in memory. One bucket after the other, that is a uniformly random order of all
rows, or the order of the tags. Rows beyond a few million lie in a nameless file beside the target meanwhile: it holds
randomized rows only and vanishes with the process, however that ends. Equal tags meet in their bucket and are refused.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sfumato.arrays import Bytes
from sfumato.errors import SchemaError
from sfumato.owner.packed_rows import pack, unpack
from sfumato.owner.permutation import random_numbers, random_order, shuffled, sorted_order
from sfumato.randomness import Source
from sfumato.reading import tables

if TYPE_CHECKING:
    import pyarrow as pa

#: The column of tags; no attribute can have this name in a file.
TAG = "\0tag"
#: Rows that are held before they go to their buckets; a smaller table never touches the disk.
HELD_ROWS = 1 << 21
HELD_BYTES = 1 << 26
BUCKETS = 256
_LEAST_BYTES = 1 << 18


class Shuffle:
    """Takes rows in any order with ``add`` and gives them back in another with ``rows``.

    ``folder`` is where rows lie that are too many to hold; None holds them all. With ``tagged`` the rows carry TAG,
    decide their order by it and must differ in it; else the order comes from ``src``. ``share`` is how many of these
    share the memory.
    """

    def __init__(self, folder: Path | None, src: Source, tagged: bool, share: int = 1) -> None:
        self._folder, self._source, self._tagged = folder, src, tagged
        self._most_rows, self._most_bytes = HELD_ROWS // share, max(HELD_BYTES // share, _LEAST_BYTES)
        self._held: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0
        self._file: Any = None
        self._segments: list[list[tuple[int, int]]] = [[] for _ in range(BUCKETS)]
        self._repeated = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.clear()
        if self._file is not None:
            self._file.close()

    def add(self, batch: pa.RecordBatch) -> None:
        self._held.append(batch)
        self._rows += batch.num_rows
        self._bytes += batch.nbytes
        if self._folder is not None and (self._rows >= self._most_rows or self._bytes >= self._most_bytes):
            self._scatter()

    def rows(self) -> Iterator[pa.RecordBatch]:
        """All rows in their new order, in batches."""
        if self._file is None:
            if self._held:
                yield from self._ordered(self._take_held()).to_batches(max_chunksize=tables.BATCH)
        else:
            yield from self._gathered()
        if self._repeated:
            raise SchemaError(repeated_ids(self._repeated))

    def _take_held(self) -> pa.Table:
        import pyarrow as pa

        whole = pa.Table.from_batches(self._held).combine_chunks()
        self._held, self._rows, self._bytes = [], 0, 0
        return whole

    def _scatter(self) -> None:
        """Move the rows that are held into their buckets."""
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder, prefix=".", suffix=".part")  # noqa: SIM115
        whole = self._take_held()
        buckets = self._tags(whole)[:, 0] if self._tagged else random_numbers(whole.num_rows, np.uint8, self._source)
        order = np.argsort(buckets, kind="stable")  # one byte: a radix sort
        ends = np.cumsum(np.bincount(buckets, minlength=BUCKETS))
        (batch,) = whole.take(order).combine_chunks().to_batches()
        self._schema = batch.schema
        start, at = 0, self._file.tell()
        for segments, end in zip(self._segments, ends.tolist(), strict=True):
            if end > start:
                buffer = batch.slice(start, end - start).serialize()
                self._file.write(buffer)
                segments.append((at, buffer.size))
                at += buffer.size
            start = end

    def _gathered(self) -> Iterator[pa.RecordBatch]:
        """The buckets one after the other, several in a batch."""
        import pyarrow as pa

        if self._held:
            self._scatter()
        some: list[pa.Table] = []
        for segments in self._segments:
            found = []
            for at, size in segments:
                self._file.seek(at)
                found.append(pa.ipc.read_record_batch(pa.py_buffer(self._file.read(size)), self._schema))
            if found:
                some.append(self._ordered(pa.Table.from_batches(found).combine_chunks()))
            if sum(table.num_rows for table in some) >= tables.BATCH:
                yield from pa.concat_tables(some).combine_chunks().to_batches()
                some = []
        if some:
            yield from pa.concat_tables(some).combine_chunks().to_batches()

    def _ordered(self, whole: pa.Table) -> pa.Table:
        if not self._tagged:
            packed, more = pack(whole), self._file is not None
            if packed is None:
                return whole.take(random_order(whole.num_rows, self._source, more))
            return unpack(shuffled(packed, self._source, more), whole.schema)
        words = self._tags(whole).view(">u8")
        order, alike = sorted_order(words[:, 0].astype(np.uint64))
        if len(alike):
            tags = words[order[alike]]
            sorted_by_all = np.lexsort((tags[:, 1], tags[:, 0]))
            order[alike], tags = order[alike][sorted_by_all], tags[sorted_by_all]
            again = (tags[1:] == tags[:-1]).all(axis=1)
            self._repeated += int((again & ~np.append(False, again[:-1])).sum())
        return whole.take(order)

    @staticmethod
    def _tags(whole: pa.Table) -> Bytes:
        (column,) = whole.column(TAG).chunks
        return tags_of(column)


def repeated_ids(count: int) -> str:
    """What is wrong where several rows have one id: their answers together tell more than the scheme promises."""
    occur = "id occurs" if count == 1 else "ids occur"
    return f"{count:,} {occur} more than once in the table; keep one row for each id, or release each round by itself"


def tag_column(tags: Bytes) -> pa.Array:
    """Tags of 16 bytes as a column."""
    import pyarrow as pa

    flat = np.ascontiguousarray(tags).reshape(-1)
    return pa.Array.from_buffers(pa.binary(16), len(tags), [None, pa.py_buffer(flat)])


def tags_of(column: pa.Array) -> Bytes:
    """The 16 bytes of each tag."""
    data = np.frombuffer(column.buffers()[1], dtype=np.uint8)
    return data[16 * column.offset : 16 * (column.offset + len(column))].reshape(-1, 16)
