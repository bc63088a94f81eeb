"""Estimates from tables that are kept while answers arrive say what the downloaded release says."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

import numpy as np
import pytest

import sfumato as sf
from service_client import SCHEME, new_id
from sfumato.service.estimates import Estimates

PATH = "/v1/studies/commuting"
WRONG = [
    ("estimates?names=unknown", 400, "malformed"),
    ("estimates?names=car,car", 400, "malformed"),
    ("estimates?names=", 400, "malformed"),
    ("estimates", 400, "malformed"),
    ("estimates?names=car&level=2", 400, "malformed"),
    ("estimates?names=car&wish=0", 400, "malformed"),
    ("estimates?names=car&false=1", 400, "malformed"),
    ("means?name=car", 422, "not_possible"),
    ("means?name=unknown", 400, "malformed"),
]


def fill(http, n, seed=0, study="commuting", scheme=SCHEME):
    """Many responses, through batches."""
    rng = np.random.default_rng(seed)
    sizes = scheme.output_sizes
    codes = {name: rng.integers(0, size, n).tolist() for name, size in sizes.items()}
    reports = [
        {"study": study, "id": new_id(), "fingerprint": scheme.fingerprint, "answers": {c: codes[c][i] for c in sizes}}
        for i in range(n)
    ]
    answer = http.ask("POST", "/v1/responses", {"responses": reports}, token=None)
    assert {one["status"] for one in answer.json()["results"]} == {"accepted"}


def test_nothing_is_shown_below_the_minimum(http):
    http.study("many", minimum=150)
    fill(http, 149, study="many")
    for path in ("estimates?names=car", "means?name=car", "release"):
        answer = http.ask("GET", f"/v1/studies/many/{path}")
        assert answer.status_code == 409
        assert answer.json()["error"]["details"] == {"answers": 149, "minimum": 150}
    fill(http, 1, study="many")
    assert http.ask("GET", "/v1/studies/many/estimates?names=car").status_code == 200


def test_estimates_are_those_of_the_downloaded_release(http, tmp_path):
    fill(http, 800)
    file = tmp_path / "all.parquet"
    file.write_bytes(http.ask("GET", f"{PATH}/release").content)
    release = sf.Release.load(file)
    assert (len(release), release.order, release.id) == (800, "shuffled", None)
    expected = sf.evidence(release).counts(["sex", "car"], quiet=True)
    found = http.ask("GET", f"{PATH}/estimates?names=sex,car").json()
    shares, (low, high) = expected.population(), expected.population().interval(anytime=True)
    for key, column in {
        "share": shares.value,
        "low": low,
        "high": high,
        "count": expected.value,
        "sd": expected.sd,
    }.items():
        np.testing.assert_allclose([cell[key] for cell in found["cells"]], column, rtol=1e-9)
    assert [tuple(cell["values"]) for cell in found["cells"]] == expected.labels()


def test_means_by_group_are_those_of_the_release(http, tmp_path):
    schema = sf.Schema({"age": sf.Numeric(0, 100, bins=10), "sex": sf.Categorical(("F", "M"))})
    scheme = sf.Scheme.for_gamma(schema, 9)
    http.study("ages", scheme)
    fill(http, 900, study="ages", scheme=scheme)
    found = http.ask("GET", "/v1/studies/ages/means?name=age&by=sex").json()
    file = tmp_path / "all.parquet"
    file.write_bytes(http.ask("GET", "/v1/studies/ages/release").content)
    expected = sf.evidence(sf.Release.load(file)).mean("age", by="sex").population()
    low, high = expected.interval(anytime=True)
    for key, column in {"value": expected.value, "low": low, "high": high}.items():
        np.testing.assert_allclose([row[key] for row in found["rows"]], column, rtol=1e-9)
    assert [row["group"] for row in found["rows"]] == [["F"], ["M"]]


def test_false_answers_move_each_number_as_far_as_the_assessment_says(http, tmp_path):
    fill(http, 500)
    found = http.ask("GET", f"{PATH}/estimates?names=sex&false=0.02").json()
    known = sf.accuracy.poisoning(SCHEME, 0.02, "sex")
    assert found["false"] == 0.02
    assert [cell["false_up"] for cell in found["cells"]] == pytest.approx(known.up)
    assert [cell["false_down"] for cell in found["cells"]] == pytest.approx(known.down)
    pair = http.ask("GET", f"{PATH}/estimates?names=car,sex").json()
    assert [cell["false_up"] for cell in pair["cells"]] == pytest.approx(
        sf.accuracy.poisoning(SCHEME, 0.01, ("car", "sex")).up
    )


def test_as_many_answers_as_are_said_to_be_needed_make_the_intervals_as_narrow_as_wished(http):
    fill(http, 400)
    study = http.collection.studies["commuting"]
    now = http.ask("GET", f"{PATH}/estimates?names=car&wish=0.03").json()
    parts = http.collection.estimates("commuting").about(["car"])
    times = now["needed"] / 400
    more = [
        replace(part, rows={c: np.rint(t * times).astype(int) for c, t in part.tables.items()}, records=now["needed"])
        for part in parts
    ]
    assert now["half_width"] > 0.06 and times > 4
    assert Estimates(study, more).shares(["car"], 0.95)["half_width"] == pytest.approx(0.03, rel=0.02)
    assert http.ask("GET", f"{PATH}/estimates?names=car&wish=0.5").json()["needed"] == 400
    assert http.ask("GET", f"{PATH}/estimates?names=car").json()["needed"] is None


def test_few_answers_whose_intervals_end_at_0_and_1_do_not_promise_that_few_more_suffice(http):
    fill(http, 12)
    few = http.ask("GET", f"{PATH}/estimates?names=car&wish=0.02").json()
    assert few["half_width"] <= 0.5  # also where an estimate is no possible share, and its limits reach to it
    fill(http, 800)
    many = http.ask("GET", f"{PATH}/estimates?names=car&wish=0.02").json()
    assert few["needed"] == pytest.approx(many["needed"], rel=0.5)  # from widths alone it was less than a tenth


def test_means_of_what_is_no_number_say_what_they_count(http):
    schema = {
        "day": sf.Date("2019-01", "2020-12", by="month"),
        "pain": sf.Ordinal(("none", "some")),
        "age": sf.Ordinal((1, 2)),
    }
    http.study("units", sf.Scheme.for_gamma(sf.Schema({**schema, "sex": sf.Categorical(("F", "M"))}), 9))
    found = http.ask("GET", "/v1/studies/units/attributes").json()["attributes"]
    assert [one["unit"] for one in found] == ["months after 2019-01", "places from 0", "", ""]


def test_means_of_dates_name_the_nearest_one(http):
    """11.96 quarters after the first one says nothing; a number and a grade have no date."""
    schema = {"day": sf.Date("2019-01", "2020-12", by="month"), "pain": sf.Ordinal(("none", "some"))}
    scheme = sf.Scheme.for_gamma(sf.Schema(schema), 9)
    http.study("dates", scheme)
    fill(http, 900, study="dates", scheme=scheme)
    day, pain = (http.ask("GET", f"/v1/studies/dates/means?name={name}").json()["rows"][0] for name in schema)
    assert day["nearest"] == schema["day"].labels[round(day["value"])] and pain["nearest"] is None


def test_means_of_which_all_is_possible_are_said_to_be_open(http):
    """By the interval that is sent: that of one look would end at 18."""
    schema = sf.Schema({"kind": sf.Categorical(("a", "b", "rare")), "x": sf.Numeric(0, 100, bins=10)})
    scheme = sf.Scheme.for_gamma(schema, 4)
    http.study("rare", scheme)
    x = np.random.default_rng(5).uniform(0, 100, 3000)
    table = {"kind": ["a", "b"] * 1460 + ["rare"] * 80, "x": x}
    rows = sf.randomize(table, scheme, rng=sf.experiment(2)).arrow().to_pylist()
    for start in range(0, len(rows), 1000):
        reports = [
            {"study": "rare", "id": new_id(), "fingerprint": scheme.fingerprint, "answers": row}
            for row in rows[start : start + 1000]
        ]
        http.ask("POST", "/v1/responses", {"responses": reports}, token=None)
    found = http.ask("GET", "/v1/studies/rare/means?name=x&by=kind").json()["rows"]
    assert [row["open"] for row in found] == [False, False, True]
    assert (found[2]["low"], found[2]["high"]) == (0, 100)
    assert not http.ask("GET", "/v1/studies/rare/means?name=x").json()["rows"][0]["open"]


def test_shares_of_which_all_is_possible_are_said_to_be_open(http):
    schema = sf.Schema({"rare": sf.Categorical(("no", "yes")), "car": sf.Categorical(("no", "yes"))})
    scheme = sf.Scheme(schema, {"rare": sf.channels.symmetric(2, 0.49), "car": sf.channels.symmetric(2, 0.1)})
    http.study("open", scheme)
    fill(http, 200, study="open", scheme=scheme)
    for name, is_open in (("rare", True), ("car", False)):
        found = http.ask("GET", f"/v1/studies/open/estimates?names={name}").json()["cells"]
        assert [one["open"] for one in found] == [is_open] * 2
        assert all((one["high"] - one["low"] > 0.95) == is_open for one in found)


def test_means_say_what_is_to_be_known_of_bins_and_years(http):
    schema = {"km": sf.Numeric(edges=(0, 1, 40)), "born": sf.Date("1940", "1979", by="year")}
    scheme = sf.Scheme.for_gamma(sf.Schema(schema), 9)
    http.study("known", scheme)
    fill(http, 900, study="known", scheme=scheme)
    km, born = (http.ask("GET", f"/v1/studies/known/means?name={name}").json() for name in ("km", "born"))
    assert "middle of their bin" in km["notes"][0] and not km["years"]
    assert born["notes"] == ["estimates are smoothed over neighbouring values, intervals are not"] and born["years"]
    found = http.ask("GET", "/v1/studies/known/models/regression?target=born").json()
    binned = "numbers count as the middle of their bin, and may lie off it: km (by up to 19.5)"
    assert any(note.startswith(binned) for note in found["notes"])


def test_what_arrived_stands_beside_the_estimate_also_where_a_code_is_no_value(http):
    schema = sf.Schema({"age": sf.Numeric(0, 100, bins=8)})
    scheme = sf.Scheme(schema, {"age": sf.channels.windows(8, gamma=9)})
    http.study("ages", scheme)
    fill(http, 500, study="ages", scheme=scheme)
    released = http.ask("GET", "/v1/studies/ages/estimates?names=age").json()["released"]
    assert released["sizes"][0] > 8 and len(released["shares"]) == 8
    assert sum(released["shares"]) == pytest.approx(1)
    matrix = scheme["age"].matrix
    own = [np.flatnonzero(column == column.max()) for column in matrix.T]
    counts = np.array(released["counts"])
    first = sum(counts[y] / len(values) for y, values in enumerate(own) if 0 in values) / 500
    assert released["shares"][0] == pytest.approx(first)


@pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
def test_the_attributes_tell_what_can_be_asked_of_them(http):
    schema = sf.Schema({"car": sf.Categorical(("no", "yes"), nullable=True), "age": sf.Numeric(0, 100, bins=4)})
    scheme = sf.Scheme(schema, {"car": sf.channels.symmetric(3, 0.2), "age": sf.channels.gaussian(9.0)})
    http.study("noisy", scheme, questions={"car": {"text": "By car?", "labels": {"yes": "Yes"}}})
    car, age = http.ask("GET", "/v1/studies/noisy/attributes").json()["attributes"]
    assert (car["text"], car["values"], car["words"]) == ("By car?", ["no", "yes", None], {"yes": "Yes"})
    assert (age["text"], age["ordered"], age["noise"], car["noise"]) == ("age", True, True, False)
    site = http.token("site", "noisy")
    assert http.ask("GET", "/v1/studies/noisy/attributes", token=site).status_code == 403


def test_what_cannot_be_asked_is_said(http):
    fill(http, 10)
    for query, status, said in WRONG:
        answer = http.ask("GET", f"{PATH}/{query}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, said), query


def test_many_attributes_keep_their_pairs_and_say_what_they_do_not_keep(http):
    names = [f"q{i}" for i in range(9)]
    schema = sf.Schema({name: sf.Categorical(tuple("abcd")) for name in names})
    scheme = sf.Scheme(schema, {name: sf.channels.symmetric(4, 0.3) for name in names})
    http.study("wide", scheme)
    fill(http, 300, study="wide", scheme=scheme)
    pair = http.ask("GET", "/v1/studies/wide/estimates?names=q1,q6").json()
    assert sum(cell["count"] for cell in pair["cells"]) == pytest.approx(300)
    triple = http.ask("GET", "/v1/studies/wide/estimates?names=q1,q2,q3")
    assert (triple.status_code, triple.json()["error"]["code"]) == (422, "not_possible")
    assert "q1" in triple.json()["error"]["message"]


def test_a_name_with_a_comma_stands_in_quotes(http):
    names = {"income, net": "abc", 'so "called"': "ab", "plain": "abc"}
    schema = sf.Schema({name: sf.Ordinal(tuple(values)) for name, values in names.items()})
    scheme = sf.Scheme(schema, {name: sf.channels.symmetric(len(values), 0.1) for name, values in names.items()})
    http.study("odd", scheme)
    fill(http, 300, study="odd", scheme=scheme)
    for asked in ('"income, net"', '"income, net","so ""called"""', 'plain,"income, net"'):
        found = http.ask("GET", f"/v1/studies/odd/estimates?names={quote(asked)}")
        assert found.status_code == 200, found.text
        assert sum(cell["count"] for cell in found.json()["cells"]) == pytest.approx(300)
    assert http.ask("GET", f"/v1/studies/odd/estimates?names={quote('income, net')}").status_code == 400
    for model in (f"tree?target={quote('income, net')}", f"distribution?target={quote('income, net')}"):
        found = http.ask("GET", f"/v1/studies/odd/models/{model}")
        assert found.status_code == 200, found.text


def test_progress_counts_by_the_hour(http, clock):
    fill(http, 3)
    clock.now += 7200
    fill(http, 2)
    found = http.ask("GET", f"{PATH}/progress").json()
    assert [one["responses"] for one in found["hours"]] == [3, 2]
    assert (found["responses"], found["state"]) == (5, "open")


def test_a_start_counts_what_the_disk_holds(http, clock, url):
    """Snapshots of finished hours, and the rows that came after them, give the tables back."""
    from sfumato.service.collection import open_collection

    fill(http, 50, 1)
    clock.now += 3600
    fill(http, 20, 2)
    study = http.collection.studies["commuting"]
    before = http.collection.responses.collected(study)
    counts, hours = before.counts(0, ["car", "sex"]).tolist(), dict(before.hours)
    http.collection.close()
    with_snapshot = open_collection(http.collection.database.folder, url, now=clock)
    with with_snapshot.database.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM snapshots").scalar() == 1
    after = with_snapshot.responses.collected(with_snapshot.studies["commuting"])
    assert (after.counts(0, ["car", "sex"]).tolist(), dict(after.hours)) == (counts, hours)
    assert after.upto >= 0
    with_snapshot.close()
