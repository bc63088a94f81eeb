"""What can be downloaded from the collection server says nothing of who sent it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import text
from tests.hostile.parquet_maker import INDEX, INT64, Column, Page, make

import sfumato as sf
from service_client import SCHEME, Clock, new_id
from sfumato.errors import DisclosureWarning
from sfumato.reading.parquet_structure import structure
from sfumato.service import collection, rewritten
from sfumato.service.allowed_columns import AllowedColumns
from sfumato.service.collection import open_collection
from sfumato.service.export import _resampled, row_bytes
from sfumato.service.file_sizes import least_bits
from sfumato.service.intake import examine
from sfumato.service.refusals import RefusalError
from sfumato.service.rewritten import rewrite
from sfumato.service.settings import Settings
from sfumato.service.study import Study, new_study
from sfumato.service.upload import Locks, Upload
from sfumato.writing.described_file import KEY

COMMUTING = Study("commuting", {"scheme": SCHEME.to_dict()}, "open", 0)
DRAWN = sf.Schema({"x": sf.Numeric(0, 1, bins=4), "y": sf.Categorical(("a", "b"))})


def test_resampled_rows_of_all_sites_are_mixed(tmp_path: Path) -> None:
    """They stood site after site: the place of a row named the site that had drawn it."""
    files, schema = [], sf.Schema({"x": sf.Numeric(0, 600, bins=4), "y": sf.Categorical(("a", "b"))})
    for site, values in enumerate((range(300), range(300, 600))):
        files.append(tmp_path / f"{site}.parquet")
        pq.write_table(pa.table({"x": [float(v) for v in values], "y": ["a"] * 300}), files[-1])
    _resampled(tmp_path / "all.parquet", files, schema)
    found = pq.read_table(tmp_path / "all.parquet").column("x").to_numpy()
    assert sorted(found) == list(range(600))
    assert 90 < (found[:300] < 300).sum() < 210  # 150 and nine deviations
    assert np.abs(np.diff(found)).mean() > 100


def test_ids_that_nobody_uses_any_more_leave_nothing_behind() -> None:
    """A lock of every upload that was ever asked for stayed in memory."""
    locks = Locks()
    first = locks.of("study", "one")
    for i in range(100):
        with locks.of("study", str(i)):
            assert not locks.of("study", str(i)).acquire(blocking=False)
    assert len(locks) == 1 and locks.of("study", "one") is first


def study(**fields: object) -> Study:
    return new_study("commuting", fields, 0)


def test_equal_rows_that_pack_to_nothing_are_no_randomized_answers(tmp_path: Path) -> None:
    """A file of 140 KB stood for 20 million rows, and of some more nobody could download the study's rows."""
    asked, rows = study(scheme=SCHEME.to_dict()), 200_000
    good = sf.randomize({"car": ["no"] * rows, "sex": ["F"] * rows}, SCHEME).save(tmp_path / "good.parquet")
    assert examine(good, asked).rows == rows
    about = json.loads(pq.read_metadata(good).metadata[KEY])
    table = pa.table({name: np.zeros(rows, np.uint8) for name in SCHEME.columns})
    with pq.ParquetWriter(tmp_path / "equal.parquet", table.schema) as file:
        file.write_table(table)
        file.add_key_value_metadata({KEY.decode(): json.dumps(about)})
    assert (tmp_path / "equal.parquet").stat().st_size > rows / 2000
    with pytest.raises(RefusalError, match="more rows than so few bytes of randomized answers can"):
        examine(tmp_path / "equal.parquet", asked)


def test_a_column_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    """The server took the file, and then nobody could download the study's rows: neither column is the one meant."""
    good = sf.randomize({"car": ["no"] * 10, "sex": ["F"] * 10}, SCHEME).save(tmp_path / "good.parquet")
    table, about = pq.read_table(good), pq.read_metadata(good).metadata[KEY].decode()
    with pq.ParquetWriter(
        tmp_path / "twice.parquet", (twice := table.append_column("car", table["car"])).schema
    ) as file:
        file.write_table(twice)
        file.add_key_value_metadata({KEY.decode(): about})
    with pytest.raises(RefusalError, match="the file: two of its columns have the same name"):
        examine(tmp_path / "twice.parquet", study(scheme=SCHEME.to_dict()))


@pytest.mark.parametrize("gamma", [1.5, 3.0, 100.0, 1e6])
def test_every_release_is_as_large_as_its_entropy_says(gamma: float, tmp_path: Path) -> None:
    schema = sf.Schema({"a": sf.Categorical(("no", "yes")), "b": sf.Ordinal(tuple(range(7)))})
    scheme, rows = sf.Scheme.for_gamma(schema, gamma), 100_000
    path = sf.randomize({"a": ["no"] * rows, "b": [3] * rows}, scheme).save(tmp_path / "release.parquet")
    assert path.stat().st_size * 8 > rows * least_bits(scheme)


@pytest.mark.parametrize(
    "domain",
    [
        sf.Ordinal(tuple(range(200))),
        sf.Categorical(tuple(f"v{i}" for i in range(300))),
        sf.Categorical(tuple(f"v{i}" for i in range(2000))),
    ],
)
@pytest.mark.parametrize("gamma", [1.2, 3.0, 100.0])
def test_answers_to_questions_with_many_values_do_not_pack_either(
    domain: sf.Ordinal, gamma: float, tmp_path: Path
) -> None:
    """Their matrices were not looked at: 35 kB of equal rows stood for 70 million, and nobody could download any."""
    scheme, rows = sf.Scheme.for_gamma(sf.Schema({"a": domain}), gamma), 20_000
    path = sf.randomize({"a": [domain.labels[0]] * rows}, scheme).save(tmp_path / "release.parquet")
    assert 3 * rows < rows * least_bits(scheme) < path.stat().st_size * 8


def test_equal_resampled_rows_are_refused(tmp_path: Path) -> None:
    """They are mixed in the memory of the server when somebody downloads them."""
    rows = 12_000_000
    table = pa.table({"x": np.full(rows, 0.5), "y": pa.DictionaryArray.from_arrays(np.zeros(rows, np.int8), ["a"])})
    made = table.replace_schema_metadata({KEY: json.dumps({"format": "sfumato resampled"}).encode()})
    pq.write_table(made, tmp_path / "equal.parquet", row_group_size=rows)
    with pytest.raises(RefusalError, match="more rows than so few bytes of resampled numbers can"):
        examine(tmp_path / "equal.parquet", study(kind="resampled", schema=DRAWN.to_dict()))


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (pa.array([0, 1], pa.int8()), pa.array(["a", "b"])),
        (pa.array([False, True]), pa.array(["a", "b"])),
        (pa.array([0.25, 1]).cast(pa.float16()), pa.array([b"a", b"b"])),
        (pa.array(["0.5", " 1"]), pa.DictionaryArray.from_arrays(np.zeros(2, np.int8), ["b"])),
    ],
)
def test_the_types_of_one_site_do_not_change_the_rows_of_others(x: pa.Array, y: pa.Array, tmp_path: Path) -> None:
    """Two rows whose file came first made the download fail, or every other site's numbers true and false."""
    paths, good = [tmp_path / "0.parquet", tmp_path / "1.parquet"], np.linspace(0.1, 0.9, 50)
    tables = [pa.table({"x": x, "y": y}), pa.table({"x": good, "y": ["a", "b"] * 25})]
    for path, table in zip(paths, tables, strict=True):
        pq.write_table(table.replace_schema_metadata({KEY: b'{"format": "sfumato resampled"}'}), path)
        assert examine(path, study(kind="resampled", schema=DRAWN.to_dict())).rows == len(table)
    _resampled(tmp_path / "all.parquet", paths, DRAWN)
    found = pq.read_table(tmp_path / "all.parquet")
    assert found.schema.types == [pa.float64(), pa.string()] and len(found) == 52
    assert np.isin(good, found.column("x").to_numpy()).all()
    assert set(found.column("y").to_pylist()) == {"a", "b"}


def test_long_texts_that_are_stored_once_do_not_fill_the_memory(tmp_path: Path) -> None:
    """Blanks behind a value are no other value. 60 kB of them took 290 MB when somebody downloaded the rows."""
    path, rows = tmp_path / "long.parquet", 20_000
    table = pa.table({"x": np.full(rows, 0.5), "y": pa.array(["a" + 3000 * " "] * rows)})
    made = table.replace_schema_metadata({KEY: b'{"format": "sfumato resampled"}'})
    ways = {"x": "PLAIN", "y": "DELTA_BYTE_ARRAY"}
    with pq.ParquetWriter(path, made.schema, use_dictionary=False, column_encoding=ways, compression="zstd") as file:
        for _ in range(5):
            file.write_table(made)
    assert path.stat().st_size < 100_000
    with pytest.raises(RefusalError, match="more rows than so few bytes"):
        examine(path, study(kind="resampled", schema=DRAWN.to_dict()))


def test_many_columns_make_the_rows_that_are_mixed_fewer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of 70 kB, each of 820 000 equal rows in 20 columns of doubles: 81 of them would have taken 20 GB."""
    wide = sf.Schema({f"x{i}": sf.Numeric(0, 1, bins=4) for i in range(20)})
    with pytest.warns(DisclosureWarning):
        noisy = sf.Scheme(wide, {name: sf.channels.uniform(0.5) for name in wide})
    assert row_bytes(study(kind="resampled", schema=wide.to_dict())) == 160
    assert row_bytes(study(kind="resampled", schema=DRAWN.to_dict())) == 16
    assert row_bytes(study(scheme=noisy.to_dict())) == 160
    assert row_bytes(study(scheme=SCHEME.to_dict())) == 2
    held = open_collection(tmp_path / "data", None, Settings(read_apart=False), Clock())
    held.writer.now(held.studies.create("drawn", {"kind": "resampled", "schema": wide.to_dict(), "minimum": 2}))
    held.writer.now(held.studies.open("drawn"))
    monkeypatch.setattr(held.uploads, "progress", lambda _: {"rows": 7_000_000})
    about = {"counted": False, "attributes": None, "forms": {}, "rows": 7_000_000}
    one = Upload("drawn", "0" * 32, "site", "", 1, "accepted", 0, about)
    monkeypatch.setattr(held.uploads, "accepted", lambda _: [one])
    with pytest.raises(RefusalError, match="7,000,000 rows are more than a server sends"):
        held.export("drawn")
    held.close()


def test_no_more_rows_are_mixed_than_fit_and_no_fewer_shown_than_the_minimum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = open_collection(tmp_path / "data", None, Settings(read_apart=False), Clock())
    fields = {"kind": "resampled", "schema": DRAWN.to_dict(), "minimum": 100}
    held.writer.now(held.studies.create("drawn", fields))
    held.writer.now(held.studies.open("drawn"))
    with pytest.raises(RefusalError, match="0 rows so far"):
        held.export("drawn")
    monkeypatch.setattr(held.uploads, "progress", lambda _: {"rows": 99})
    with pytest.raises(RefusalError, match="99 rows so far"):
        held.export("drawn")
    monkeypatch.setattr(held.uploads, "progress", lambda _: {"rows": 100})
    monkeypatch.setattr(collection, "MOST_WRITTEN", -1)
    with pytest.raises(RefusalError, match="more than a server sends"):
        held.export("drawn")
    held.close()


def test_neither_ids_nor_times_within_the_hour_are_kept_or_sent(tmp_path: Path) -> None:
    clock = Clock()
    clock.now += 1234.5
    held = open_collection(tmp_path / "data", None, Settings(read_apart=False), clock)
    held.writer.now(held.studies.create("commuting", {"scheme": SCHEME.to_dict(), "minimum": 2}))
    held.writer.now(held.studies.open("commuting"))
    ((token, secret),) = held.writer.now(held.tokens.make("site", "commuting"))
    report = held.responses.report("commuting", new_id(), SCHEME.fingerprint, None, {"car": 1, "sex": 0})
    held.writer.now(held.responses, report)
    table = {"car": ["no", "yes"] * 20, "sex": ["F", "M"] * 20, "person": [str(i) for i in range(40)]}
    path = sf.randomize(table, SCHEME, id="person").save(tmp_path / "release.parquet")
    data, id = path.read_bytes(), new_id()
    held.writer.now(held.uploads.announce("commuting", id, token.id, hashlib.sha256(data).hexdigest(), len(data)))
    held.uploads.files.append(held.uploads.find("commuting", id), 0, data)
    held.uploads.commit("commuting", id, token.id, AllowedColumns())
    sent = held.export("commuting")
    assert pq.read_schema(sent).names == list(SCHEME.columns) and pq.read_metadata(sent).num_rows == 41
    times = {"responses": ["hour"], "uploads": ["hour"], "tokens": ["created"], "studies": ["created", "opened"]}
    with held.database.engine.connect() as connection:
        for name, columns in times.items():
            for column in columns:
                found = connection.execute(text(f"SELECT {column} FROM {name}")).scalars().all()
                assert found and all(one % 3600 == 0 for one in found), f"{name}.{column}"
        (kept,) = connection.execute(text("SELECT hash FROM tokens")).scalars().all()
    assert secret not in kept and kept == hashlib.sha256(secret.encode()).hexdigest()
    held.close()


def test_what_a_file_of_records_hides_is_not_read_by_downloads(tmp_path: Path) -> None:
    """They are made in the server itself: a file of 6 MB took 870 MB of it."""
    real = sf.randomize({"car": ["no"] * 30, "sex": ["F"] * 30}, SCHEME).save(tmp_path / "real.parquet")
    rows, notes = pq.read_table(real), pq.read_metadata(real).metadata[KEY].decode()
    hidden = Page((64 << 17) + 1, bytes(8 * ((64 << 17) + 1)), kind=INDEX)
    columns = [
        Column(name, [*more, Page(30, rows.column(name).to_numpy().astype("<i8").tobytes())], INT64, None)
        for name, more in (("car", [hidden]), ("sex", []))
    ]
    file = make(tmp_path / "odd.parquet", columns, {"sfumato": notes})
    found = examine(file, COMMUTING)
    assert rewrite(real, examine(real, COMMUTING), tmp_path) is None
    written = rewrite(file, found, tmp_path)
    assert written is not None and structure(written).held.total() < 10_000
    assert sf.Release.load(written).arrow().equals(sf.Release.load(real).arrow())


@pytest.mark.parametrize("id", [None, "person"])
def test_what_the_server_writes_holds_the_same_rows(
    id: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewritten, "_AROUND", 0)
    schema = sf.Schema({name: sf.Categorical(("no", "yes")) for name in ("car", "bus", "pseudonym")})
    forms = sf.Forms.for_gamma(schema, 9, ask=2)
    people = {"person": [f"p{i}" for i in range(200)]}
    raw = {**{name: ["no", "yes"] * 100 for name in schema}, **({} if id is None else people)}
    file = sf.randomize(raw, forms, id=id, link_key=id and sf.new_link_key()).save(tmp_path / "a.parquet")
    study = Study("forms", {"scheme": forms.to_dict()}, "open", 0)
    written = rewrite(file, examine(file, study), tmp_path)
    assert written is not None
    before, after = (examine(path, study) for path in (file, written))
    assert before.about() == after.about()
    for form, tally in before.forms.items():
        assert all((after.forms[form].tables[columns] == table).all() for columns, table in tally.tables.items())
    ids = [
        sorted(release.arrow().column(release.id).to_pylist())
        for release in map(sf.Release.load, (file, written))
        if id
    ]
    assert len(set(map(tuple, ids))) == (id is not None)
