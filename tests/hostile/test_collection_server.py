"""Sites, miners and strangers against the collection server: nobody spoils what others sent, or sees more than is said."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import pathlib
import threading
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack, closing, nullcontext, suppress
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import event, select
from sqlalchemy.exc import OperationalError

import sfumato as sf
from service_client import SCHEMA, SCHEME, Clock, Http, new_id
from sfumato.service import collected, collection, counted_files, export, intake, noisy_numbers, reader, study, tallies
from sfumato.service.allowed_columns import AllowedColumns
from sfumato.service.collection import Collection, open_collection
from sfumato.service.packed_tables import PackedTables, packed
from sfumato.service.refusals import RefusalError
from sfumato.service.settings import Settings
from sfumato.service.storage import tables
from sfumato.service.sweeping import UNFINISHED
from upload_client import UPLOADS, push, send, served, some_columns


@pytest.fixture
def http() -> Iterator[Http]:
    yield from served()


def raw(n: int, seed: int = 0) -> dict[str, list[str]]:
    rng = np.random.default_rng(seed)
    sexes = rng.choice(["F", "M", "other"], n).tolist()
    return {"car": ["no"] * (n // 2) + ["yes"] * (n - n // 2), "sex": sexes, "person": [f"p{i}" for i in range(n)]}


def released(path: Path, n: int = 100, seed: int = 0, **more: Any) -> Path:
    return sf.randomize(raw(n, seed), more.pop("scheme", SCHEME), **more).save(path)


def downloaded(http: Http, path: Path) -> sf.Release:
    answer = http.ask("GET", "/v1/studies/commuting/release")
    assert answer.status_code == 200, answer.text
    path.write_bytes(answer.content)
    return sf.Release.load(path)


def test_no_site_overwrites_what_another_pushed(http: Http, tmp_path: Path) -> None:
    """An id may look like a digest, and accepted files are named by their digests."""
    first, second = released(tmp_path / "a.parquet"), released(tmp_path / "b.parquet", seed=1)
    digest = hashlib.sha256(first.read_bytes()).hexdigest()
    assert push(http, first, http.token("site")).status_code == 201
    assert push(http, second, http.token("site"), id=digest).status_code == 201
    assert len(downloaded(http, tmp_path / "all.parquet")) == 200
    wrong = tmp_path / "c.parquet"
    wrong.write_bytes(b"PAR1 and nothing more")
    third = hashlib.sha256(second.read_bytes()).hexdigest()
    assert push(http, wrong, http.token("site"), id=third).status_code == 422
    assert len(downloaded(http, tmp_path / "all.parquet")) == 200


@pytest.mark.filterwarnings("ignore:the rows keep their order")
def test_downloaded_rows_tell_nothing_by_their_order(http: Http, tmp_path: Path) -> None:
    """Rows that a site left in order, or that stand in the order of pseudonyms, which holders of the link key know."""
    kept = released(tmp_path / "kept.parquet", 4000, order="keep")
    assert push(http, kept, http.token("site")).status_code == 201
    found = downloaded(http, tmp_path / "all.parquet")
    halves = np.split(found.arrow().column("car").to_numpy().astype(float), 2)
    assert found.order == "shuffled" and abs(halves[0].mean() - halves[1].mean()) < 0.1
    linked = released(tmp_path / "linked.parquet", 500, id="person", link_key=sf.new_link_key())
    assert push(http, linked, http.token("site")).status_code == 201
    rows, own = (sf.Release.load(path).arrow().column("sex") for path in (tmp_path / "all.parquet", linked))
    assert (
        downloaded(http, tmp_path / "all.parquet").arrow().column("sex").slice(len(rows)).to_pylist() != own.to_pylist()
    )


def test_a_file_that_is_committed_twice_at_once_counts_once(
    http: Http, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, site, meet = released(tmp_path / "a.parquet"), http.token("site"), threading.Barrier(2)
    look = reader.read

    def met(*given: Any) -> Any:
        found = look(*given)
        with suppress(threading.BrokenBarrierError):
            meet.wait(0.5)
        return found

    monkeypatch.setattr(reader, "read", met)
    ids, answers = [new_id(), new_id()], []
    for id in ids:
        send(http, file, site, id)

    def commit(id: str) -> None:
        answers.append(http.ask("POST", f"{UPLOADS}/{id}/commit", token=site).status_code)

    threads = [threading.Thread(target=commit, args=(id,)) for id in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [201, 409]
    assert http.ask("GET", "/v1/studies/commuting/progress").json()["rows"] == 100


def test_deleting_an_upload_leaves_the_file_of_another(http: Http, tmp_path: Path) -> None:
    file, site, ids = released(tmp_path / "a.parquet"), http.token("site"), [new_id() for _ in range(3)]
    push(http, file, site, ids[0])
    http.ask("DELETE", f"{UPLOADS}/{ids[0]}")
    send(http, file, site, ids[1])
    assert push(http, file, site, ids[2]).status_code == 201
    assert http.ask("DELETE", f"{UPLOADS}/{ids[0]}").json()["state"] == "deleted"
    assert http.ask("DELETE", f"{UPLOADS}/{ids[1]}").json()["state"] == "deleted"
    assert len(downloaded(http, tmp_path / "all.parquet")) == 100


def test_one_file_does_not_take_all_threads(http: Http, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many commits of a file that takes long to read, or of many such files, are asked to come back."""
    file, site, id = released(tmp_path / "a.parquet"), http.token("site"), new_id()
    send(http, file, site, id)
    upload = http.collection.uploads.find("commuting", id)
    with http.collection.uploads.lock(upload):
        busy = http.ask("POST", f"{UPLOADS}/{id}/commit", token=site)
    assert (busy.status_code, busy.headers["retry-after"]) == (503, "2")
    monkeypatch.setattr(reader, "_LINE", 2)
    with reader.in_line("another"), reader.in_line("third"):
        busy = http.ask("POST", f"{UPLOADS}/{id}/commit", token=site)
    assert (busy.status_code, busy.headers["retry-after"]) == (503, "10")
    assert http.ask("POST", f"{UPLOADS}/{id}/commit", token=site).status_code == 201


def test_the_files_of_one_site_leave_half_of_the_places_to_others(http: Http, tmp_path: Path) -> None:
    """Eight files of one site that take long to read kept those of all others out."""
    site, other = http.token("site"), http.token("site")
    mine = http.ask("GET", "/v1/tokens/self", token=site).json()["id"]
    ids = {token: new_id() for token in (site, other)}
    for token, id in ids.items():
        send(http, released(tmp_path / f"{id}.parquet"), token, id)
    with ExitStack() as places:
        with suppress(sf.SfumatoError):
            for _ in range(8):
                places.enter_context(reader.in_line(mine))
        assert http.ask("POST", f"{UPLOADS}/{ids[site]}/commit", token=site).status_code == 503
        assert http.ask("POST", f"{UPLOADS}/{ids[other]}/commit", token=other).status_code == 201
    assert http.ask("POST", f"{UPLOADS}/{ids[site]}/commit", token=site).status_code == 201


def _wide(rows: int) -> tuple[study.Study, tallies.Tally]:
    schema = sf.Schema({f"c{i}": sf.Ordinal(tuple(range(50))) for i in range(20)})
    scheme = sf.Scheme(schema, {name: sf.channels.symmetric(50, 0.01) for name in schema})
    tally, rng = tallies.Tally(scheme), np.random.default_rng(1)
    tally.add({name: rng.integers(0, 50, rows) for name in schema}, rows)
    return study.Study("wide", {"scheme": scheme.to_dict()}, "open", 0), tally


@pytest.mark.parametrize("rows", [0, 1, 100, 50_000])
def test_tables_of_small_files_take_little(rows: int) -> None:
    """A file of one row took a second to add up after each start, and 238 kB: a thousand stopped the results."""
    of, tally = _wide(rows)
    held = PackedTables({"forms": {"0": rows}}, packed({0: tally}))
    assert len(held.counts) < 2000 * max(rows, 1)
    sums: dict[int, tallies.Tally] = {}
    for sign in (1, 1, -1):
        held.add_to(sums, of, sign)
    assert sums.keys() == ({0} if rows else set())
    if rows:
        assert sums[0].n == rows
        assert all((sums[0].tables[columns] == table).all() for columns, table in tally.tables.items())


def test_tables_of_older_databases_are_read() -> None:
    of, tally = _wide(100)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **{f"0.{j}": table for j, table in enumerate(tally.tables.values())})
    sums: dict[int, tallies.Tally] = {}
    PackedTables({"forms": {"0": 100}}, buffer.getvalue()).add_to(sums, of)
    assert all((sums[0].tables[columns] == table).all() for columns, table in tally.tables.items())


def party(path: Path, name: str, link: bytes) -> Path:
    return released(path, scheme=SCHEME.select([name]), id="person", link_key=link)


def test_nobody_waits_while_parties_are_joined(http: Http, tmp_path: Path) -> None:
    for _ in range(2):
        http.respond()
    push(http, party(tmp_path / "a.parquet", "car", sf.new_link_key()), http.token("site"))
    joins, answers, done = http.collection.uploads._joins, [], threading.Event()
    joins._held.clear()

    def ask() -> None:
        answers.append(http.ask("GET", "/v1/studies/commuting/estimates?names=car"))
        done.set()

    asked = threading.Thread(target=ask)
    with joins._joining:
        asked.start()
        assert done.wait(10)
    asked.join()
    assert answers[0].status_code == 503
    ask()
    assert answers[1].status_code == 200


def test_a_file_that_cannot_be_joined_does_not_stop_the_study(
    http: Http, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        http.respond()

    def refused(*_: Any) -> Any:
        raise RefusalError("refused", "the file takes more memory to read than is allowed")

    monkeypatch.setattr(reader, "join", refused)
    id = new_id()
    answer = push(http, party(tmp_path / "a.parquet", "car", sf.new_link_key()), http.token("site"), id)
    assert answer.status_code == 422
    assert http.ask("GET", f"{UPLOADS}/{id}").json()["state"] == "refused"
    for path in ("progress", "estimates?names=car", "release"):
        assert http.ask("GET", f"/v1/studies/commuting/{path}").status_code == 200


def test_a_batch_costs_as_many_requests_as_it_has_responses() -> None:
    for http in served(per_address=1, burst=100):
        one = {"study": "commuting", "fingerprint": SCHEME.fingerprint, "answers": {"car": 1, "sex": 2}}
        batch = {"responses": [{**one, "id": new_id()} for _ in range(60)]}
        assert http.ask("POST", "/v1/responses", batch, None).status_code == 200
        assert http.ask("POST", "/v1/responses", batch, None).status_code == 429
        assert http.ask("GET", "/v1/health", token=None).status_code == 200


def test_files_of_counts_are_read_once_and_not_for_every_look(
    http: Http, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight megabytes of tables took most of a second of every request for an estimate."""
    site, looks = http.token("site"), []
    for seed in (1, 2):
        rows = sf.randomize(raw(100, seed), SCHEME)
        assert push(http, sf.counted(rows, [("car", "sex")]).save(tmp_path / f"{seed}.json"), site).status_code == 201
    look = counted_files.read_counts
    monkeypatch.setattr(counted_files, "read_counts", lambda path: looks.append(path) or look(path))
    for _ in range(3):
        assert http.ask("GET", "/v1/studies/commuting/estimates?names=car").json()["answers"] == 200
    assert len(looks) == 2
    monkeypatch.setattr(counted_files, "_MOST_BYTES", 100)
    large = sf.counted(sf.randomize(raw(100, 3), SCHEME), [("car", "sex")]).save(tmp_path / "3.json")
    assert push(http, large, site).status_code == 422


def test_what_files_of_counts_hide_is_not_read_by_the_server(http: Http, tmp_path: Path) -> None:
    """They are read in the server itself: 57 MB of empty lists took 1.7 GB and ten seconds."""
    counts = [sf.counted(sf.randomize(raw(100, seed), SCHEME), [("car", "sex")]) for seed in range(3)]
    sent = [sf.split_counts(one, 3, site) for site, one in enumerate(counts, 1)]
    shares = [sf.add_shares([of[to] for of in sent]) for to in range(3)]
    for place, one in enumerate((*counts, *shares)):
        file, id = one.save(tmp_path / f"{place}.json"), new_id()
        document = json.loads(file.read_text())
        document["parts"] = document["parts"] * (100 if place < 3 else 1)
        file.write_text(json.dumps({**document, "more": [[]] * 100_000, "said": "\U0001f600" * 10_000}))
        assert push(http, file, http.token("site"), id).status_code == 201
        kept = http.collection.uploads.files.taken(http.collection.uploads.find("commuting", id))
        assert kept.stat().st_size < 2_000
    found = http.ask("GET", "/v1/studies/commuting/estimates?names=car").json()
    assert found["answers"] == 3 * 100 * 100 + 300


def test_one_more_file_of_counts_is_all_that_is_read(
    http: Http, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site, looks, ids = http.token("site"), [], [new_id() for _ in range(3)]
    look = counted_files.read_counts
    monkeypatch.setattr(counted_files, "read_counts", lambda path: looks.append(path) or look(path))
    for seed, id in enumerate(ids):
        file = sf.counted(sf.randomize(raw(100, seed), SCHEME), [("car", "sex")]).save(tmp_path / f"{seed}.json")
        assert push(http, file, site, id).status_code == 201
        looks.clear()
        found = http.ask("GET", "/v1/studies/commuting/estimates?names=car").json()
        assert (found["answers"], len(looks)) == (100 * (seed + 1), 1)
    http.ask("DELETE", f"{UPLOADS}/{ids[1]}")
    assert http.ask("GET", "/v1/studies/commuting/estimates?names=car").json()["answers"] == 200


def test_a_file_of_counts_has_so_many_kinds_of_tables(
    http: Http, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counted_files, "_MOST_PARTS", 1)
    release = sf.randomize(raw(100), SCHEME)
    parts = [part for tables in (["car"], ["sex"]) for part in sf.counted(release, [tables]).parts]
    refused = push(http, sf.Release.of(parts).save(tmp_path / "a.json"), http.token("site"))
    assert refused.status_code == 422 and "kinds of tables" in refused.text


def test_what_anybody_may_ask_for_is_made_once(http: Http, monkeypatch: pytest.MonkeyPatch) -> None:
    made, once = [], study.questionnaire
    monkeypatch.setattr(study, "questionnaire", lambda scheme: made.append(1) or once(scheme))
    asked = [threading.Thread(target=http.ask, args=("GET", "/v1/studies/commuting/questionnaire")) for _ in range(4)]
    for thread in asked:
        thread.start()
    for thread in asked:
        thread.join()
    assert len(made) == 1
    page = http.ask("GET", "/v1/studies/commuting/questionnaire", token=None)
    assert page.json()["fingerprint"] == SCHEME.fingerprint and page.headers["content-type"] == "application/json"


def test_others_on_the_machine_cannot_read_the_answers(http: Http, tmp_path: Path) -> None:
    """Also where the folder was there before, and is open to all."""
    tmp_path.chmod(0o755)
    open_collection(tmp_path).close()
    assert not [path.name for path in tmp_path.iterdir() if path.is_file() and path.stat().st_mode & 0o077]


def test_sweeping_waits_for_nobody(http: Http) -> None:
    """An old upload whose bytes trickle in held up everybody who announced one, until no thread was left to end it."""
    uploads = http.collection.uploads
    old, _ = http.collection.writer.now(uploads.announce("commuting", new_id(), "site", "0" * 64, 100))
    http.collection.clock.now += UNFINISHED + 7200
    with uploads.lock(old):
        sweeping = threading.Thread(target=uploads.sweep, daemon=True)
        sweeping.start()
        sweeping.join(10)
        assert not sweeping.is_alive() and uploads.find("commuting", old.id) is old
        with pytest.raises(RefusalError, match="being looked at"):
            uploads.delete("commuting", old.id)
    uploads.sweep()
    assert uploads.every("commuting") == []


def test_an_upload_that_another_sweeps_is_left_to_it(http: Http, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two who announced at once, the second looked for what the first had forgotten, and failed."""
    uploads = http.collection.uploads
    http.collection.writer.now(uploads.announce("commuting", new_id(), "site", "0" * 64, 100))
    http.collection.clock.now += UNFINISHED + 7200
    found = uploads.unfinished
    uploads.sweep()
    monkeypatch.setattr(type(uploads), "unfinished", found)
    uploads.sweep()
    assert uploads.every("commuting") == []


def test_a_model_rests_on_no_table_of_few_people(http: Http) -> None:
    """Three people were asked both attributes. Their table was refused, and models were learned from it."""
    domains = {name: sf.Categorical(("no", "yes")) for name in "abz"}
    pairs = [("a", "b"), ("a", "z"), ("b", "z")]
    forms = sf.Forms([sf.Scheme.for_gamma(sf.Schema({name: domains[name] for name in pair}), 4) for pair in pairs])
    held = http.collection
    held.writer.now(held.studies.create("pairs", {"scheme": forms.to_dict(), "minimum": 20}))
    held.writer.now(held.studies.open("pairs"))
    for form, answers in ((0, 3), (1, 20), (2, 20)):
        for number in range(answers):
            given = dict(zip(pairs[form], (number % 2, number // 2 % 2), strict=True))
            body = {"id": new_id(), "fingerprint": forms.fingerprint, "form": form, "answers": given}
            assert http.ask("POST", "/v1/studies/pairs/responses", body).status_code == 201
    for asked in ("estimates?names=a,b", "models/tree?target=a&names=b", "models/network?names=a,b,z"):
        answer = http.ask("GET", f"/v1/studies/pairs/{asked}", token=http.admin)
        assert answer.status_code == 409 and answer.json()["error"]["code"] == "too_few"
    assert http.ask("GET", "/v1/studies/pairs/models/tree?target=a&names=z", token=http.admin).status_code == 200


@pytest.mark.parametrize("link", ["x" * 1000, "a\0b", "", "UPPER0123456789a"])
def test_a_site_names_no_key_that_a_database_does_not_take(http: Http, tmp_path: Path, link: str) -> None:
    """PostgreSQL takes neither NUL nor long names: a file that was accepted all the same stopped every estimate."""
    made = sf.Release.load(party(tmp_path / "a.parquet", "car", sf.new_link_key()))
    crafted = sf.Release(made.arrow(), made.scheme, "person", link).save(tmp_path / "b.parquet")
    answer = push(http, crafted, http.token("site"))
    assert answer.status_code == 422 and "does not name the key" in answer.text
    assert push(http, tmp_path / "a.parquet", http.token("site")).status_code == 201


def test_who_withdraws_does_not_have_all_tables_written(http: Http, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables of a wide study take seconds to write, in the thread that writes everybody's answers."""
    written: list[str] = []
    save = collected.Collected.save
    monkeypatch.setattr(collected.Collected, "save", lambda held, to: (written.append(held.study), save(held, to))[1])
    ids = [new_id() for _ in range(8)]
    assert all(http.respond(id).status_code == 201 for id in ids)
    http.clock.now += 3600
    assert http.respond().status_code == 201
    for id in ids[:5]:
        assert http.ask("DELETE", f"/v1/studies/commuting/responses/{id}", token=None).status_code == 200
        assert http.respond().status_code == 201
    assert written == ["commuting"]  # once, when the hour ended
    http.collection.responses.save()
    assert written == ["commuting"] * 2 and http.count() == 9


def test_tables_of_few_attributes_do_not_stop_the_estimates_of_others(http: Http, tmp_path: Path) -> None:
    """A file of 600 bytes that counts one attribute made every question about the others fail."""
    rows = released(tmp_path / "rows.parquet", 300)
    assert push(http, rows, http.token("site")).status_code == 201
    path = "/v1/studies/commuting"
    asked = [f"{path}/estimates?names=sex", f"{path}/estimates?names=car,sex", f"{path}/models/rules?names=car,sex"]
    before = [http.ask("GET", one).json() for one in asked]
    few = sf.counted(sf.randomize(raw(1000, 1), SCHEME), [("car",)]).save(tmp_path / "few.json")
    assert push(http, few, http.token("site")).status_code == 201
    assert [http.ask("GET", one).json() for one in asked] == before and before[0]["answers"] == 300
    assert http.ask("GET", f"{path}/estimates?names=car").json()["answers"] == 1300


def test_tables_that_are_left_out_do_not_make_up_the_minimum(http: Http, tmp_path: Path) -> None:
    few = sf.counted(sf.randomize(raw(1000, 1), SCHEME), [("car",), ("sex",)]).save(tmp_path / "few.json")
    assert push(http, few, http.token("site")).status_code == 201
    missing = http.ask("GET", "/v1/studies/commuting/estimates?names=car,sex").json()["error"]
    assert missing["code"] == "not_possible" and "no table of counts holds car and sex" in missing["message"]
    assert http.respond().status_code == 201
    for asked in ("estimates?names=car,sex", "models/rules?names=car,sex"):
        assert http.ask("GET", f"/v1/studies/commuting/{asked}").json()["error"]["code"] == "too_few"


@pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
@pytest.mark.parametrize("number", ["1e308", "-1e139", "1" + "0" * 400, "400", "1e999", "NaN"])
def test_one_number_does_not_spoil_a_distribution(http: Http, tmp_path: Path, number: str) -> None:
    """Numbers under additive noise are whatever somebody sends: one of 1e308 left the study without a distribution."""
    schema = sf.Schema({"age": sf.Numeric(0, 100, bins=10), "sex": sf.Categorical(("F", "M"))})
    scheme = sf.Scheme(schema, {"age": sf.channels.gaussian(10.0), "sex": sf.channels.symmetric(2, 0.3)})
    http.study("ages", scheme)
    numbers = np.random.default_rng(1).normal(50, 15, 40).tolist()

    def send(text: str) -> int:
        one = f'{{"id": "{new_id()}", "fingerprint": "{scheme.fingerprint}", "answers": {{"age": {text}, "sex": 1}}}}'
        kind = {"content-type": "application/json"}
        return http.ask("POST", "/v1/studies/ages/responses", token=None, content=one, headers=kind).status_code

    assert {send(repr(one)) for one in [*numbers, -60.0, 160]} == {201}
    assert send(number) == 422
    assert http.ask("GET", "/v1/studies/ages/models/distribution?target=age").status_code == 200


@pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
def test_files_hold_no_number_that_noise_does_not_lead_to(tmp_path: Path) -> None:
    schema = sf.Schema({"age": sf.Numeric(0, 100, bins=10)})
    scheme = sf.Scheme(schema, {"age": sf.channels.laplace(10.0)})
    uniform = sf.Scheme(schema, {"age": sf.channels.uniform(1)})
    assert noisy_numbers.reach(uniform, "age") == pytest.approx((-2, 102))
    asked = study.new_study("ages", {"scheme": scheme.to_dict(), "minimum": 2}, 0)
    made = sf.randomize({"age": [0, 100] * 1000}, scheme)
    assert intake.examine(made.save(tmp_path / "a.parquet"), asked).rows == 2000
    rows = made.arrow().to_pydict()
    rows["age"][7] = 1e308
    crafted = sf.Release(pa.table(rows), scheme).save(tmp_path / "b.parquet")
    with pytest.raises(RefusalError, match="'age' of row 8 is no number from"):
        intake.examine(crafted, asked)


def test_counts_that_others_pushed_do_not_make_a_few_rows_many(http: Http, tmp_path: Path) -> None:
    """One answer among a thousand pushed as counts could be downloaded by itself."""
    counts = sf.counted(sf.randomize(raw(1000, 1), SCHEME)).save(tmp_path / "counts.json")
    assert push(http, counts, http.token("site")).status_code == 201
    assert http.respond().status_code == 201
    path = "/v1/studies/commuting"
    assert http.ask("GET", f"{path}/estimates?names=car").json()["answers"] == 1001
    refused = http.ask("GET", f"{path}/release")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "too_few")
    assert refused.json()["error"]["details"]["answers"] == 1


WIDE = sf.Schema({f"q{i}": sf.Categorical(tuple(f"v{j}" for j in range(30))) for i in range(8)})


@pytest.mark.parametrize("link", [False, True], ids=["files", "keys"])
def test_small_files_do_not_hold_as_many_large_tables(tmp_path: Path, link: bool) -> None:
    scheme = sf.Scheme.for_gamma(WIDE, 3)
    one = sum(table.nbytes for table in tallies.Tally(scheme).tables.values())
    assert one > 1_000_000
    made = Settings(per_address=0, per_token=0, read_apart=False)
    with closing(open_collection(tmp_path / "data", None, made, Clock())) as held:
        held.writer.now(held.studies.create("commuting", {"scheme": scheme.to_dict(), "minimum": 2}))
        held.writer.now(held.studies.open("commuting"))
        ((token, _),) = held.writer.now(held.tokens.make("site", "commuting"))
        rows = {name: ["v0", "v1"] for name in WIDE} | {"person": ["a", "b"]}
        part = scheme.select(WIDE.names[:4]) if link else scheme
        paths = [sf.randomize(rows, part, id="person").save(tmp_path / f"{i}.parquet") for i in range(4)]
        take(held, paths[0], token.id)
        held.estimates("commuting")
        tracemalloc.start()
        for path in paths[1:]:
            take(held, path, token.id)
        held.estimates("commuting")
        # the interpreter's own table of names, which grows now and then, is not meant
        kept = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(False, pathlib.__file__)])
        grown = sum(one.size for one in kept.statistics("filename"))
        tracemalloc.stop()
        assert grown < 1.5 * one, f"{grown / one:.1f} times the tables of one file"
        assert held.uploads.progress("commuting")["rows"] == (0 if link else 8)


def test_tables_follow_what_is_pushed_and_deleted(http: Http, tmp_path: Path) -> None:
    site = http.token("site")
    ids = [new_id() for _ in range(3)]
    for seed, id in enumerate(ids):
        assert push(http, released(tmp_path / f"{seed}.parquet", 50, seed), site, id).status_code == 201
        assert counted(http) == 50 * (seed + 1)
    assert http.ask("DELETE", f"{UPLOADS}/{ids[1]}").status_code == 200
    assert counted(http) == 100
    http.collection.writer.reload(http.collection.database.engine.connect())
    assert counted(http) == 100


def counted(http: Http) -> int:
    answer = http.ask("GET", "/v1/studies/commuting/estimates?names=car").json()
    assert sum(answer["released"]["counts"]) == answer["answers"]
    return int(answer["answers"])


def take(held: Collection, path: Path, token: str) -> None:
    """Announce a file, send it and have it taken."""
    data, id = path.read_bytes(), new_id()
    held.writer.now(held.uploads.announce("commuting", id, token, hashlib.sha256(data).hexdigest(), len(data)))
    held.uploads.files.append(held.uploads.find("commuting", id), 0, data)
    held.uploads.commit("commuting", id, token, AllowedColumns())


def asking(http: Http, path: str, token: str, count: int) -> list[int]:
    """The statuses of so many requests at once."""
    statuses: list[int] = []
    threads = [
        threading.Thread(target=lambda: statuses.append(http.ask("GET", path, token=token).status_code))
        for _ in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return statuses


@pytest.mark.parametrize(
    ("path", "work", "most"),
    [("release", "export", 1), ("estimates?names=car", "estimates", 2)],
    ids=["rows", "shares"],
)
def test_one_miner_does_not_keep_all_threads_of_the_server(
    http: Http, monkeypatch: pytest.MonkeyPatch, path: str, work: str, most: int
) -> None:
    for _ in range(2):
        assert http.respond().status_code == 201
    plain, counting, running = getattr(http.collection, work), threading.Lock(), []
    at_once = [0]

    def slow(study: str) -> Any:
        with counting:
            at_once[0] += 1
            running.append(at_once[0])
        time.sleep(0.01)
        with counting:
            at_once[0] -= 1
        return plain(study)

    monkeypatch.setattr(http.collection, work, slow)
    statuses = asking(http, f"/v1/studies/commuting/{path}", http.token("miner"), 40)
    assert set(statuses) <= {200, 503} and statuses.count(200) >= 8
    assert max(running) <= most


def test_downloads_that_nobody_reads_do_not_fill_the_disk(http: Http, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "DOWNLOADS", 2)
    for _ in range(2):
        assert http.respond().status_code == 201
    held = [http.collection.export("commuting") for _ in range(2)]
    assert http.ask("GET", "/v1/studies/commuting/release").status_code == 503
    held[0].unlink()
    assert http.ask("GET", "/v1/studies/commuting/release").status_code == 200


def test_an_upload_that_is_deleted_while_rows_are_written_is_said(
    http: Http, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asked for the rows heard that something went wrong in the server."""
    site, id, responses = http.token("site"), new_id(), export._responses
    assert push(http, released(tmp_path / "a.parquet"), site, id).status_code == 201
    assert push(http, released(tmp_path / "b.parquet", seed=1), site).status_code == 201

    def meanwhile(*given: Any) -> Any:
        http.collection.uploads.delete("commuting", id)
        return responses(*given)

    monkeypatch.setattr(export, "_responses", meanwhile)
    answer = http.ask("GET", "/v1/studies/commuting/release")
    assert answer.status_code == 503 and "deleted meanwhile" in answer.text
    assert len(downloaded(http, tmp_path / "all.parquet")) == 100
    assert not list(http.collection._exports.glob("*"))


def test_a_site_counts_no_more_records_than_there_can_be(http: Http, tmp_path: Path) -> None:
    """Thousands of parts of 2^50 records each were more than the database takes: nothing could be stored meanwhile."""
    n, part = 1 << 50, SCHEME.select(["car"])
    path = tmp_path / "counts.json"
    tables = [{"columns": ["car"], "counts": [n, 0]}]
    parts = [{"scheme": part.to_dict(), "records": n, "tables": tables}] * (1 << 13)
    path.write_text(json.dumps({"format": "sfumato counts", "version": 1, "parts": parts}))
    answer = push(http, path, http.token("site"))
    assert answer.status_code == 422 and "it counts more than 268,435,456 records" in answer.text
    assert not http.collection.writer.failing


def test_a_site_adds_no_such_number_by_its_share(http: Http, tmp_path: Path) -> None:
    honest = sf.counted(sf.randomize(raw(50, 1), SCHEME), [("car",)])
    many = tmp_path / "many.json"
    honest.save(many)
    document = json.loads(many.read_text())
    document["parts"][0] |= {"records": 1 << 40, "tables": [{"columns": ["car"], "counts": [1 << 40, 0]}]}
    many.write_text(json.dumps(document))
    sent = [sf.split_counts(one, 3, site) for site, one in enumerate((honest, honest, sf.Release.load(many)), 1)]
    sums = [sf.add_shares([shares[to] for shares in sent]) for to in range(3)]
    answers = [push(http, one.save(tmp_path / f"sum{i}.json"), http.token("site")) for i, one in enumerate(sums)]
    assert [answer.status_code for answer in answers] == [201, 201, 422]
    assert "it counts more than" in answers[-1].text


def test_files_that_were_refused_do_not_pile_up() -> None:
    """Files of one byte were refused and kept for ever: after 30 000 every look at the uploads took half a second."""
    for http in served(most_refused=3):
        site = http.token("site")

        def announced(digest: str, site: str = site, http: Http = http) -> str:
            id = new_id()
            asked = http.ask("POST", UPLOADS, {"id": id, "digest": digest, "bytes": 1}, site)
            return id if asked.status_code == 201 else asked.json()["error"]["message"]

        for digit in "012":
            id = announced(digit * 64)
            headers = {"content-type": "application/octet-stream", "upload-offset": "0"}
            http.ask("PATCH", f"{UPLOADS}/{id}", token=site, content=b"x", headers=headers)
            assert http.ask("POST", f"{UPLOADS}/{id}/commit", token=site).status_code == 422
        assert announced("3" * 64) == "many files of this site were refused: come back in a week"
        assert len(announced("3" * 64, http.token("site"))) == 32  # others are not kept from it
        http.clock.now += UNFINISHED + 3600
        assert len(announced("4" * 64)) == 32
        assert [one.state for one in http.collection.uploads.every("commuting")] == ["arriving"]


def test_a_file_that_was_deleted_while_the_server_was_killed_is_gone(http: Http, tmp_path: Path) -> None:
    """Its name was still known, and the file stayed for good."""
    id = push(http, released(tmp_path / "a.parquet"), http.token("site")).json()["id"]
    uploads = http.collection.uploads
    (path,) = uploads.files.folder.rglob("*.parquet")
    data = path.read_bytes()
    assert http.ask("DELETE", f"{UPLOADS}/{id}").status_code == 200
    path.write_bytes(data)  # as if it had been killed before this step
    uploads.sweep_files()
    assert not path.exists()


def test_no_model_of_free_text_is_an_error_of_the_server(http: Http) -> None:
    """It said that something went wrong, and not what."""
    schema = sf.Schema({"word": sf.Text(3), "car": sf.Categorical(("no", "yes"))})
    http.study("words", sf.Scheme.for_gamma(schema, 20))
    scheme = http.collection.studies["words"].scheme
    for car in (0, 1):
        body = {"id": new_id(), "fingerprint": scheme.fingerprint, "answers": {"word": 5, "car": car}}
        assert http.ask("POST", "/v1/studies/words/responses", body, None).status_code == 201
    asked = http.ask("GET", "/v1/studies/words/models/network")
    assert asked.status_code == 422 and "free text" in asked.json()["error"]["message"]


def test_what_is_said_of_a_file_does_not_name_those_of_others(
    http: Http, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files are called by their digests, by which a site could tell what another one has pushed."""
    link, site = b"k" * 32, http.token("site")
    assert push(http, released(tmp_path / "a.parquet", id="person", link_key=link), site).status_code == 201
    (other,) = http.collection.uploads.files.folder.rglob("*.parquet")

    def check(path: Path, found: Any, others: Any, study: Any) -> None:
        raise sf.SfumatoError(f"{path} and {others[0]['file']} do not fit")

    monkeypatch.setattr(reader, "check_repeated", check)
    refused = push(http, released(tmp_path / "b.parquet", seed=1, id="person", link_key=link), site)
    assert refused.json()["error"]["message"] == "the file and a file of another upload do not fit"
    assert other.stem not in refused.text


def test_parties_without_a_record_in_common_wait_for_each_other(http: Http, tmp_path: Path) -> None:
    """Whoever came second was refused: one made-up pseudonym kept a party out, and so did the order of regions."""
    link, sites = sf.new_link_key(), [http.token("site") for _ in range(2)]
    north, south = range(50), range(50, 120)
    for step, (name, people, counted) in enumerate(
        [("car", north, 0), ("sex", south, 0), ("car", south, 70), ("sex", north, 120)]
    ):
        file = some_columns(tmp_path / f"{step}.parquet", name, people, link)
        answer = push(http, file, sites[name == "sex"])
        assert answer.status_code == 201
        assert (answer.json()["note"] is None) == (counted > 0)
        assert http.ask("GET", "/v1/studies/commuting/progress").json()["rows"] == counted
    file = tmp_path / "all.parquet"
    file.write_bytes(http.ask("GET", "/v1/studies/commuting/release").content)
    assert len(sf.Release.load(file)) == 120 and sf.Release.load(file).id is None


@pytest.mark.parametrize("other", ["zzz", "car"])
def test_parties_may_call_their_pseudonyms_as_they_like(http: Http, tmp_path: Path, other: str) -> None:
    """A column of another name, or of another party's column, kept every other party out."""
    link, people = sf.new_link_key(), range(40)
    odd = some_columns(tmp_path / "odd.parquet", "sex", range(30), link, other)
    assert push(http, odd, http.token("site")).status_code == 201
    more = some_columns(tmp_path / "more.parquet", "sex", range(30, 40), link)
    assert push(http, more, http.token("site")).status_code == 201
    cars = some_columns(tmp_path / "cars.parquet", "car", people, link)
    assert push(http, cars, http.token("site")).json()["note"] is None
    assert http.ask("GET", "/v1/studies/commuting/progress").json()["rows"] == 40
    assert http.ask("GET", "/v1/studies/commuting/estimates?names=car,sex").status_code == 200
    assert http.ask("GET", "/v1/studies/commuting/release").status_code == 200


@pytest.mark.parametrize("kind", [pa.dictionary(pa.int32(), pa.string()), pa.string_view(), pa.large_string()], ids=str)
def test_parties_may_store_their_pseudonyms_as_any_text(http: Http, tmp_path: Path, kind: Any) -> None:
    """Made-up rows of another party's column, with ids as a dictionary, kept that party out."""
    link = sf.new_link_key()
    odd = some_columns(tmp_path / "odd.parquet", "sex", range(30), link)
    notes, rows = pq.read_metadata(odd).metadata, pq.read_table(odd)
    at = rows.schema.get_field_index("person")
    rows = rows.set_column(at, "person", rows.column(at).cast(kind))
    pq.write_table(rows.replace_schema_metadata({"sfumato": notes[b"sfumato"]}), odd)
    cars = some_columns(tmp_path / "cars.parquet", "car", range(40), link)
    more = some_columns(tmp_path / "more.parquet", "sex", range(30, 40), link)
    for file in (cars, odd, more):
        assert push(http, file, http.token("site")).status_code == 201
    assert http.ask("GET", "/v1/studies/commuting/progress").json()["rows"] == 40
    assert http.ask("GET", "/v1/studies/commuting/release").status_code == 200


def test_a_whole_record_keeps_out_only_the_same_person(http: Http, tmp_path: Path) -> None:
    """One made-up whole record under the link key kept out every file of some columns."""
    link = sf.new_link_key()
    whole = {"car": [SCHEMA["car"].labels[0]], "sex": [SCHEMA["sex"].labels[0]], "person": ["nobody"]}
    made_up = sf.randomize(whole, SCHEME, id="person", link_key=link).save(tmp_path / "whole.parquet")
    assert push(http, made_up, http.token("site")).status_code == 201
    cars = some_columns(tmp_path / "cars.parquet", "car", range(40), link)
    assert push(http, cars, http.token("site")).status_code == 201
    whole["person"] = ["p7"]
    again = sf.randomize(whole, SCHEME, id="person", link_key=link).save(tmp_path / "again.parquet")
    refused = push(http, again, http.token("site"))
    assert refused.status_code == 422 and "pushed before" in refused.text


def test_files_are_joined_before_the_next_is_taken(http: Http, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a file that cannot be joined is taken meanwhile, and the one that came before it is refused."""
    uploads, held = http.collection.uploads, []
    join = reader.join

    def watched(*given: Any) -> Any:
        held.append(uploads._taking("commuting").locked())
        return join(*given)

    monkeypatch.setattr(reader, "join", watched)
    assert push(http, party(tmp_path / "a.parquet", "car", sf.new_link_key()), http.token("site")).status_code == 201
    assert held == [True]


def test_what_nobody_could_download_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that take more memory than is allowed would have stopped the download of all others."""
    path = released(tmp_path / "many.parquet")
    asked = study.new_study("commuting", {"scheme": SCHEME.to_dict()}, 0)
    assert intake.examine(path, asked).rows
    monkeypatch.setattr("sfumato.reading.memory_limit.most_unpacked", lambda _: 10)
    with pytest.raises(RefusalError, match="more rows than so few bytes"):
        intake.examine(path, asked)


def test_joined_tables_go_with_the_files_they_were_made_of(http: Http, tmp_path: Path) -> None:
    """When the last party's file was deleted, the counts of its rows stayed in the database."""
    link, token, pushed = sf.new_link_key(), http.token("site"), {"car": new_id(), "sex": new_id()}
    for name, id in pushed.items():
        assert (
            push(http, some_columns(tmp_path / f"{name}.parquet", name, range(40), link), token, id).status_code == 201
        )
    assert http.ask("GET", "/v1/studies/commuting/progress").json()["rows"] == 40
    for id in pushed.values():
        assert http.ask("DELETE", f"/v1/studies/commuting/uploads/{id}").status_code == 200
    with http.collection.database.engine.connect() as connection:
        assert connection.execute(select(tables.joins.c.counts)).all() == []
    assert http.ask("GET", "/v1/studies/commuting/progress").json()["rows"] == 0


def test_a_draft_cannot_be_told_from_no_study(http: Http) -> None:
    """Its id may say what is going to be asked: an answer to it was "too early", one to no study "unknown"."""
    http.study("drinking", opened=False)
    id, fingerprint = new_id(), SCHEME.fingerprint
    body = {"id": id, "fingerprint": fingerprint, "answers": {"car": 1, "sex": 0}}
    asked: list[tuple[str, str, Any]] = [
        ("GET", "", None),
        ("GET", "/questionnaire", None),
        ("POST", "/responses", body),
        ("GET", f"/responses/{id}", None),
        ("DELETE", f"/responses/{id}", None),
        ("GET", "/progress", None),
        ("GET", "/uploads", None),
        ("POST", "/uploads", {"id": id, "digest": "0" * 64, "bytes": 1}),
    ]
    for token in (None, "sfi_nonsense", *(http.token(role) for role in ("site", "miner", "invitation"))):
        for method, path, document in asked:
            said = [
                http.ask(method, f"/v1/studies/{study}{path}", document, token) for study in ("drinking", "nothing")
            ]
            assert said[0].status_code == said[1].status_code >= 400, (method, path, token)
            assert said[0].content == said[1].content
        batch = [[{"study": study, **body}] for study in ("drinking", "nothing")]
        both = [http.ask("POST", "/v1/responses", {"responses": one}, token).content for one in batch]
        assert both[0] == both[1]


def test_an_answer_that_may_have_been_withdrawn_is_in_no_later_snapshot(
    http: Http, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables that waited to be written were those from before, and a start counted the answer again."""
    held, id = http.collection, new_id()
    waiting: list[Any] = []
    monkeypatch.setattr(held.writer, "later", waiting.append)
    assert http.respond(id).status_code == 201 and http.respond().status_code == 201
    http.clock.now += 3600
    assert http.respond().status_code == 201 and len(waiting) == 1  # the tables of the hour that ended

    def gone(connection: Any) -> None:
        connection.connection.execute("COMMIT")
        raise OperationalError("COMMIT", {}, Exception("the connection is gone"))

    event.listen(held.database.engine, "commit", gone)
    assert http.ask("DELETE", f"/v1/studies/commuting/responses/{id}", token=None).status_code == 503
    event.remove(held.database.engine, "commit", gone)
    held.writer.now(waiting[0])
    with held.database.engine.connect() as connection:
        again = collected.Collected.load(connection, held.studies["commuting"], 1 << 40)
    assert (again.responses, http.count()) == (2, 2)


def test_a_full_disk_is_no_fault_of_a_pushed_file(http: Http, tmp_path: Path, monkeypatch) -> None:
    """It was refused for a week as one that cannot be read, or ended in an internal error."""
    file, site, id = released(tmp_path / "a.parquet"), http.token("site"), new_id()
    send(http, file, site, id)
    full = OSError(errno.ENOSPC, "full")
    for room in (Mock(side_effect=full), lambda **_: nullcontext(tmp_path / "a folder that is not there")):
        with monkeypatch.context() as patched:
            patched.setattr(reader.tempfile, "TemporaryDirectory", room)
            assert http.ask("POST", f"{UPLOADS}/{id}/commit", token=site).json()["error"]["code"] == "busy"
    assert http.ask("POST", f"{UPLOADS}/{id}/commit", token=site).status_code == 201


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device here that is always full")
def test_a_piece_that_finds_a_full_disk_is_sent_again(http: Http, monkeypatch) -> None:
    """It ended in an internal error, at which ``sfumato push`` gives up."""
    site, id = http.token("site"), new_id()
    http.ask("POST", UPLOADS, {"id": id, "digest": "0" * 64, "bytes": 10}, site)
    monkeypatch.setattr(http.collection.uploads.files, "arriving", lambda _: Path("/dev/full"))
    kind = {"content-type": "application/octet-stream", "upload-offset": "0"}
    answer = http.ask("PATCH", f"{UPLOADS}/{id}", token=site, content=b"0123456789", headers=kind)
    assert answer.json()["error"]["code"] == "busy"
