"""Sites push releases: in pieces, whole or not at all, once; and see nothing but their receipts."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from service_client import SCHEMA, SCHEME, new_id
from sfumato.service.intake import examine
from sfumato.service.reader import read
from sfumato.service.refusals import RefusalError
from sfumato.writing.described_file import KEY

PATH = "/v1/studies/commuting/uploads"


def table(n: int, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    return {
        "car": rng.choice(["no", "yes"], n, p=[0.7, 0.3]).tolist(),
        "sex": rng.choice(["F", "M", "other"], n).tolist(),
        "person": [f"p{i}" for i in range(n)],
    }


def released(path, n=300, seed=0, scheme=SCHEME, **more):
    return sf.randomize(table(n, seed), scheme, rng=sf.experiment(seed), **more).save(path)


def push(http, file, token, id=None, pieces=1, study="commuting"):
    """All steps of an upload, in so many pieces; the answer to the commit."""
    data, id = file.read_bytes(), id or new_id()
    path = f"/v1/studies/{study}/uploads"
    about = {"id": id, "digest": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    made = http.ask("POST", path, about, token)
    assert made.status_code in (200, 201), made.text
    there, step = made.json()["received"], -(-len(data) // pieces)
    while there < len(data):
        there = send(http, f"{path}/{id}", data[there : there + step], there, token).json()["received"]
    return http.ask("POST", f"{path}/{id}/commit", token=token)


def send(http, path, piece, offset, token):
    headers = {"content-type": "application/octet-stream", "upload-offset": str(offset)}
    return http.ask("PATCH", path, token=token, content=piece, headers=headers)


def code(answer):
    return answer.json()["error"]["code"]


@pytest.fixture
def url(request):
    """SQLite, except where a test asks for both: what reads the files is the same."""
    held = getattr(request, "param", None) and request.getfixturevalue("postgres")
    if not held:
        return None
    held.clear()
    return held.url


@pytest.mark.parametrize("url", [False, True], indirect=True, ids=["sqlite", "postgresql"])
def test_a_pushed_release_counts_once_with_a_receipt(http, tmp_path):
    site = http.token("site")
    file, id = released(tmp_path / "a.parquet"), new_id()
    first = push(http, file, site, id, pieces=3)
    again = push(http, file, site, id)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json() == again.json()
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    line = f"sfumato upload 1|commuting|{id}|{digest}|300"
    assert first.json()["receipt"] == hashlib.sha256(line.encode()).hexdigest()
    progress = http.ask("GET", "/v1/studies/commuting/progress").json()
    assert (progress["uploads"], progress["rows"]) == (1, 300)
    twice = http.ask("POST", PATH, {"id": new_id(), "digest": digest, "bytes": file.stat().st_size}, site)
    assert (twice.status_code, code(twice)) == (409, "conflict")
    cells = http.ask("GET", "/v1/studies/commuting/estimates?names=car").json()
    assert cells["answers"] == 300
    counts = np.bincount(sf.Release.load(file).arrow().column("car").to_numpy(), minlength=2).tolist()
    assert cells["released"]["counts"] == counts


def test_an_upload_goes_on_where_it_stood(http, tmp_path):
    site, data, id = http.token("site"), released(tmp_path / "a.parquet").read_bytes(), new_id()
    http.ask("POST", PATH, {"id": id, "digest": hashlib.sha256(data).hexdigest(), "bytes": len(data)}, site)
    assert send(http, f"{PATH}/{id}", data[:100], 0, site).json() == {"received": 100}
    wrong = send(http, f"{PATH}/{id}", data[50:], 50, site)
    assert (wrong.status_code, code(wrong), wrong.json()["error"]["details"]) == (409, "conflict", {"received": 100})
    early = http.ask("POST", f"{PATH}/{id}/commit", token=site)
    assert (early.status_code, code(early)) == (409, "conflict")
    assert http.ask("GET", f"{PATH}/{id}", token=site).json()["received"] == 100
    more = send(http, f"{PATH}/{id}", data[100:] + b"x", 100, site)
    assert (more.status_code, code(more)) == (413, "too_large")
    assert send(http, f"{PATH}/{id}", data[100:], 100, site).json() == {"received": len(data)}
    assert http.ask("POST", f"{PATH}/{id}/commit", token=site).json()["rows"] == 300


def test_a_site_reads_nothing_but_its_receipts(http, tmp_path):
    mine, other = http.token("site"), http.token("site")
    id = new_id()
    push(http, released(tmp_path / "a.parquet"), mine, id)
    assert http.ask("GET", f"{PATH}/{id}", token=other).status_code == 404
    assert http.ask("GET", PATH, token=other).json() == {"uploads": []}
    assert len(http.ask("GET", PATH, token=mine).json()["uploads"]) == 1
    for path in ("progress", "estimates?names=car", "means?name=car", "release"):
        assert http.ask("GET", f"/v1/studies/commuting/{path}", token=mine).status_code == 403
    assert http.ask("GET", "/v1/tokens", token=mine).status_code == 403
    assert http.ask("DELETE", f"{PATH}/{id}", token=mine).status_code == 403


def test_an_upload_that_is_deleted_leaves_the_counts(http, tmp_path):
    site, id = http.token("site"), new_id()
    file = released(tmp_path / "a.parquet")
    push(http, file, site, id)
    assert http.ask("DELETE", f"{PATH}/{id}").json()["state"] == "deleted"
    assert http.ask("GET", "/v1/studies/commuting/progress").json()["rows"] == 0
    assert code(http.ask("POST", f"{PATH}/{id}/commit", token=site)) == "deleted"
    assert not list((http.collection.database.folder / "uploads").rglob("*.parquet"))


@pytest.mark.parametrize("url", [False, True], indirect=True, ids=["sqlite", "postgresql"])
def test_parties_with_different_columns_are_joined_by_their_pseudonyms(http, tmp_path):
    link = sf.new_link_key()
    site, other = http.token("site"), http.token("site")
    whole = table(500, 3)
    cars = sf.randomize(whole, SCHEME.select(["car"]), id="person", link_key=link).save(tmp_path / "cars.parquet")
    some = {name: column[:400] for name, column in whole.items()}
    sexes = sf.randomize(some, SCHEME.select(["sex"]), id="person", link_key=link).save(tmp_path / "sexes.parquet")
    assert push(http, cars, site).status_code == 201
    assert http.ask("GET", "/v1/studies/commuting/progress").json()["rows"] == 0
    assert code(http.ask("GET", "/v1/studies/commuting/estimates?names=car")) == "too_few"
    assert push(http, sexes, other).status_code == 201
    assert http.ask("GET", "/v1/studies/commuting/progress").json()["rows"] == 400
    found = http.ask("GET", "/v1/studies/commuting/estimates?names=car,sex").json()
    expected = sf.Release.load(cars).join(sf.Release.load(sexes), common=True)
    assert found["released"]["counts"] == sf.evidence(expected).released_counts(["car", "sex"]).tolist()
    again = sf.randomize(some, SCHEME.select(["sex"]), id="person", link_key=link).save(tmp_path / "again.parquet")
    refused = push(http, again, other)
    assert (refused.status_code, code(refused)) == (422, "refused")
    assert "pushed before" in refused.json()["error"]["message"]
    file = tmp_path / "all.parquet"
    file.write_bytes(http.ask("GET", "/v1/studies/commuting/release").content)
    assert len(sf.Release.load(file)) == 400 and sf.Release.load(file).id is None


def test_a_refused_file_is_refused_as_a_whole(http, tmp_path):
    site, id = http.token("site"), new_id()
    answer = push(http, spoiled(tmp_path), site, id)
    assert (answer.status_code, code(answer)) == (422, "refused")
    assert answer.json()["error"]["details"]["rows"] == [8, 10]
    assert http.ask("GET", f"{PATH}/{id}", token=site).json()["state"] == "refused"
    assert http.ask("GET", "/v1/studies/commuting/progress").json()["rows"] == 0
    assert not list((http.collection.database.folder / "uploads").rglob("*.parquet"))
    assert code(push(http, spoiled(tmp_path), site, id)) == "refused"


def spoiled(folder, column="car", places=(7, 9), value=2):
    """A release in which some rows hold what is no code."""
    file = released(folder / f"good{len(list(folder.iterdir()))}.parquet")
    rows = pq.read_table(file)
    codes = rows.column(column).to_pylist()
    for place in places:
        codes[place] = value
    other = rows.set_column(rows.schema.get_field_index(column), column, pa.array(codes, pa.uint8()))
    bad = file.with_name("bad-" + file.name)
    pq.write_table(other.replace_schema_metadata({KEY: pq.read_metadata(file).metadata[KEY]}), bad)
    return bad


@pytest.fixture
def study(http):
    return http.collection.studies["commuting"]


def refusal(path, study) -> str:
    with pytest.raises(RefusalError) as found:
        examine(path, study)
    assert found.value.code == "refused"
    return str(found.value)


def test_every_kind_of_wrong_file_is_told_why(tmp_path, study):
    other = sf.Scheme(SCHEMA, {"car": sf.channels.symmetric(2, 0.1), "sex": sf.channels.symmetric(3, 0.3)})
    assert "not made under" in refusal(released(tmp_path / "other.parquet", scheme=other), study)
    assert "no pseudonyms" in refusal(released(tmp_path / "some.parquet", scheme=SCHEME.select(["car"])), study)
    with pytest.warns(sf.errors.DisclosureWarning):
        clear = released(tmp_path / "clear.parquet", id="person", clear_ids=True)
    assert "in the clear" in refusal(clear, study)
    assert "rows 8, 10" in refusal(spoiled(tmp_path), study)
    assert "no answer" in refusal(spoiled(tmp_path, value=None), study)
    plain = tmp_path / "plain.parquet"
    pq.write_table(pa.table({"car": [0, 1], "sex": [0, 2]}), plain)
    assert "carries no scheme" in refusal(plain, study)
    (tmp_path / "noise.parquet").write_bytes(b"PAR1" + bytes(1000) + b"PAR1")
    assert "the file" in refusal(tmp_path / "noise.parquet", study)
    file = released(tmp_path / "cut.parquet")
    file.write_bytes(file.read_bytes()[:-200])
    assert str(tmp_path) not in refusal(file, study)


def test_rows_in_forms_are_counted_form_by_form(http, tmp_path):
    forms = sf.Forms.for_gamma(SCHEMA, gamma=9, ask=1)
    http.study("forms", forms)
    file = sf.randomize(table(200), forms).save(tmp_path / "forms.parquet")
    assert push(http, file, http.token("site", "forms"), study="forms").json()["rows"] == 200
    found = http.ask("GET", "/v1/studies/forms/estimates?names=car").json()
    assert found["answers"] == sum(len(part) for part in sf.Release.load(file).parts if "car" in part.scheme.schema)
    together = http.ask("GET", "/v1/studies/forms/estimates?names=car,sex")
    assert (together.status_code, code(together)) == (409, "too_few")


def test_resampled_rows_go_to_a_study_of_their_kind(http, tmp_path):
    rng = np.random.default_rng(1)
    rows = {"age": rng.normal(50, 10, 200).tolist(), "bmi": rng.normal(25, 3, 200).tolist(), "ill": ["no", "yes"] * 100}
    from sfumato.owner.resample.stream import resample_file

    resample_file(pa.table(rows), tmp_path / "rows.parquet", "ill", rng=sf.experiment(1))
    schema = sf.Schema(
        {
            "age": sf.Numeric(-100, 300, bins=10),
            "bmi": sf.Numeric(-100, 300, bins=10),
            "ill": sf.Categorical(("no", "yes")),
        }
    )
    fields = {"id": "drawn", "kind": "resampled", "schema": schema.to_dict(), "minimum": 2}
    assert http.ask("POST", "/v1/studies", fields).status_code == 201
    http.ask("POST", "/v1/studies/drawn/open")
    site = http.token("site", "drawn")
    assert push(http, tmp_path / "rows.parquet", site, study="drawn").json()["rows"] == 200
    assert code(push(http, released(tmp_path / "codes.parquet"), site, study="drawn")) == "refused"
    back = http.ask("GET", "/v1/studies/drawn/release")
    assert pq.read_table(pa.BufferReader(back.content)).num_rows == 200
    assert code(http.ask("GET", "/v1/studies/drawn/estimates?names=ill")) == "too_few"


def test_sites_that_may_share_only_counts_push_tables(http, tmp_path):
    releases = [sf.Release.load(released(tmp_path / f"{seed}.parquet", 200, seed)) for seed in (1, 2)]
    for number, release in enumerate(releases):
        file = sf.counted(release).save(tmp_path / f"counts{number}.json")
        assert push(http, file, http.token("site")).json()["rows"] == 200
    found = http.ask("GET", "/v1/studies/commuting/estimates?names=car,sex").json()
    expected = sf.evidence(sf.Release.concat(releases)).released_counts(["car", "sex"])
    assert (found["answers"], found["released"]["counts"]) == (400, expected.tolist())
    assert code(http.ask("GET", "/v1/studies/commuting/release")) == "not_possible"
    other = sf.Scheme(SCHEMA, {"car": sf.channels.symmetric(2, 0.1), "sex": sf.channels.symmetric(3, 0.3)})
    wrong = sf.counted(sf.Release.load(released(tmp_path / "o.parquet", scheme=other))).save(tmp_path / "o.json")
    assert "not made under" in push(http, wrong, http.token("site")).json()["error"]["message"]
    (tmp_path / "odd.json").write_text('{"format": "something"}')
    assert code(push(http, tmp_path / "odd.json", http.token("site"))) == "refused"


def test_shares_of_counts_add_up_once_all_sites_have_pushed(http, tmp_path):
    counts = [sf.counted(sf.Release.load(released(tmp_path / f"{seed}.parquet", 100, seed))) for seed in (1, 2, 3)]
    sent = [sf.split_counts(one, 3, site) for site, one in enumerate(counts, 1)]
    sums = [sf.add_shares([shares[to] for shares in sent]) for to in range(3)]
    single = sent[0][1].save(tmp_path / "single.json")
    assert "sum of what all sites sent" in push(http, single, http.token("site")).json()["error"]["message"]
    for number, one in enumerate(sums):
        assert http.ask("GET", "/v1/studies/commuting/progress").json()["rows"] == 0
        assert push(http, one.save(tmp_path / f"sum{number}.json"), http.token("site")).status_code == 201
    found = http.ask("GET", "/v1/studies/commuting/estimates?names=car,sex").json()
    expected = sum(sf.evidence(one).released_counts(["car", "sex"]) for one in counts)
    assert (found["answers"], found["released"]["counts"]) == (300, expected.tolist())


def test_files_that_grow_without_end_are_refused_by_a_process_that_may_die(study, tmp_path):
    """A few kilobytes that stand for ten million rows, and one text that stands in every row."""
    about = pq.read_metadata(released(tmp_path / "good.parquet", id="person")).metadata[KEY]

    def described(rows: int) -> bytes:
        document = json.loads(about)
        document["parts"][0]["rows"] = rows
        return json.dumps(document).encode()

    bomb = tmp_path / "bomb.parquet"
    n = 10_000_000
    codes = pa.array(np.zeros(n, dtype=np.uint8))
    person = pa.DictionaryArray.from_arrays(np.zeros(n, dtype=np.int8), ["x"])
    rows = pa.table({"car": codes, "sex": codes, "person": person}, metadata={KEY: described(n)})
    pages = {"data_page_size": 1 << 30, "write_batch_size": n, "max_rows_per_page": n}
    pq.write_table(rows, bomb, compression="zstd", row_group_size=n, **pages)
    assert bomb.stat().st_size < 50_000
    with pytest.raises(RefusalError, match="more rows than"):
        read(study, bomb, [])
    few = 20_000
    long = pa.DictionaryArray.from_arrays(np.zeros(few, dtype=np.int8), ["x" * (1 << 20)])
    some = np.random.default_rng(0).integers(0, 2, few).astype(np.uint8)
    table = pa.table({"car": some, "sex": some, "person": long}, metadata={KEY: described(few)})
    pq.write_table(table, tmp_path / "text.parquet", compression="zstd")
    assert (tmp_path / "text.parquet").stat().st_size < 50_000
    with pytest.raises(RefusalError):
        read(study, tmp_path / "text.parquet", [])
    taken, counts = read(study, tmp_path / "good.parquet", [])
    assert taken["rows"] == 300 and counts
