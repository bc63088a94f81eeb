"""Parquet files that lie about themselves: each is refused in one line, by whatever reads it, before it is decoded."""

from __future__ import annotations

import json
import os
import random
import re
import struct
import warnings
from contextlib import suppress
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.hostile import parquet_maker
from tests.hostile.guard import guarded, refused
from tests.hostile.mutations import EXTREME
from tests.hostile.parquet_maker import (
    BINARY,
    BYTE_ARRAY,
    DELTA,
    DICTIONARY,
    FIXED,
    I32,
    I64,
    INDEX,
    LIST,
    SECOND,
    STRUCT,
    UTF8,
    Column,
    Page,
    fields,
    make,
    unsigned,
    whole,
)

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import SfumatoError
from sfumato.evidence.counting import counter
from sfumato.reading import tables
from sfumato.reading.parquet_structure import structure
from sfumato.released.part import Part
from sfumato.service.export import _resampled
from sfumato.service.intake import examine
from sfumato.service.refusals import RefusalError
from sfumato.service.study import new_study
from sfumato.writing.described_file import KEY

SCHEMA = sf.Schema({"car": sf.Categorical(("no", "yes")), "sex": sf.Categorical(("F", "M", "other"))})
SCHEME = sf.Scheme(SCHEMA, {"car": c.symmetric(2, 0.25), "sex": c.symmetric(3, 0.3)})
STUDY = new_study("study", {"scheme": SCHEME.to_dict()}, 0)
SOURCES = Path(sf.__file__).parent
TEN = np.zeros(10, np.int32).tobytes()
LARGEST = (1 << 31) - 1


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> dict:
    path = sf.randomize({"car": ["no"] * 10, "sex": ["F"] * 10}, SCHEME).save(
        tmp_path_factory.mktemp("g") / "g.parquet"
    )
    return json.loads(pq.read_metadata(path).metadata[KEY])


@pytest.fixture
def notes(description: dict):
    def said(rows: int = 10, id: str | None = None) -> dict[str, str]:
        about = json.loads(json.dumps(description))
        about["parts"][0]["rows"] = rows
        if id is not None:
            about["id"], about["parts"][0]["link"] = {"name": id, "kind": "pseudonym"}, "0" * 16
        return {KEY.decode(): json.dumps(about)}

    return said


def codes(*pages: Page, other: list[Page] | None = None) -> list[Column]:
    return [Column("car", pages), Column("sex", pages if other is None else other)]


def look(path: Path) -> None:
    """Whatever a miner or a server does with a release."""
    release = sf.Release.load(path)
    release.decode(3)
    release.arrow()
    counter(release.parts[0]).counts(("car",))


def refused_everywhere(path: Path) -> str:
    """The line with which loading it ends; nothing else reads it either."""
    line = refused(lambda: sf.Release.load(path))
    assert refused(lambda: examine(path, STUDY))
    assert refused(lambda: tables.count_rows(path)) == refused(lambda: list(tables.batches(path)))
    return line


def test_a_file_without_a_lie_is_read(tmp_path: Path, notes) -> None:
    for codec in (None, "snappy", "gzip", "zstd"):
        path = make(tmp_path / f"{codec}.parquet", codes(Page(10, TEN)), notes(), codec=codec)
        look(path)
        assert examine(path, STUDY).rows == 10
    indices = bytes([1]) + unsigned(10 << 1) + bytes([0])
    table = [Page(2, np.arange(2, dtype=np.int32).tobytes(), INDEX), Page(10, indices, encoding=DICTIONARY)]
    look(make(tmp_path / "dictionary.parquet", codes(*table), notes()))
    look(make(tmp_path / "second.parquet", codes(Page(10, TEN, SECOND)), notes()))
    look(make(tmp_path / "groups.parquet", codes(Page(10, TEN), Page(10, TEN)), notes(60), groups=3))


@pytest.mark.parametrize(
    "lies",
    [
        {"file rows": 10},
        {"file rows": 10, "group rows": 10},
        {"file rows": 10, "group rows": 10, "chunk values": 10},
        {"file rows": 10, "group rows": 10, "chunk values": 10, "page values": 10},
        {"file rows": 10, "group rows": -10},
        {"file rows": -1},
        {"chunk values": LARGEST},
        {"page values": LARGEST},
    ],
    ids=str,
)
def test_more_rows_than_are_said_are_not_counted(tmp_path: Path, notes, lies: dict[str, int]) -> None:
    """21 kB that said 10 rows held 80 million, and an estimate spoke of 20 million people."""
    body = np.zeros(200_000, np.int32).tobytes()
    path = make(tmp_path / "rows.parquet", codes(Page(200_000, body)), notes(), groups=4, lies=lies)
    refused_everywhere(path)


def test_columns_of_different_lengths_are_refused(tmp_path: Path, notes) -> None:
    """The server answered that it had failed."""
    path = make(tmp_path / "odd.parquet", codes(Page(10, TEN), other=[Page(5, TEN[:20])]), notes())
    assert "more or fewer values" in refused_everywhere(path)


@pytest.mark.parametrize("honest", [True, False])
def test_a_page_is_no_larger_than_its_values(tmp_path: Path, notes, honest: bool) -> None:
    """117 kB took 3.9 GB: decoders unpack a page whole, also what stands behind its values."""
    path = make(
        tmp_path / "page.parquet",
        codes(Page(10, TEN + bytes(1 << 28))),
        notes(),
        lies={} if honest else {"chunk unpacked": 100},
    )
    assert path.stat().st_size < 100_000
    with guarded(memory=1 << 28):
        assert "larger than its values" in refused_everywhere(path)


def test_many_pages_with_something_behind_are_refused(tmp_path: Path, notes) -> None:
    """Small ones too: a server took minutes over forty of them."""
    path = make(tmp_path / "pages.parquet", codes(*[Page(1, TEN[:4] + bytes(1 << 16))] * 50), notes(50))
    assert "larger than its values" in refused_everywhere(path)


@pytest.mark.parametrize("said", [{}, {"page values": 1}, {"page unpacked": LARGEST}])
def test_a_dictionary_is_as_large_as_its_values(tmp_path: Path, notes, said: dict[str, int]) -> None:
    table = Page(LARGEST if not said else 2, TEN[:8], INDEX)
    path = make(
        tmp_path / "d.parquet", codes(table, Page(10, bytes([0, 20, 0]), encoding=DICTIONARY)), notes(), lies=said
    )
    refused_everywhere(path)


@pytest.mark.parametrize(
    "lies",
    [
        {"data place": 0},
        {"data place": 1 << 40},
        {"data place": -4},
        {"data place": 4},
        {"chunk packed": 1 << 40},
        {"chunk packed": -1},
        {"chunk packed": 0},
        {"chunk unpacked": 1},
        {"chunk unpacked": -1},
        {"page packed": LARGEST},
        {"page packed": 0},
        {"page packed": -1},
        {"page unpacked": -1},
        {"page kind": 1},
        {"page kind": 77},
        {"footer bytes": LARGEST},
        {"footer bytes": -1},
        {"columns": 1},
        {"columns": 10**6},
        {"repetition": 2},
        {"version": 10**9},
    ],
    ids=str,
)
def test_places_and_sizes_that_cannot_be_are_refused(tmp_path: Path, notes, lies: dict[str, int]) -> None:
    path = make(tmp_path / "places.parquet", codes(Page(10, TEN)), notes(), lies=lies)
    with guarded(memory=1 << 28):
        try:
            look(path)
        except SfumatoError as problem:
            assert str(problem).isprintable()
        else:
            assert "version" in lies  # which no reader looks at


@pytest.mark.parametrize("place", ["page rows", "page levels", "page repeats"])
def test_pages_of_the_second_version_say_their_rows_once(tmp_path: Path, notes, place: str) -> None:
    for value in (-1, 1 << 20, LARGEST):
        path = make(tmp_path / f"{value}.parquet", codes(Page(10, TEN, SECOND)), notes(), lies={place: value})
        refused_everywhere(path)


def test_dictionaries_behind_their_pages_are_refused(tmp_path: Path, notes) -> None:
    """Readers differ in where they begin: one would begin where nobody has looked."""
    table = [Page(2, TEN[:8], INDEX), Page(10, bytes([0, 20, 0]), encoding=DICTIONARY)]
    for place in (-1, 3, 10**6):
        refused_everywhere(
            make(tmp_path / f"{place}.parquet", codes(*table), notes(), lies={"dictionary place": place})
        )
    refused_everywhere(make(tmp_path / "twice.parquet", codes(table[0], *table), notes()))
    refused_everywhere(make(tmp_path / "behind.parquet", codes(*table, table[0]), notes()))


def test_rows_in_another_file_are_refused(tmp_path: Path, notes) -> None:
    other = [Column("car", [Page(10, TEN)], more=[(1, BINARY, "/etc/passwd")]), Column("sex", [Page(10, TEN)])]
    assert "in another file" in refused_everywhere(make(tmp_path / "other.parquet", other, notes()))


def test_what_is_encrypted_is_refused_as_such(tmp_path: Path, notes) -> None:
    path = make(tmp_path / "secret.parquet", codes(Page(10, TEN)), notes())
    path.write_bytes(path.read_bytes()[:-4] + b"PARE")
    assert "it is encrypted" in refused_everywhere(path)
    locked = [Column("car", [Page(10, TEN)], more=[]), Column("sex", [Page(10, TEN)])]
    locked[0].after = [(8, STRUCT, [(1, STRUCT, [])])]
    assert refused(lambda: look(make(tmp_path / "column.parquet", locked, notes())))


def test_what_arrow_cannot_bear_to_look_at_does_not_end_the_process(tmp_path: Path, notes) -> None:
    """Arrow raised where nothing catches it: the program of whoever opened such a file was aborted."""
    histogram = [(16, STRUCT, [(3, LIST, (I64, [1, 2, 3, 4]))])]
    odd = [Column("car", [Page(10, TEN)], statistics=histogram), Column("sex", [Page(10, TEN)])]
    path = make(tmp_path / "histogram.parquet", odd, notes())
    with suppress(SfumatoError):
        look(path)
    with suppress(SfumatoError):
        examine(path, STUDY)
    locked = [Column("car", [Page(10, TEN)]), Column("sex", [Page(10, TEN)])]
    locked[0].after = [(8, STRUCT, [(2, STRUCT, [(1, LIST, (BINARY, ["car"]))])])]  # under a key of its own
    assert "it is encrypted" in refused_everywhere(make(tmp_path / "locked.parquet", locked, notes()))


def test_a_place_of_another_kind_is_refused(tmp_path: Path, notes) -> None:
    """Readers leave such a field out, and begin elsewhere than where it says."""
    path = make(tmp_path / "kind.parquet", codes(Page(2, TEN[:8], INDEX), Page(10, TEN, encoding=DICTIONARY)), notes())
    data = path.read_bytes()
    at = data.rindex(bytes([0x26]) + whole(4))  # field 11 behind field 9, 64 bits
    path.write_bytes(data[:at] + bytes([0x25]) + data[at + 1 :])
    assert "footer" in refused(lambda: structure(path))


def test_a_number_said_twice_in_a_header_is_refused(tmp_path: Path, notes) -> None:
    path = make(tmp_path / "twice.parquet", codes(Page(10, TEN)), notes(), codec=None)
    data = path.read_bytes()
    first = bytes([0x15, 0]) + bytes([0x15]) + whole(40) + bytes([0x15]) + whole(40)  # kind, unpacked, packed
    assert data[4:].startswith(first)
    again = first[:4] + bytes([5]) + whole(2) + whole(40)  # packed is now unpacked again, by its number
    path.write_bytes(data.replace(first, again))
    refused(lambda: structure(path))


def test_numbers_of_fields_are_those_that_readers_see(tmp_path: Path, notes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers keep 16 bits of them: 66 kB said 40 bytes in field 2 and a gigabyte in field 65538, and took 3.2 GB."""

    def header(page: Page, packed: int, say: parquet_maker.Say) -> bytes:
        about = [(1, I32, 10), (2, I32, 0), (3, I32, 3), (4, I32, 3)]
        sizes = [(1, I32, 0), (2, I32, 40), (3, I32, packed)]
        return fields([*sizes, (5, STRUCT, about), (65538, I32, len(page.body))])

    monkeypatch.setattr(parquet_maker, "header", header)
    path = make(tmp_path / "wrapped.parquet", codes(Page(10, TEN + bytes(1 << 28))), notes())
    with guarded(memory=1 << 28):
        assert "no header" in refused_everywhere(path)


def test_a_small_file_of_very_many_rows_is_refused(tmp_path: Path, notes) -> None:
    """A run of equal codes takes a few bytes: 12 kB told of 10^11 people, and to count them took hours."""
    run = [
        Page(2, TEN[:8], INDEX),
        Page(LARGEST, bytes([1]) + unsigned(LARGEST << 1) + bytes([0]), encoding=DICTIONARY),
    ]
    path = make(tmp_path / "rows.parquet", codes(*run), notes(50 * LARGEST), groups=50)
    assert path.stat().st_size < 12_000
    assert "rows, more than 2,000 in each" in refused_everywhere(path)


def test_rows_of_many_parts_or_files_are_bounded_together(tmp_path: Path, description: dict) -> None:
    """Each part of a file is read from its beginning, and each file of a folder may be small for its rows."""
    many = 1 << 28
    run = [Page(2, TEN[:8], INDEX), Page(many, bytes([1]) + unsigned(many << 1) + bytes([0]), encoding=DICTIONARY)]
    about = json.loads(json.dumps(description))
    about["parts"] = [about["parts"][0] | {"rows": many // 64}] * 64
    path = make(tmp_path / "parts.parquet", codes(*run), {KEY.decode(): json.dumps(about)})
    assert "more rows in more parts" in refused(lambda: sf.Release.load(path))
    folder = tmp_path / "release"
    folder.mkdir()
    files = {}
    for number in range(2):
        file = make(folder / f"part-{number:05}.parquet", codes(*run))
        files[file.name] = {"rows": many, "bytes": file.stat().st_size, "sha256": "0" * 64}
    about["parts"] = [about["parts"][0] | {"rows": 2 * many, "folder": ".", "files": files}]
    (folder / "_release.json").write_text(json.dumps(about))
    assert "more rows than so few bytes" in refused(lambda: sf.Release.load(folder))


def test_a_column_does_not_hide_behind_the_case_of_its_name(tmp_path: Path) -> None:
    """DuckDB took a column CAR, which nobody had looked at, for car, where a file of a folder had both or only it."""
    honest, bomb = Page(10, TEN), Page(10, TEN + bytes(1 << 28))
    for names in (("sex", "CAR", "car"), ("sex", "CAR"), ("sex", "CAR_1", "CAR")):
        folder = tmp_path / "_".join(names)
        folder.mkdir()
        first = ("car", "CAR", "sex") if "CAR_1" in names else ("car", "sex")
        make(folder / "1.parquet", [Column(name, [honest]) for name in first])
        make(folder / "2.parquet", [Column(name, [bomb if name == names[1] else honest]) for name in names])
        part = Part(folder, SCHEME)
        with guarded(memory=1 << 28):
            line = refused(lambda part=part: counter(part).counts(("car",)))
        assert "upper and lower case" in line


def test_files_of_a_folder_may_have_their_columns_in_another_order(tmp_path: Path) -> None:
    ones = np.ones(10, np.int32).tobytes()
    make(tmp_path / "1.parquet", codes(Page(10, TEN), other=[Page(10, ones)]))
    make(tmp_path / "2.parquet", codes(Page(10, TEN), other=[Page(10, ones)])[::-1])
    part = Part(tmp_path, SCHEME)
    assert counter(part).counts(("sex",)).tolist() == [0, 20, 0]


def test_a_small_file_of_very_many_pages_or_groups_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To look at so many would itself take long."""
    monkeypatch.setattr("sfumato.reading.parquet_structure._PAGES", 1000)
    pages = make(tmp_path / "pages.parquet", [Column("a", [Page(0, b"")] * 2000)], codec=None)
    assert "more than it says, or than so few bytes need" in refused(lambda: structure(pages))
    groups = make(tmp_path / "groups.parquet", [Column("a", [])], groups=2000)
    assert "more row groups" in refused(lambda: structure(groups))


@pytest.mark.parametrize("kind", ["columns", "chunks", "many groups"])
def test_a_footer_takes_no_more_memory_than_what_it_describes(tmp_path: Path, kind: str) -> None:
    """Arrow sets aside 750 bytes for a chunk of three: a footer of 8 MB took 2 GB, before anything looked at it."""
    names = fields([(4, BINARY, "schema"), (5, I32, 1)]) + fields([(1, I32, 1), (3, I32, 0), (4, BINARY, "car")])
    before, many = bytes([0x15, 2, 0x19, 0x2C]) + names + bytes([0x16, 0, 0x19]), 1_000_000
    if kind == "columns":
        said = (
            bytes([0x15, 2, 0x19, 0xFC]) + unsigned(many) + bytes([0x48, 0, 0]) * many + bytes([0x16, 0, 0x19, 0x0C, 0])
        )
    elif kind == "chunks":
        group = bytes([0x19, 0xFC]) + unsigned(many) + bytes([0x26, 0, 0]) * many + bytes([0x16, 0, 0x16, 0, 0])
        said = before + bytes([0x1C]) + group + b"\0"
    else:
        group = bytes([0x19, 0xFC]) + unsigned(90_000) + bytes([0x26, 0, 0]) * 90_000 + bytes([0x16, 0, 0x16, 0, 0])
        said = before + bytes([0xAC]) + group * 10 + b"\0"
    path = tmp_path / "footer.parquet"
    path.write_bytes(b"PAR1" + said + struct.pack("<I", len(said)) + b"PAR1")
    with guarded(memory=1 << 28):
        assert "footer cannot be one" in refused(lambda: structure(path))


@pytest.mark.parametrize("encoding", [6, 7])
def test_texts_that_hide_their_number_are_refused(tmp_path: Path, notes, encoding: int) -> None:
    """The number of texts stands inside such pages: a file of a kilobyte took 8 GB."""
    hidden = unsigned(128) + unsigned(4) + unsigned(2 * 10**9) + whole(0) + (whole(0) + bytes(4)) * 3
    ids = Column("id", [Page(10, hidden, encoding=encoding)], BYTE_ARRAY, UTF8)
    path = make(tmp_path / "ids.parquet", [*codes(Page(10, TEN)), ids], notes(id="id"))
    with guarded():
        assert "can hide its size" in refused(lambda: sf.Release.load(path))
        assert refused(lambda: examine(path, STUDY))


def test_a_long_text_in_a_small_file_is_refused(tmp_path: Path, notes) -> None:
    ids = Column("id", [Page(10, struct.pack("<i", 1 << 28) + bytes(1 << 28))], BYTE_ARRAY, UTF8)
    path = make(tmp_path / "ids.parquet", [*codes(Page(10, TEN)), ids], notes(id="id"))
    with guarded(memory=1 << 28):
        for act in (sf.Release.load, lambda path: examine(path, STUDY), lambda path: list(tables.batches(path))):
            assert "so small a file" in refused(lambda act=act: act(path))


def test_a_dictionary_of_millions_of_empty_texts_is_refused(tmp_path: Path, notes) -> None:
    """Where each stands takes more memory than the texts: 80 MB of nothing, of a few kilobytes, took 400 MB."""
    many = 20_000_000
    pages = [Page(many, bytes(4 * many), INDEX), Page(10, bytes([1, 20, 0]), encoding=DICTIONARY)]
    path = make(
        tmp_path / "ids.parquet", [*codes(Page(10, TEN)), Column("id", pages, BYTE_ARRAY, UTF8)], notes(id="id")
    )
    assert path.stat().st_size < 100_000
    with guarded(memory=1 << 28):
        assert "at a time" in refused(lambda: sf.Release.load(path))


def test_a_dictionary_of_millions_of_short_texts_is_refused(tmp_path: Path, notes) -> None:
    """Texts of one byte each, all of one length: a reader keeps where each stands, and 5 kB took 1.2 GB."""
    many = 1 << 26
    pages = [Page(many, bytes(many), INDEX), Page(10, bytes([1, 20, 0]), encoding=DICTIONARY)]
    ids = Column("id", pages, FIXED, None, described=[(2, I32, 1)])
    path = make(tmp_path / "ids.parquet", [*codes(Page(10, TEN)), ids], notes(id="id"))
    with guarded(memory=1 << 28):
        assert "at a time" in refused(lambda: sf.Release.load(path).decode(3))


def test_a_column_that_lies_does_not_hide_behind_others(tmp_path: Path, notes) -> None:
    """Pages are looked at where they are read: not all of a wide file for one column."""
    path = make(tmp_path / "second.parquet", codes(Page(10, TEN), other=[Page(10, TEN + bytes(1 << 28))]), notes())
    with guarded(memory=1 << 28):
        release = sf.Release.load(path)
        assert counter(release.parts[0]).counts(("car",)).sum() == 10
        for act in (
            release.arrow,
            lambda: release.decode(1),
            lambda: counter(release.parts[0]).counts(("sex",)),
            lambda: counter(release.parts[0]).counts(("car", "sex")),
            lambda: examine(path, STUDY),
            lambda: list(tables.batches(path, ["sex"])),
        ):
            assert "larger than its values" in refused(act)


@pytest.mark.parametrize(
    "pages",
    [
        [Page(10, TEN[:12])],
        [Page(10, b"")],
        [Page(10, TEN, encoding=DICTIONARY)],
        [Page(10, TEN, encoding=DELTA)],
        [Page(10, bytes([128, 1, 4, 255, 255, 255, 255, 15, 0]) + bytes(40), encoding=DELTA)],
        [Page(2, TEN[:8], INDEX), Page(10, bytes([8, 20, 200]), encoding=DICTIONARY)],
        [Page(2, TEN[:8], INDEX), Page(10, b"", encoding=DICTIONARY)],
        [Page(10, TEN, encoding=77)],
        [Page(10, b"\xff" * 40)],
    ],
    ids=range(9),
)
@pytest.mark.parametrize("lies", [{}, {"codec": 1}, {"codec": 0}, {"codec": 5}, {"type": 2}, {"chunk type": 6}])
def test_data_against_its_headers_end_in_one_line(tmp_path: Path, notes, pages, lies) -> None:
    """Whoever decodes: Arrow, DuckDB, a server; where all is told truly, nothing is set aside for what is not there."""
    path = make(tmp_path / "data.parquet", codes(*pages), notes(), lies=lies)
    for act in (
        lambda: list(tables.batches(path)),
        lambda: sf.Release.load(path).arrow(),
        lambda: sf.Release.load(path).decode(3),
        lambda: counter(sf.Release.load(path).parts[0]).counts(("car",)),
        lambda: examine(path, STUDY),
    ):
        with guarded():
            try:
                act()
            except SfumatoError as problem:
                assert str(problem).isprintable() and "\n" not in str(problem)


def test_resampled_files_are_checked_too(tmp_path: Path) -> None:
    drawn = sf.Schema({"car": sf.Categorical((0, 1)), "sex": sf.Categorical((0, 1))})
    study = new_study("study", {"kind": "resampled", "schema": drawn.to_dict()}, 0)
    said = {KEY.decode(): '{"format": "sfumato resampled"}'}
    assert examine(make(tmp_path / "good.parquet", codes(Page(10, TEN)), said), study).rows == 10
    for name, pages, lies in (
        ("rows", [Page(10, TEN)], {"file rows": 5}),
        ("page", [Page(10, TEN + bytes(1 << 24))], {}),
        ("data", [Page(10, TEN[:8])], {}),
    ):
        path = make(tmp_path / f"{name}.parquet", codes(*pages), said, lies=lies)
        with pytest.raises(RefusalError):
            examine(path, study)
        refused(lambda path=path: _resampled(tmp_path / "all.parquet", [path], drawn))


def test_parquet_is_opened_at_one_door() -> None:
    """Whatever reads a file otherwise meets it unchecked."""
    opens = re.compile(r"pq\.(ParquetFile\(|read_)|read_parquet\(|parquet_scan|ParquetDataset|dataset\(")
    found = {str(p.relative_to(SOURCES)) for p in SOURCES.rglob("*.py") if opens.search(p.read_text())}
    assert found == {
        "datasets/__init__.py",  # the tables that come with the package
        "evidence/engine_counting.py",  # DuckDB, after the same check
        "reading/parquet_file.py",
        "reading/parquet_structure.py",
    }


#: The share of the fuzz suite that mutates every number of a footer and of the headers of pages.
CASES = int(os.environ.get("SFUMATO_FUZZ_CASES", "2000")) // 8
SEED = int(os.environ.get("SFUMATO_FUZZ_SEED", "1"))
NUMBERS = [n for n in EXTREME if isinstance(n, int) and not isinstance(n, bool) and abs(n) < 1 << 63] + [
    LARGEST,
    LARGEST + 1,
]


def test_files_with_any_number_changed_end_in_a_result_or_in_one_line(tmp_path: Path, notes) -> None:
    """Footers and headers of pages, one to three of their numbers changed; whole in every other way."""
    indices = bytes([1]) + unsigned(10 << 1) + bytes([0])
    two = [Page(2, np.arange(2, dtype=np.int32).tobytes(), INDEX), Page(10, indices, encoding=DICTIONARY)]
    shapes = [[Page(10, TEN)], two, [Page(10, TEN, SECOND)], [Page(10, TEN)] * 3]
    read = 0
    for case in range(CASES):
        rng = random.Random(f"{SEED} parquet {case}")
        pages = rng.choice(shapes)
        groups = rng.choice((1, 2))
        rows = sum(page.values for page in pages if page.kind != INDEX) * groups
        told: list[str] = []
        make(
            tmp_path / "whole.parquet",
            codes(*pages),
            notes(rows),
            groups,
            say=lambda place, n, told=told: told.append(place) or n,
        )
        changed = {rng.randrange(len(told)) for _ in range(rng.choice((1, 1, 2, 3)))}
        count = iter(range(len(told)))

        def say(_: str, value: int, count=count, changed=changed, rng=rng) -> int:
            odd = (value + 1, value - 1, value * 1000, value + 8, rng.randrange(20), *NUMBERS)
            return rng.choice(odd) if next(count) in changed else value

        path = make(tmp_path / f"{case}.parquet", codes(*pages), notes(rows), groups, rng.choice((None, "zstd")), say)
        try:
            with guarded(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                look(path)
                examine(path, STUDY)
            assert len(sf.Release.load(path)) == rows
            read += 1
        except SfumatoError as problem:
            assert str(problem).isprintable(), case
    assert 0 < read < CASES


def everything(rows: int) -> pa.Table:
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "code": pa.array(rng.integers(0, 5, rows), pa.uint8()),
            "number": rng.integers(0, 10**9, rows),
            "real": rng.normal(size=rows),
            "text": pa.array([f"id{i}" for i in range(rows)], pa.string()),
            "few": pa.array([("a", "b", None)[i % 3] for i in range(rows)], pa.string()),
            "flag": pa.array([i % 2 == 0 for i in range(rows)], pa.bool_()),
            "none": pa.nulls(rows, pa.int32()),
            "decimal": pa.array(rng.integers(0, 100, rows)).cast(pa.decimal128(30, 2)),
            "time": pa.array(np.arange(rows), pa.timestamp("us")),
            "list": pa.array([list(range(i % 4)) for i in range(rows)], pa.list_(pa.int64())),
            "record": pa.array(
                [{"x": i, "y": "a"} for i in range(rows)], pa.struct([("x", pa.int64()), ("y", pa.string())])
            ),
            "kinds": pa.DictionaryArray.from_arrays(
                pa.array(np.zeros(rows, np.int32)), [f"name {i}" for i in range(500)]
            ),
        }
    )


@pytest.mark.parametrize("rows", [0, 1, 3000])
@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd"])
def test_what_honest_writers_write_is_read(tmp_path: Path, rows: int, codec: str) -> None:
    given = everything(rows)
    for version in ("1.0", "2.0"):
        for dictionary in (True, False):
            path = tmp_path / f"arrow {version} {dictionary}.parquet"
            options = {"data_page_version": version, "use_dictionary": dictionary, "compression": codec}
            pq.write_table(given, path, row_group_size=1000, data_page_size=1 << 10, **options)
    polars = pytest.importorskip("polars")
    frame = polars.from_arrow(given.drop(["kinds"]))
    named = "uncompressed" if codec == "none" else codec
    frame.write_parquet(tmp_path / "polars.parquet", compression=named, row_group_size=1000, statistics="full")
    for version in ("V1", "V2"):
        path = tmp_path / f"duckdb {version}.parquet"
        duckdb.connect().execute(
            f"copy given to '{path}' (format parquet, codec '{named}', parquet_version '{version}')"
        )
    for path in tmp_path.glob("*.parquet"):
        assert tables.count_rows(path) == rows
        assert sum(batch.num_rows for batch in tables.batches(path)) == rows
    assert tables.count_rows(tmp_path) == rows * len(list(tmp_path.glob("*.parquet")))


def test_a_size_that_a_writer_leaves_at_0_is_not_said(tmp_path: Path) -> None:
    """As DuckDB did before version 0.6: an owner's own table was said to mislead."""
    path = make(tmp_path / "old.parquet", codes(Page(10, TEN)), lies={"chunk unpacked": 0})
    assert sum(batch.num_rows for batch in tables.batches(path)) == tables.count_rows(path) == 10


def test_wide_tables_that_pack_well_are_read(tmp_path: Path) -> None:
    """Columns of zeros and a few ones, in pages of a megabyte each: an owner's own table was said to mislead."""
    polars = pytest.importorskip("polars")
    zeros = np.zeros(1 << 17)
    polars.DataFrame({f"c{j}": zeros for j in range(150)}).write_parquet(tmp_path / "wide.parquet")
    held = structure(tmp_path / "wide.parquet").held
    assert (tmp_path / "wide.parquet").stat().st_size < 1 << 20 and sum(held.values()) > 1 << 27
    assert sum(batch.num_rows for batch in tables.batches(tmp_path / "wide.parquet")) == 1 << 17


def test_pages_that_pack_well_are_bounded_together_in_a_release(tmp_path: Path, notes) -> None:
    """However the columns are looked at: one after the other each was small enough."""
    many = (1 << 24) + 1000
    path = make(tmp_path / "wide.parquet", codes(Page(many, bytes(4 * many))), notes(many))
    release = sf.Release.load(path)
    with guarded():
        counter(release.parts[0]).counts(("car",))
        counter(release.parts[0]).counts(("sex",))
        for act in (lambda: release.decode(1), release.arrow, lambda: examine(path, STUDY)):
            assert refused(act)
        assert "at a time" in refused(lambda: release.decode(1))


def test_files_without_row_groups_are_read(tmp_path: Path) -> None:
    with pq.ParquetWriter(tmp_path / "none.parquet", pa.schema([("a", pa.int64())])):
        pass
    assert pq.read_metadata(tmp_path / "none.parquet").num_row_groups == 0
    assert tables.count_rows(tmp_path / "none.parquet") == 0 and list(tables.batches(tmp_path / "none.parquet")) == []


def test_a_footer_is_bounded(tmp_path: Path) -> None:
    """One of four gigabytes, most of it zeros that no disk holds, would be read for an hour."""
    path, length = tmp_path / "long.parquet", (1 << 26) + 1
    with path.open("wb") as file:
        file.write(b"PAR1")
        file.truncate(length + 4)
        file.seek(0, 2)
        file.write(length.to_bytes(4, "little") + b"PAR1")
    assert "its footer has more than 64 MB" in refused_everywhere(path)
