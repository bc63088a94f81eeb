"""Models that the server learns on demand say what the learners say of the downloaded release."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from service_client import SCHEME, new_id
from sfumato.errors import NegativeCountsWarning, NothingForetoldWarning, UnrecoverableWarning
from sfumato.evidence.critical import wider_level
from sfumato.service import own_process
from sfumato.service.models import request, worker
from sfumato.service.models.notes import notes as notes_of

SCHEMA = sf.Schema(
    {"sex": sf.Categorical(("F", "M")), "age": sf.Numeric(0, 60, bins=4), "car": sf.Categorical(("no", "yes"))}
)
ASKED = sf.Scheme(SCHEMA, {"sex": sf.channels.symmetric(2, 0.1), "age": sf.channels.symmetric(4, 0.1)} | {"car": sf.channels.symmetric(2, 0.1)})  # fmt: skip
KINDS = ("tree?target=car", "rules", "network", "regression?target=car", "distribution?target=age")


@pytest.fixture(params=["sqlite"])
def url(request):
    """Models know of no database."""
    return None


def people(n, seed):
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    car = rng.random(n) < np.where(sex == 1, 0.8, 0.3)
    return {
        "sex": np.array(["F", "M"])[sex],
        "age": rng.uniform(0, 60, n),
        "car": np.array(["no", "yes"])[car.astype(int)],
    }


def send(http, study, release, form=None):
    rows = release.arrow().to_pylist()
    more = {} if form is None else {"form": form}
    fingerprint = http.collection.studies[study].fingerprint
    for start in range(0, len(rows), 1000):
        reports = [
            {"study": study, "id": new_id(), "fingerprint": fingerprint, "answers": row, **more}
            for row in rows[start : start + 1000]
        ]
        answer = http.ask("POST", "/v1/responses", {"responses": reports}, token=None)
        assert {one["status"] for one in answer.json()["results"]} == {"accepted"}


@pytest.fixture
def asked(http):
    """A study with two thousand answers."""
    http.study("people", ASKED, minimum=100)
    send(http, "people", sf.randomize(people(2000, 1), ASKED, rng=sf.experiment(2)))
    return http


def model(http, query, study="people", status=200, **more):
    answer = http.ask("GET", f"/v1/studies/{study}/models/{query}", **more)
    assert answer.status_code == status, answer.text
    return answer.json()


def downloaded(http, tmp_path, study="people"):
    file = tmp_path / f"{study}.parquet"
    file.write_bytes(http.ask("GET", f"/v1/studies/{study}/release").content)
    return sf.evidence(sf.Release.load(file))


def test_the_tree_is_that_of_the_release_with_intervals_for_whoever_looks_often(asked, tmp_path):
    found = model(asked, "tree?target=car")
    own = sf.learn.DecisionTree(max_leaves=40, max_depth=3).fit(downloaded(asked, tmp_path), target="car")
    root = found["root"]
    assert (root["question"], found["leaves"]) == ("sex", len(own.root_.leaves))
    assert own.leaves_  # which sets their limits for one look
    for leaf, mine in zip(root["children"], own.root_.leaves, strict=True):
        for one, share, low, high in zip(leaf["classes"], mine.probabilities, mine.low, mine.high, strict=True):
            assert one["value"] == pytest.approx(share)
            assert one["low"] < low < share < high < one["high"]
        assert leaf["share"]["low"] < leaf["share"]["value"] < leaf["share"]["high"]
        assert all(one["down"] < 0 < one["up"] for one in leaf["false"])


def test_a_regression_has_the_coefficients_of_the_release(asked, tmp_path):
    found = model(asked, "regression?target=car&names=sex,age")
    own = sf.learn.Regression("logistic").fit(downloaded(asked, tmp_path), target="car", names=["sex", "age"])
    assert (found["family"], found["event"]) == ("logistic", "yes")
    low, high = own.interval(wider_level(0.95, 2000))
    for one, *numbers in zip(found["terms"], own.terms_, own.coef_, low, high, strict=True):
        limits = one["coefficient"]
        assert one["term"] == numbers[0]
        assert [limits["value"], limits["low"], limits["high"]] == pytest.approx(numbers[1:])
        assert one["false"]["down"] < 0 < one["false"]["up"]
    assert model(asked, "regression?target=age")["family"] == "gaussian"


def test_models_and_means_say_who_is_left_out_and_a_band_where_it_does_not_hold(http):
    schema = sf.Schema({"age": sf.Numeric(0, 60, bins=12, nullable=True), "car": sf.Categorical(("no", "yes"))})
    scheme = sf.Scheme.for_gamma(schema, 9)
    http.study("silent", scheme, minimum=100)
    some = people(2000, 4)
    ages = [None if i % 4 == 0 else float(age) for i, age in enumerate(some["age"])]
    send(http, "silent", sf.randomize({"age": ages, "car": some["car"]}, scheme, rng=sf.experiment(5)))
    regression, band = (
        model(http, f"{kind}?target={target}", "silent")["notes"]
        for kind, target in (("regression", "car"), ("distribution", "age"))
    )
    means = http.ask("GET", "/v1/studies/silent/means?name=age").json()["notes"]
    for notes in (band, means):
        left_out = int(notes[0].removeprefix("left out: ").partition(" records without an answer")[0])
        assert left_out == pytest.approx(500, abs=150)
    assert "heaps and edges are rounded off" in band[1]
    assert len(regression) > 1
    assert not any("left out" in one for one in model(http, "regression?target=age", "silent")["notes"][1:])
    assert model(http, "regression?target=age", "silent")["notes"][0].startswith("left out: ")


def test_leaves_of_one_answer_are_one_branch_of_the_tree(http):
    values = {"shape": ("a", "b", "c", "d"), "flat": ("no", "yes")}
    schema = sf.Schema({name: sf.Categorical(own) for name, own in values.items()})
    scheme = sf.Scheme(schema, {name: sf.channels.symmetric(len(own), 0.1) for name, own in values.items()})
    http.study("merged", scheme, minimum=100)
    shape = np.random.default_rng(3).integers(0, 4, 2000)
    some = {"shape": np.array(values["shape"])[shape], "flat": np.where(shape == 1, "yes", "no")}
    send(http, "merged", sf.randomize(some, scheme, rng=sf.experiment(4)))
    root = model(http, "tree?target=flat", "merged")["root"]
    assert [one["values"] for one in root["children"]] == [["a", "c", "d"], ["b"]]
    merged, alone = root["children"]
    assert merged["classes"][0]["low"] < 1 and merged["classes"][0]["high"] > 0.95
    assert merged["share"]["low"] < 0.75 < merged["share"]["high"]
    assert merged["false"] == [{"down": None, "up": None}] * 2
    assert alone["false"][0]["down"] is not None


def test_a_network_links_what_goes_along_and_has_limits_for_every_probability(asked):
    found = model(asked, "network")
    assert [{link["parent"], link["child"]} for link in found["links"]] == [{"sex", "car"}]
    tables = {node["name"]: node["table"] for node in found["nodes"]}
    assert [len(tables[name]) for name in ("age",)] == [4]
    for row in (row for table in tables.values() for row in table):
        limits = row["probability"]
        assert 0 <= limits["low"] <= limits["value"] <= limits["high"] <= 1
        assert row["false"]["down"] <= 0 <= row["false"]["up"]


def test_rules_say_what_goes_along(asked):
    found = model(asked, "rules?support=0.1&confidence=0.6&target=car")
    best = found["rules"][0]
    assert (best["if"], best["then"]) == (["sex=M"], ["car=yes"])
    assert best["confidence"]["low"] > 0.6 and best["lift"]["low"] > 1
    for moved in (best["confidence_false"], best["support_false"]):
        assert -0.05 < moved["down"] < 0 < moved["up"] < 0.05
    none = model(asked, "rules?support=0.9&confidence=0.9")
    assert none["rules"] == [] and none["shortfall"]


def test_rules_that_conclude_only_what_most_hold_anyway_are_counted_and_not_sent(http):
    http.study("people", ASKED, minimum=100)
    table = people(2000, 1) | {"car": np.array(["yes"] * 1800 + ["no"] * 200)}  # nine in ten, whoever they are
    send(http, "people", sf.randomize(table, ASKED, rng=sf.experiment(2)))
    found = model(http, "rules?support=0.1&confidence=0.5&target=car&names=sex,car")
    assert found["hidden"] == 2 and found["rules"] == [] and found["found"] == 0


@pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
def test_the_distribution_of_numbers_under_noise_stands_beside_the_numbers_as_they_arrived(http):
    schema = sf.Schema({"age": sf.Numeric(0, 60, bins=12)})
    scheme = sf.Scheme(schema, {"age": sf.channels.gaussian(5.0)})
    http.study("ages", scheme)
    send(
        http, "ages", sf.randomize({"age": np.random.default_rng(1).normal(30, 6, 1500)}, scheme, rng=sf.experiment(2))
    )
    found = model(http, "distribution?target=age", "ages")
    assert found["mean"] == pytest.approx(30, abs=1) and 5 < found["sd"] < 8
    assert len(found["low"]) == len(found["height"]) == len(found["edges"]) - 1
    spread = np.diff(found["arrived"]["edges"]) @ np.array(found["arrived"]["height"])
    assert spread == pytest.approx(1)
    assert any(note.startswith("hills nearer to each other than 15.5 may show as one") for note in found["notes"])
    assert not any(http.collection.database.folder.joinpath("exports").iterdir())


@pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
@pytest.mark.parametrize("apart", [False, True])  # in a process of its own, as a server that runs
def test_models_of_numbers_whose_bins_noise_hides_say_so_once(http, monkeypatch, apart):
    schema = sf.Schema({"age": sf.Numeric(0, 60, bins=12), "car": sf.Categorical(("no", "yes"))})
    scheme = sf.Scheme(schema, {"age": sf.channels.gaussian(20.0), "car": sf.channels.symmetric(2, 0.1)})
    http.study("hidden", scheme)
    some = people(800, 1)
    table = {name: some[name] for name in ("age", "car")}
    send(http, "hidden", sf.randomize(table, scheme, rng=sf.experiment(2)))
    monkeypatch.setattr(http.collection.models, "_apart", apart)
    for query in ("tree?target=car", "rules", "network"):
        notes = model(http, query, "hidden")["notes"]
        assert len([note for note in notes if note.startswith("the noise hides the 12 bins of 'age'")]) == 1
    assert not any("hides" in note for note in model(http, "regression?target=car", "hidden")["notes"])


def test_models_whose_data_decide_have_no_such_notes(asked):
    assert model(asked, "tree?target=car")["notes"] == model(asked, "network")["notes"] == []
    none = model(asked, "rules?support=0.9&confidence=0.9")
    assert none["shortfall"] and none["shortfall"] not in none["notes"]


def test_a_network_says_which_pairs_it_did_not_look_at(http):
    schema = sf.Schema(
        {name: sf.Categorical(tuple(map(str, range(200)))) for name in ("born", "lives")} | {"car": SCHEMA["car"]}
    )
    scheme = sf.Scheme.for_gamma(schema, 9)
    http.study("places", scheme)
    rng = np.random.default_rng(1)
    table = {name: rng.integers(0, 200, 900).astype(str) for name in ("born", "lives")}
    send(http, "places", sf.randomize(table | {"car": people(900, 1)["car"]}, scheme, rng=sf.experiment(2)))
    (note,) = (one for one in model(http, "network", "places")["notes"] if "not considered" in one)
    assert "whether these hang together was not looked at: born and lives" in note


def test_rules_say_where_they_stop_in_the_words_of_a_request(http, monkeypatch):
    schema = sf.Schema({name: sf.Categorical(("no", "yes")) for name in "abcde"})
    scheme = sf.Scheme(schema, {name: sf.channels.symmetric(2, 0.05) for name in "abcde"})
    http.study("sets", scheme)
    same = np.where(np.random.default_rng(1).random(2000) < 0.5, "no", "yes")
    send(http, "sets", sf.randomize(dict.fromkeys("abcde", same), scheme, rng=sf.experiment(2)))
    assert model(http, "rules?support=0.2", "sets")["notes"] == ["no sets of more than 4 items are looked for"]
    assert model(http, "rules?support=0.2&names=a,b,c", "sets")["notes"] == []
    monkeypatch.setattr("sfumato.learn.rules.apriori.CANDIDATES", 8)
    (note,) = model(http, "rules?support=0.2", "sets")["notes"]
    assert note.endswith("only sets of up to 1 items are reported; ask for a larger support")


def test_what_a_tree_and_rules_say_themselves_is_no_note_beside_them():
    nothing, noise = NothingForetoldWarning("nothing foretells it"), UnrecoverableWarning("the noise hides the bins")
    assert notes_of({"leaves": 1, "notes": ["left out"]}, [nothing, noise, noise]) == ["left out", str(noise)]
    assert notes_of({"shortfall": str(noise)}, [nothing, noise]) == [str(nothing)]
    assert notes_of({}, [NegativeCountsWarning("use another method")]) == []


def test_where_no_table_holds_all_that_is_asked_the_rows_do(http, monkeypatch):
    names = [f"q{i}" for i in range(9)]
    schema = sf.Schema({name: sf.Categorical(tuple("abcd")) for name in names})
    scheme = sf.Scheme(schema, {name: sf.channels.symmetric(4, 0.1) for name in names})
    http.study("wide", scheme)
    rng = np.random.default_rng(5)
    table = {name: rng.choice(list("abcd"), 900) for name in names}
    table["q8"] = table["q0"]
    send(http, "wide", sf.randomize(table, scheme, rng=sf.experiment(6)))
    loaded = []
    monkeypatch.setattr(
        sf.Release, "load", classmethod(lambda cls, path, own=sf.Release.load: loaded.append(path) or own(path))
    )
    found = model(http, "tree?target=q8&names=q0,q1,q2", "wide")
    assert found["root"]["question"] == "q0" and len(loaded) == 1
    assert not Path(loaded[0]).exists()
    pair = model(http, "regression?target=q8&names=q0&event=c", "wide")  # its table is kept
    assert (pair["event"], pair["answers"], len(loaded)) == ("c", 900, 1)
    assert "event" in model(http, "regression?target=q8&names=q0", "wide", 422)["error"]["message"]


def test_forms_are_learned_from_together(http):
    schema = sf.Schema({name: sf.Categorical(("no", "yes")) for name in "abc"})
    pairs = [("a", "b"), ("b", "c"), ("a", "c")]
    forms = sf.Forms(
        [sf.Scheme(schema.select(pair), {name: sf.channels.symmetric(2, 0.1) for name in pair}) for pair in pairs]
    )
    http.study("forms", forms)
    rng = np.random.default_rng(7)
    for form, pair in enumerate(pairs):
        a = rng.choice(["no", "yes"], 600)
        table = {"a": a, "b": np.where(rng.random(600) < 0.1, "no", a), "c": rng.choice(["no", "yes"], 600)}
        scheme = next(one for one in forms if one.schema.names == pair)
        send(http, "forms", sf.randomize({name: table[name] for name in pair}, scheme, rng=sf.experiment(form)), form)
    assert model(http, "tree?target=b", "forms")["root"]["question"] == "a"
    assert [{link["parent"], link["child"]} for link in model(http, "network", "forms")["links"]] == [{"a", "b"}]
    assert model(http, "regression?target=b", "forms")["terms"]


def test_nothing_is_learned_below_the_minimum_or_by_others(http):
    http.study("few", ASKED, minimum=150)
    send(http, "few", sf.randomize(people(149, 3), ASKED, rng=sf.experiment(4)))
    site, other = http.token("site", "few"), http.token("miner")
    for query in KINDS:
        assert model(http, query, "few", 409)["error"]["details"] == {"answers": 149, "minimum": 150}
        assert model(http, query, "few", 403, token=site)["error"]["code"] == "forbidden"
        assert model(http, query, "few", 403, token=other)["error"]["code"] == "forbidden"
        assert model(http, query, "few", 401, token=None)["error"]["code"] == "unauthorized"


WRONG = [
    ("tree", 400, "malformed"),
    ("tree?target=unknown", 400, "malformed"),
    ("tree?target=car&names=car", 400, "malformed"),
    ("tree?target=car&names=sex,sex", 400, "malformed"),
    ("tree?target=car&names=unknown", 400, "malformed"),
    ("network?names=car", 400, "malformed"),
    ("rules?support=0", 400, "malformed"),
    ("rules?confidence=1", 400, "malformed"),
    ("regression?target=car&family=poisson", 400, "malformed"),
    ("regression?target=car&event=unknown", 422, "not_possible"),
    ("distribution?target=car", 422, "not_possible"),
    ("distribution?target=age&level=1", 400, "malformed"),
    ("forest", 404, "not_found"),
]


def test_what_cannot_be_learned_is_said(asked):
    for query, status, code in WRONG:
        assert model(asked, query, status=status)["error"]["code"] == code, query


def test_a_process_of_its_own_learns_and_is_stopped_when_it_takes_too_long(asked, monkeypatch):
    asked.collection.models._apart = True
    assert model(asked, "regression?target=car&names=sex")["answers"] == 2000
    monkeypatch.setattr(request, "TIME", 0.01)
    late = model(asked, "regression?target=car&names=sex", status=422)["error"]
    assert late["code"] == "not_possible" and "longer than" in late["message"]


def test_a_process_that_computes_too_long_is_stopped(monkeypatch):
    code = "from sfumato.service.own_process import limit_time; limit_time(1)\nwhile True: pass"
    run = own_process.subprocess.run
    monkeypatch.setattr(own_process.subprocess, "run", lambda args, **more: run([args[0], "-c", code], **more))
    with pytest.raises(own_process.NoAnswerError) as stopped:
        own_process.ask("any", b"", 60)
    assert stopped.value.late


def test_a_process_that_runs_out_of_memory_stops_nothing(asked, monkeypatch):
    asked.collection.models._apart = True

    def crash(module, given, seconds):
        raise own_process.NoAnswerError(late=False)

    monkeypatch.setattr(own_process, "ask", crash)
    assert "memory" in model(asked, "network", status=422)["error"]["message"]


def test_while_a_model_is_learned_answers_are_taken_and_too_many_askers_are_sent_away(asked, monkeypatch):
    begun, done = threading.Event(), threading.Event()

    def slow(given):
        begun.set()
        assert done.wait(20)
        return {"refused": "it was slow"}

    monkeypatch.setattr(worker, "answered", slow)
    monkeypatch.setattr(asked.collection.models._turns, "_most", 1)
    said = []
    asking = threading.Thread(target=lambda: said.append(model(asked, "network", status=422)))
    asking.start()
    assert begun.wait(20)
    assert asked.respond().status_code == 201
    busy = asked.ask("GET", "/v1/studies/people/models/network")
    assert (busy.status_code, busy.headers["retry-after"]) == (503, "10")
    done.set()
    asking.join(20)
    assert said[0]["error"]["message"] == "it was slow"


def test_a_scheme_that_is_read_back_tells_the_same(asked):
    parts = asked.collection.estimates("people").about(["sex", "car"])
    given = worker.packed({"kind": "network", "names": ["sex", "car"]}, parts, None)
    request_, found, rows = worker.unpacked(given)
    assert rows is None and request_["names"] == ["sex", "car"]
    assert [part.scheme for part in found] == [part.scheme.select(["sex", "car"]) for part in parts]
    assert sum(part.records for part in found) == 2000
    assert SCHEME not in [part.scheme for part in found]
