"""Parties that hold different columns of the same people, and share a link key: none keeps another out."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.hostile.parquet_maker import BYTE_ARRAY, INDEX, INT64, UTF8, Column, Page, make

import sfumato as sf
from service_client import SCHEMA, SCHEME, Http, new_id
from sfumato.reading import memory_limit
from sfumato.reading.parquet_structure import structure
from sfumato.reading.problems import described
from sfumato.service import own_process, parties, reader
from upload_client import UPLOADS, push, send, served, some_columns

CARS = ["car"]


@pytest.fixture
def http() -> Iterator[Http]:
    yield from served()


def site(http: Http, *columns: str) -> str:
    return http.token("site", columns=list(columns))


def counted(http: Http) -> int:
    return int(http.ask("GET", "/v1/studies/commuting/progress").json()["rows"])


def whole(path: Path, people: range, link: bytes) -> Path:
    raw = {name: [SCHEMA[name].labels[0]] * len(people) for name in SCHEMA}
    return sf.randomize(raw | {"person": [f"p{i}" for i in people]}, SCHEME, id="person", link_key=link).save(path)


def told(answer: Any) -> str:
    assert answer.status_code == 422, answer.text
    return str(answer.json()["error"]["message"])


def test_nobody_takes_the_columns_of_another_token(http: Http, tmp_path: Path) -> None:
    """Whoever pushed another party's columns first kept it out."""
    link = sf.new_link_key()
    cars, sexes, other = site(http, "car"), site(http, "sex"), http.token("site")
    theirs = some_columns(tmp_path / "theirs.parquet", "car", range(30), link)
    assert told(push(http, theirs, sexes)) == "this token pushes sex; the file holds car"
    assert "only tokens that name them" in told(push(http, theirs, other))
    records = whole(tmp_path / "whole.parquet", range(30), link)
    assert told(push(http, records, sexes)) == "this token pushes sex; the file holds car, sex"
    assert "only tokens that name them" in told(push(http, records, other))
    assert push(http, theirs, cars).status_code == 201
    assert push(http, some_columns(tmp_path / "mine.parquet", "sex", range(30), link), sexes).status_code == 201
    assert counted(http) == 30
    assert push(http, whole(tmp_path / "all.parquet", range(30, 50), link), site(http, "sex", "car")).status_code == 201
    assert counted(http) == 50


def test_counts_of_columns_are_pushed_with_their_token_too(http: Http, tmp_path: Path) -> None:
    raw = {"car": ["no", "yes"] * 20, "sex": ["F", "M"] * 20}
    tables = {}
    for names in (("car",), ("sex",), ("car", "sex")):
        release = sf.randomize({name: raw[name] for name in names}, SCHEME.select(names))
        tables[names] = sf.counted(release).save(tmp_path / f"{'-'.join(names)}.json")
    cars, both, other = site(http, "car"), site(http, "car", "sex"), http.token("site")
    assert "pushes car" in told(push(http, tables["sex",], cars))
    assert "pushes car" in told(push(http, tables["car", "sex"], cars))
    assert "only tokens that name them" in told(push(http, tables["sex",], other))
    assert push(http, tables["car",], cars).status_code == 201
    assert push(http, tables["sex",], both).status_code == 201


def test_columns_of_a_revoked_token_are_free_again_and_those_of_an_expired_one_are_not(
    http: Http, tmp_path: Path
) -> None:
    link, other = sf.new_link_key(), http.token("site")
    until = "2027-01-15T10:00:00Z"
    made = http.ask("POST", "/v1/tokens", {"role": "site", "study": "commuting", "columns": CARS, "expires": until})
    file = some_columns(tmp_path / "cars.parquet", "car", range(30), link)
    http.clock.now += 365 * 24 * 3600
    assert "only tokens that name them" in told(push(http, file, other))
    http.ask("DELETE", f"/v1/tokens/{made.json()['tokens'][0]['id']}")
    assert push(http, file, other).status_code == 201


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"role": "site", "columns": []}, "name at least one"),
        ({"role": "site", "columns": ["car", "shoes"]}, "the study has no shoes"),
        ({"role": "miner", "columns": ["car"]}, "for the token of a site"),
        ({"role": "invitation", "columns": ["car"]}, "for the token of a site"),
    ],
)
def test_a_token_names_columns_that_a_site_can_push(http: Http, asked: dict[str, Any], said: str) -> None:
    answer = http.ask("POST", "/v1/tokens", {"study": "commuting", **asked})
    assert answer.status_code == 400 and said in answer.text


def test_columns_that_are_randomized_together_are_named_together(http: Http) -> None:
    schema = sf.Schema({**SCHEMA, "bus": sf.Categorical(("no", "yes"))})
    joint = {("car", "sex"): sf.channels.symmetric((2, 3), 0.3), "bus": sf.channels.symmetric(2, 0.25)}
    http.study("joint", sf.Scheme(schema, joint))
    asked = {"role": "site", "study": "joint", "columns": CARS}
    assert "must also name sex" in http.ask("POST", "/v1/tokens", asked).text
    assert http.ask("POST", "/v1/tokens", {**asked, "columns": ["sex", "car", "sex"]}).status_code == 201


def test_a_site_reads_which_columns_it_pushes(http: Http) -> None:
    assert http.ask("GET", "/v1/tokens/self", token=site(http, "car")).json()["columns"] == CARS
    assert http.ask("GET", "/v1/tokens/self", token=http.token("site")).json()["columns"] is None


def test_made_up_rows_fill_only_the_share_of_their_own_columns(
    http: Http, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A party that pushed more rows than the server joins kept the other party out, which came later."""
    monkeypatch.setattr(parties, "MOST_JOINED", 100)
    link, mine, theirs = sf.new_link_key(), http.token("site"), http.token("site")
    for step in range(2):
        people = range(1000 + 50 * step, 1050 + 50 * step)
        assert push(http, some_columns(tmp_path / f"{step}.parquet", "sex", people, link), mine).status_code == 201
    more = some_columns(tmp_path / "more.parquet", "sex", range(2000, 2001), link)
    assert "101 rows of these columns under one link key are more than the 100" in told(push(http, more, mine))
    cars = some_columns(tmp_path / "cars.parquet", "car", range(1000, 1100), link)
    assert push(http, cars, theirs).status_code == 201 and counted(http) == 100
    another_key = some_columns(tmp_path / "another.parquet", "sex", range(100), sf.new_link_key())
    assert push(http, another_key, mine).status_code == 201


def test_room_that_a_deleted_file_took_is_free_again(
    http: Http, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parties, "MOST_JOINED", 50)
    link, token, id = sf.new_link_key(), http.token("site"), new_id()
    first = some_columns(tmp_path / "a.parquet", "car", range(50), link)
    assert push(http, first, token, id).status_code == 201
    assert "more than the 50" in told(push(http, some_columns(tmp_path / "b.parquet", "car", range(9), link), token))
    assert http.ask("DELETE", f"{UPLOADS}/{id}").status_code == 200
    again = some_columns(tmp_path / "c.parquet", "car", range(20), link)
    assert push(http, again, token).status_code == 201


def test_many_small_files_are_refused_where_they_are_pushed(
    http: Http, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is opened whenever columns are joined: a hundred thousand would take a fellow party's push ten minutes."""
    monkeypatch.setattr(parties, "MOST_FILES", 2)
    link, token = sf.new_link_key(), http.token("site")
    files = [some_columns(tmp_path / f"{i}.parquet", "car", range(i, i + 1), link) for i in range(3)]
    assert [push(http, file, token).status_code for file in files[:2]] == [201, 201]
    assert "push more rows in a file" in told(push(http, files[2], token))
    assert push(http, some_columns(tmp_path / "sex.parquet", "sex", range(3), link), token).status_code == 201
    assert counted(http) == 2


def test_two_files_at_once_do_not_pass_the_bound_together(
    http: Http, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parties, "MOST_JOINED", 50)
    link, token, answers = sf.new_link_key(), http.token("site"), []
    ids = [new_id(), new_id()]
    for step, id in enumerate(ids):
        people = range(100 * step, 100 * step + 40)
        send(http, some_columns(tmp_path / f"{step}.parquet", "car", people, link), token, id)

    def commit(id: str) -> None:
        answers.append(http.ask("POST", f"{UPLOADS}/{id}/commit", token=token).status_code)

    together = [threading.Thread(target=commit, args=(id,)) for id in ids]
    for one in together:
        one.start()
    for one in together:
        one.join()
    assert sorted(answers) == [201, 422]


def test_the_party_with_the_fewest_rows_says_how_much_is_held(tmp_path: Path) -> None:
    """The pseudonyms of all parties were held at once, and a record of each file."""
    link = sf.new_link_key()
    held = [
        {"id": name, "file": str(path), "rows": len(people), "attributes": [name], "link": "0" * 16}
        for name, people in (("car", range(40, 1000)), ("sex", range(50)))
        for path in [some_columns(tmp_path / f"{name}.parquet", name, people, link)]
    ]
    sizes: list[int] = []
    real = parties.in_order

    def watched(paths: list[Path]) -> Any:
        sizes.append(len(found := real(paths)))
        return found

    study = parties.Study("commuting", {"scheme": SCHEME.to_dict()}, "open", 0)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(parties, "in_order", watched)
        found = parties.complete(study, held)
    assert sizes == [50] and found is not None and len(found) == 10


def _hidden(path: Path, link: bytes, id: str, more: Sequence[Page], head: bytes = b"") -> Path:
    """The column "sex" of 30 people, with pages beside those that it needs, and ``head`` before its rows."""
    real = some_columns(path.with_name("real.parquet"), "sex", range(30), link)
    notes = json.loads(pq.read_metadata(real).metadata[b"sfumato"])
    notes["id"]["name"] = id
    rows = pq.read_table(real)
    ids = b"".join(len(one).to_bytes(4, "little") + one.encode() for one in rows.column("person").to_pylist())
    codes = np.asarray(rows.column("sex").to_pylist(), dtype="<i8").tobytes()
    columns = [
        Column("sex", [*more, Page(30, codes)], type=INT64, converted=None),
        Column(id, [Page(30, ids)], type=BYTE_ARRAY, converted=UTF8),
    ]
    return make(path, columns, {"sfumato": json.dumps(notes), "more": head.hex()})


@pytest.mark.parametrize("what", ["a dictionary", "a name", "notes"])
def test_what_a_party_hides_in_its_file_is_not_read_by_others(http: Http, tmp_path: Path, what: str) -> None:
    """A dictionary that fills a process, or pages that take its time, were read again with each push of another party:
    ten megabytes of one kept 2.5 million records of the other out.
    """
    link = sf.new_link_key()
    more = [Page(1 << 21, bytes(8 << 21), kind=INDEX)] if what == "a dictionary" else []
    id = "x" * (1 << 20) if what == "a name" else "person"
    hidden = _hidden(tmp_path / "sex.parquet", link, id, more, bytes(1 << 20) if what == "notes" else b"")
    assert push(http, hidden, site(http, "sex")).status_code == 201
    (kept,) = (http.collection.uploads.files.folder / "commuting").glob("*.parquet")
    assert kept.stat().st_size < 10_000
    assert structure(kept).held.total() < 100_000
    assert (
        push(http, some_columns(tmp_path / "car.parquet", "car", range(20), link), site(http, "car")).status_code == 201
    )
    assert counted(http) == 20


def test_pseudonyms_are_not_read_to_know_their_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them were held at once for that: a file of ten million, which are allowed, was refused."""
    file = some_columns(tmp_path / "sex.parquet", "sex", range(30), sf.new_link_key())
    monkeypatch.setattr(memory_limit, "open_parquet", Mock(side_effect=AssertionError))
    memory_limit.check_decoded(file, ["sex", "person"])


def test_many_parts_of_a_partys_file_become_one(http: Http, tmp_path: Path) -> None:
    """Each part would be a row group, and a file of many is refused where another party's push reads it."""
    file, link = tmp_path / "sex.parquet", sf.new_link_key()
    some_columns(file, "sex", range(60), link)
    notes = json.loads(pq.read_metadata(file).metadata[b"sfumato"])
    notes["parts"] = [{**notes["parts"][0], "rows": 1}] * 60
    pq.write_table(pq.read_table(file).replace_schema_metadata({"sfumato": json.dumps(notes)}), file)
    assert push(http, file, site(http, "sex")).status_code == 201
    (kept,) = (http.collection.uploads.files.folder / "commuting").glob("*.parquet")
    assert pq.read_metadata(kept).num_row_groups == 1 and len(sf.Release.load(kept).parts) == 1
    assert (
        push(http, some_columns(tmp_path / "car.parquet", "car", range(60), link), site(http, "car")).status_code == 201
    )
    assert counted(http) == 60


def test_a_full_disk_is_no_fault_of_a_partys_file(http: Http, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, token, id = (
        some_columns(tmp_path / "a.parquet", "car", range(9), sf.new_link_key()),
        http.token("site"),
        new_id(),
    )
    with monkeypatch.context() as patched:
        patched.setattr(reader, "rewrite", Mock(side_effect=sf.errors.ReleaseError("the disk is full")))
        assert push(http, file, token, id).status_code == 503
    assert http.ask("POST", f"{UPLOADS}/{id}/commit", token=token).status_code == 201
    folder = http.collection.uploads.files.folder / "commuting"
    assert [path.suffix for path in folder.iterdir()] == [".parquet"]


def test_the_bound_is_lower_for_wide_records() -> None:
    def scheme(columns: int) -> sf.Scheme:
        schema = sf.Schema({f"c{i}": sf.Categorical(("no", "yes")) for i in range(columns)})
        return sf.Scheme(schema, {name: sf.channels.symmetric(2, 0.25) for name in schema})

    assert parties.most_rows(scheme(2)) == 10_000_000
    assert parties.most_rows(scheme(100)) < 5_000_000  # they take the memory of a process
    assert parties.most_rows(scheme(1000)) < 250_000  # and all their pairs the time that it has


@pytest.mark.parametrize("odd", ["Z" * 32, "A" * 32, "é" * 32, "a" * 31, None])
def test_what_is_no_pseudonym_is_refused(http: Http, tmp_path: Path, odd: str | None) -> None:
    file = some_columns(tmp_path / "odd.parquet", "sex", range(5), sf.new_link_key())
    notes, rows = pq.read_metadata(file).metadata, pq.read_table(file)
    at = rows.schema.get_field_index("person")
    ids = [*rows.column(at).to_pylist()[:4], odd]
    for kind in (pa.string(), pa.dictionary(pa.int32(), pa.string()), pa.large_string()):
        changed = rows.set_column(at, "person", pa.array(ids, pa.string()).cast(kind))
        pq.write_table(changed.replace_schema_metadata({"sfumato": notes[b"sfumato"]}), file)
        assert told(push(http, file, http.token("site"))) == "column 'person' of row 5 is no pseudonym"


def test_a_pseudonym_that_is_there_twice_is_refused(http: Http, tmp_path: Path) -> None:
    file = some_columns(tmp_path / "odd.parquet", "sex", range(5), sf.new_link_key())
    notes, rows = pq.read_metadata(file).metadata, pq.read_table(file)
    at = rows.schema.get_field_index("person")
    ids = rows.column(at).to_pylist()
    rows = rows.set_column(at, "person", pa.array([*ids[:4], ids[0]]))
    pq.write_table(rows.replace_schema_metadata({"sfumato": notes[b"sfumato"]}), file)
    assert "1 of its pseudonyms occur more than once" in told(push(http, file, http.token("site")))


def test_want_of_memory_is_not_called_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file of another party was said to be damaged where both did not fit into memory."""
    assert described(pa.ArrowMemoryError("malloc of size 400000000 failed")) == "there is not enough memory for it"

    def late(module: str, given: bytes, seconds: float) -> Any:
        raise own_process.NoAnswerError(late=bool(json.loads(given)["join"]))

    monkeypatch.setattr(own_process, "ask", late)
    for given, said in (([], "much memory"), ([{"file": "x"}], "long")):
        with pytest.raises(sf.SfumatoError, match=f"joined with those of other parties: it takes too {said}"):
            reader._apart({"join": given})
