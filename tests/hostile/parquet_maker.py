"""A writer of Parquet in which every number may be a lie."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

I32, I64, BINARY, LIST, STRUCT, TRUE, FALSE = 5, 6, 8, 9, 12, 1, 2
CODECS = {None: 0, "snappy": 1, "gzip": 2, "zstd": 6}
INT32, INT64, BYTE_ARRAY, FIXED = 1, 2, 6, 7
PLAIN, RLE, DELTA, DICTIONARY = 0, 3, 5, 8
UINT_8, UTF8 = 11, 0
FIRST, INDEX, SECOND = 0, 2, 3  # kinds of pages: data, a dictionary, data of the second version

#: Says a number at a place, as it is or otherwise.
Say = Callable[[str, int], int]


@dataclass
class Page:
    values: int
    body: bytes
    kind: int = FIRST
    encoding: int = PLAIN


@dataclass
class Column:
    name: str
    pages: Sequence[Page]
    type: int = INT32
    converted: int | None = UINT_8
    more: list[tuple[int, int, Any]] = field(default_factory=list)  # fields of the chunk that no honest one has
    after: list[tuple[int, int, Any]] = field(default_factory=list)  # and such that come behind all others
    described: list[tuple[int, int, Any]] = field(default_factory=list)  # as the length of all values
    statistics: list[tuple[int, int, Any]] = field(default_factory=list)


def unsigned(n: int) -> bytes:
    out = bytearray()
    n &= (1 << 64) - 1
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes([*out, n])


def whole(n: int) -> bytes:
    return unsigned(n << 1 if n >= 0 else (-n << 1) - 1)


def written(kind: int, value: Any) -> bytes:
    if kind in (I32, I64):
        return whole(value)
    if kind == BINARY:
        value = value.encode() if isinstance(value, str) else value
        return unsigned(len(value)) + value
    if kind == LIST:
        inner, items = value
        head = bytes([len(items) << 4 | inner]) if len(items) < 15 else bytes([0xF0 | inner]) + unsigned(len(items))
        return head + b"".join(written(inner, item) for item in items)
    return b"" if kind in (TRUE, FALSE) else fields(value)


def fields(given: Sequence[tuple[int, int, Any]]) -> bytes:
    out, last = b"", 0
    for number, kind, value in given:
        short = 0 < number - last < 16
        out += (bytes([number - last << 4 | kind]) if short else bytes([kind]) + whole(number)) + written(kind, value)
        last = number
    return out + b"\0"


def header(page: Page, packed: int, say: Say) -> bytes:
    values, encoding = (1, I32, say("page values", page.values)), say("page encoding", page.encoding)
    about = {
        FIRST: [values, (2, I32, encoding), (3, I32, RLE), (4, I32, RLE)],
        INDEX: [values, (2, I32, encoding)],
        SECOND: [
            values,
            (2, I32, say("page nulls", 0)),
            (3, I32, say("page rows", page.values)),
            (4, I32, encoding),
            (5, I32, say("page levels", 0)),
            (6, I32, say("page repeats", 0)),
        ],
    }[page.kind]
    return fields(
        [
            (1, I32, say("page kind", page.kind)),
            (2, I32, say("page unpacked", len(page.body))),
            (3, I32, say("page packed", packed)),
            ({FIRST: 5, INDEX: 7, SECOND: 8}[page.kind], STRUCT, about),
        ]
    )


def make(
    path: Path,
    columns: Sequence[Column],
    notes: Mapping[str, str] | None = None,
    groups: int = 1,
    codec: str | None = "zstd",
    say: Say = lambda _, value: value,
    lies: Mapping[str, int] | None = None,
) -> Path:
    """Write a file of equal row groups; ``lies`` has what is said instead of the truth, by its place."""

    def told(place: str, value: int) -> int:
        return say(place, (lies or {}).get(place, value))

    out = bytearray(b"PAR1")
    row_groups = []
    packed: dict[bytes, bytes] = {}
    for page in (page for column in columns for page in column.pages):
        packed.setdefault(page.body, pa.compress(page.body, codec=codec, asbytes=True) if codec else page.body)
    for _ in range(groups):
        chunks = [_chunk(column, out, packed, codec, told) for column in columns]
        rows = sum(page.values for page in columns[0].pages if page.kind != INDEX)
        row_groups.append(
            [(1, LIST, (STRUCT, chunks)), (2, I64, told("group bytes", 1000)), (3, I64, told("group rows", rows))]
        )
    schema = [[(4, BINARY, "schema"), (5, I32, told("columns", len(columns)))]]
    for column in columns:
        converted = [] if column.converted is None else [(6, I32, told("converted type", column.converted))]
        schema.append(
            [
                (1, I32, told("type", column.type)),
                *column.described,
                (3, I32, told("repetition", 0)),
                (4, BINARY, column.name),
                *converted,
            ]
        )
    about = [[(1, BINARY, key), (2, BINARY, value)] for key, value in (notes or {}).items()]
    footer = fields(
        [
            (1, I32, told("version", 1)),
            (2, LIST, (STRUCT, schema)),
            (3, I64, told("file rows", rows * groups)),
            (4, LIST, (STRUCT, row_groups)),
            (5, LIST, (STRUCT, about)),
        ]
    )
    path.write_bytes(bytes(out) + footer + struct.pack("<I", told("footer bytes", len(footer)) & 0xFFFFFFFF) + b"PAR1")
    return path


def _chunk(column: Column, out: bytearray, packed: Mapping[bytes, bytes], codec: str | None, told: Say) -> Any:
    start, unpacked, first = len(out), 0, None
    for page in column.pages:
        if page.kind != INDEX and first is None:
            first = len(out)
        head = header(page, len(packed[page.body]), told)
        out += head + packed[page.body]
        unpacked += len(head) + len(page.body)
    values = sum(page.values for page in column.pages if page.kind != INDEX)
    encodings = sorted({page.encoding for page in column.pages} | {RLE})
    about = [
        (1, I32, told("chunk type", column.type)),
        (2, LIST, (I32, encodings)),
        (3, LIST, (BINARY, [column.name])),
        (4, I32, told("codec", CODECS[codec])),
        (5, I64, told("chunk values", values)),
        (6, I64, told("chunk unpacked", unpacked)),
        (7, I64, told("chunk packed", len(out) - start)),
        (9, I64, told("data place", start if first is None else first)),
    ]
    if column.pages and column.pages[0].kind == INDEX:
        about.append((11, I64, told("dictionary place", start)))
    about += column.statistics
    return [*column.more, (2, I64, told("chunk place", start)), (3, STRUCT, about), *column.after]
