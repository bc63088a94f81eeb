"""Headers of pages are read alike, by the short way and by the long one."""

from __future__ import annotations

import io
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.hostile.parquet_maker import DICTIONARY, INDEX, SECOND, Page, header

from sfumato.reading import parquet_pages
from sfumato.reading.parquet_pages import PageError, PageHeader, page_header


def read(data: bytes) -> PageHeader | str:
    try:
        return page_header(io.BytesIO(data), 0, len(data))
    except PageError as problem:
        return str(problem)


def test_a_header_says_what_was_written() -> None:
    said = header(Page(300, b"x" * 40), 7, lambda _, n: n)
    assert read(said + b"body") == PageHeader(0, 40, 7, 300, 0, 300, 0, len(said))
    said = header(Page(300, b"x" * 40, INDEX), 7, lambda _, n: n)
    assert read(said + b"body") == PageHeader(2, 40, 7, 300, 0, 300, 0, len(said))
    more = {"page rows": 20, "page levels": 3, "page repeats": 4}
    said = header(Page(300, b"x" * 40, SECOND, DICTIONARY), 7, lambda place, n: more.get(place, n))
    assert read(said + b"body") == PageHeader(3, 40, 7, 300, DICTIONARY, 20, 7, len(said))


def test_the_short_way_reads_what_the_long_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Headers of a real file, as they are and with bytes changed."""
    rng, path = random.Random(1), tmp_path / "t.parquet"
    columns = {"n": np.arange(50, dtype=np.uint8), "x": np.arange(50.0), "t": ["text"] * 50}
    pq.write_table(pa.table(columns), path, use_dictionary=False, write_page_checksum=True)
    about, data = pq.read_metadata(path), path.read_bytes()
    given = []
    for j in range(3):
        start = about.row_group(0).column(j).data_page_offset
        given.append(data[start : start + 100])
        for _ in range(2000):
            changed = bytearray(given[j])
            for _ in range(rng.choice((1, 1, 2))):
                changed[rng.randrange(50)] = rng.choice((0, 1, 0x15, 0x1C, 0x2C, 0x18, 0x80, 0xFF, rng.randrange(256)))
            given.append(bytes(changed))
    short = [read(one) for one in given]
    usual = sum(parquet_pages._USUAL.match(one) is not None for one in given)
    assert 500 < usual < len(given)
    monkeypatch.setattr(parquet_pages, "_USUAL", parquet_pages.re.compile(b"(?!)"))
    assert short == [read(one) for one in given]
