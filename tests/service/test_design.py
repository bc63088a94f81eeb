"""The design endpoint: what a wish leads to is what the package itself designs, and bad input gets its documented refusal."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

import sfumato as sf
from command_line import run
from sfumato import channels as c
from sfumato.assess.precision import hardest_half_width
from sfumato.service.app import create_app
from sfumato.service.collection import open_collection
from sfumato.service.design import attributes
from sfumato.service.design.attributes import hardest_among, joint_width, units
from sfumato.service.design.smaller import of_a_smaller_design
from sfumato.service.settings import Settings
from sfumato.service.worker import MB, Worker

SCHEMA = {
    "way": {"kind": "categorical", "values": ["walk", "bus", "car", 'o\'ther "x"']},
    "über": {"kind": "ordinal", "values": ["low", "middle", "high"], "nullable": True},
    "km": {"kind": "numeric", "low": 0, "high": 40, "bins": 6},
    "pay": {"kind": "numeric", "low": 0.5, "high": 9000, "points": 7},
    "since": {"kind": "date", "by": "quarter", "first": "2025-01-01", "last": "2026-12-31"},
}
ONE = {"way": SCHEMA["way"]}
SCHEME = sf.Scheme(
    sf.Schema({name: sf.Categorical(("no", "yes", "?")) for name in "abc"}),
    {"a": c.symmetric(3, gamma=3), ("b", "c"): c.symmetric((3, 3), 0.4)},
)


@pytest.fixture(scope="module")
def client():
    with tempfile.TemporaryDirectory() as folder:
        held = open_collection(folder, None, Settings(per_address=0, per_token=0, read_apart=False))
        with TestClient(create_app(held)) as made:
            yield made
        held.close()


def ask(client, **fields):
    return client.post("/v1/design", json={"n": 2000, **fields})


def found(client, **fields):
    answer = ask(client, **fields)
    assert answer.status_code == 200, answer.text
    return answer.json()


WISHES = [
    {"schema": {name: SCHEMA[name] for name in ("way", "über", "km", "since")}, "wish": {"half_width": 0.06}},
    {"schema": SCHEMA, "wish": {"gamma": 3}, "groups": 3},
    {"schema": {name: SCHEMA[name] for name in ("way", "über", "pay")}, "wish": {"record_gamma": 9}},
    {"schema": ONE, "wish": {"record_gamma": 7.5}},
    {"schema": ONE, "wish": {"half_width": 0.045}, "groups": 2},
]


@pytest.mark.parametrize("fields", WISHES, ids=[f"{len(f['schema'])} {f['wish']}" for f in WISHES])
def test_python_and_the_command_line_give_the_same_scheme(client, fields, tmp_path, monkeypatch):
    made = found(client, **fields)
    space: dict = {}
    exec(compile(made["python"], "copied", "exec"), space)
    assert space["scheme"].fingerprint == made["fingerprint"]
    monkeypatch.chdir(tmp_path)
    saved = {"format": "sfumato schema", "version": 1, "attributes": fields["schema"]}
    Path("schema.json").write_text(json.dumps(saved), encoding="utf-8")
    assert run(made["command"].removeprefix("sfumato ")).code == 0
    assert json.loads(Path("scheme.json").read_text(encoding="utf-8")) == made["scheme"]


def test_a_scheme_is_taken_as_it_is_and_can_be_read_again(client, tmp_path, monkeypatch, capsys):
    forms = sf.Forms.for_gamma(SCHEME.schema, gamma=9, ask=2)
    monkeypatch.chdir(tmp_path)
    for scheme, parts in ((SCHEME, 0), (forms, 3)):
        made = found(client, scheme=scheme.to_dict(), attribute="b")
        assert (made["fingerprint"], made["forms"], made["gamma"]) == (scheme.fingerprint, parts, scheme.gamma)
        Path("scheme.json").write_text(json.dumps(made["scheme"]), encoding="utf-8")
        space: dict = {}
        exec(compile(made["python"], "copied", "exec"), space)
        assert space["scheme"] == scheme
        assert run(made["command"].removeprefix("sfumato ")).code == 0


def test_the_numbers_are_those_of_the_package(client):
    made = found(client, schema=SCHEMA, wish={"gamma": 3}, attribute="way")
    scheme = sf.Scheme.from_dict(made["scheme"])
    designed = sf.design.design(sf.Schema.from_dict(SCHEMA), 2000, gamma=3)
    for one, choice in zip(made["attributes"], designed.choices, strict=True):
        assert one["name"] == choice.attribute
        assert one["half_width"] == pytest.approx(choice.pick.half_width)
        assert one["target"] == choice.pick.target
        assert one["gamma"] == pytest.approx(choice.pick.gamma)
        assert one["suspicion"] == pytest.approx(sf.privacy.rho2(choice.pick.gamma, 0.1))
        assert one["guess"] == pytest.approx(sf.privacy.map_success(scheme, attribute=one["name"]))
    assert made["beliefs"][1] == {"before": 0.1, "after": pytest.approx(sf.privacy.rho2(scheme.gamma, 0.1))}
    curve, whole = made["closer"]["curve"], designed.tradeoff("way")
    assert curve["lines"]["symmetric"] == pytest.approx(whole.half_widths["symmetric"].tolist())
    assert curve["floor"] == pytest.approx(whole.unrandomized)
    assert made["closer"]["inputs"] == SCHEMA["way"]["values"]


@pytest.mark.parametrize("wish", [{"gamma": 1.0000001}, {"record_gamma": 1.0000001}])
def test_a_bound_of_hardly_anything_is_answered_or_refused(client, wish):
    for schema in ({"pay": SCHEMA["pay"]}, {name: SCHEMA[name] for name in ("way", "km")}):
        answer = ask(client, schema=schema, wish=wish)
        assert answer.status_code == 200 or answer.json()["error"]["code"] == "not_possible"


def test_groups_share_the_answers(client):
    one = found(client, schema=ONE, wish={"gamma": 3}, n=8000, groups=4)
    alone = found(client, schema=ONE, wish={"gamma": 3}, n=2000)
    assert one["records"] == 2000
    assert one["attributes"] == alone["attributes"]
    private, exact = (found(client, schema=ONE, wish={"half_width": 0.05}, n=8000, groups=g)["gamma"] for g in (1, 4))
    assert private < exact


def test_a_bound_on_the_person_shows_the_ways_to_ask(client):
    schema = {name: SCHEMA[name] for name in ("way", "über", "km")}
    made = found(client, schema=schema, wish={"record_gamma": 9}, attribute="km")
    ways = sf.design.design_record(sf.Schema.from_dict(schema), 2000, 9)
    assert [one["ask"] for one in made["alternatives"]] == [None, 1, 2, 3]
    assert [one["pair"] for one in made["alternatives"]] == [row["error_of_pair"] for row in ways.rows()]
    assert sum(one["chosen"] for one in made["alternatives"]) == 1
    assert made["gamma"] == pytest.approx(9)
    assert made["closer"]["curve"]["of"] == "person"
    assert list(made["closer"]["curve"]["lines"]) == ["all", "one", "two", "three"]
    assert sum(one["asked"] for one in made["attributes"]) == pytest.approx(
        sum(len(form.schema) * weight for form, weight in zip(ways.scheme.forms, ways.scheme.weights, strict=True))
    )


def test_half_widths_of_attributes_that_are_asked_together_hold_in_replication():
    channel, n, rng = c.subset((3, 4), gamma=6), 4000, np.random.default_rng(5)
    for axis in (0, 1):
        inside = np.indices((3, 4))[axis].ravel() == 0
        theta = np.where(inside, 0.5 / inside.sum(), 0.5 / (~inside).sum())
        drawn = rng.multinomial(n, theta @ channel.matrix, 4000)
        estimates = drawn @ channel.inverse.T.apply(inside.astype(float)) / n
        claimed = hardest_among(channel, axis, n)
        assert 1.96 * estimates.std() == pytest.approx(claimed, rel=0.05)
        assert 1.96 * estimates.std() != pytest.approx(hardest_among(c.subset((3, 4), gamma=7), axis, n), rel=0.05)
    assert hardest_among(c.symmetric(5, gamma=3), 0, n) == pytest.approx(
        hardest_half_width(c.symmetric(5, gamma=3), n), rel=1e-3
    )


def test_half_widths_of_many_sets_are_those_of_the_best_inverse(monkeypatch):
    channel, other = c.subset((10, 11, 12), gamma=50), c.subset((10, 11, 12), gamma=40)
    without = [(hardest_among(channel, axis, 1000), hardest_among(other, axis, 1000)) for axis in range(3)]
    monkeypatch.setattr(attributes, "_MOST_INVERTED", channel.k)
    for axis, (claimed, wrong) in enumerate(without):
        best = hardest_among(channel, axis, 1000)
        assert claimed == pytest.approx(best, rel=0.005)
        assert claimed != best
        assert wrong != pytest.approx(best, rel=0.005)


def test_nine_ordinary_questions_need_little_memory():
    """Forms of triples have matrices of up to 300 MB: hundreds of them do not stand beside each other."""
    sizes = (24, 2, 3, 4, 5, 3, 19, 6, 9)
    schema = {f"a{size}_{i}": {"kind": "ordinal", "values": list(range(size))} for i, size in enumerate(sizes)}
    request = {"schema": schema, "scheme": None, "wish": {"record_gamma": 20}, "n": 12_925, "groups": 1}
    worker = Worker("sfumato.service.design.answer", 300.0, 600 * MB)
    try:
        made = worker.ask({**request, "attribute": "a24_0", "by": None})
    finally:
        worker.close()
    assert [one["ask"] for one in made["alternatives"]] == [None, 1, 2, 3]
    assert set(made["closer"]["curve"]["lines"]) == {"all", "one", "two"}  # 84 triples are not drawn


def test_a_design_that_takes_too_much_says_what_to_leave_out():
    said = of_a_smaller_design({"schema": SCHEMA, "scheme": None})
    assert "some of the 5 attributes, first those with the most values (since (8 values), pay (7 values)" in said
    assert "`sfumato design` on the command line" in said
    assert "command line" in of_a_smaller_design({"schema": None, "scheme": {"schema": 3}})


def test_half_widths_within_blurred_groups_hold_in_replication(client):
    group, other, n, rng = c.symmetric(3, gamma=6), c.symmetric(2, gamma=4), 20_000, np.random.default_rng(8)
    schema = sf.Schema({"g": sf.Categorical(("a", "b", "c")), "x": sf.Categorical(("no", "yes"))})
    made = found(client, scheme=sf.Scheme(schema, {"g": group, "x": other}).to_dict(), n=n, by="g")
    claimed = made["attributes"][1]["within"]
    assert made["attributes"][0]["within"] is None
    seen = rng.multinomial(n, np.kron(np.full(3, 1 / 3) @ group.matrix, np.full(2, 0.5) @ other.matrix), 4000)
    of_group, of_both = group.inverse.dense()[0], np.kron(group.inverse.dense()[0], other.inverse.dense()[1])
    shares = (seen @ of_both) / (seen @ np.repeat(of_group, 2))
    assert 1.96 * shares.std() == pytest.approx(claimed, rel=0.05)
    assert 1.96 * shares.std() != pytest.approx(made["attributes"][1]["half_width"] * 3**0.5, rel=0.05)  # known groups
    clear = sf.Scheme(schema, {"g": c.identity(3), "x": other})
    known = found(client, scheme=clear.to_dict(), n=n, by="g")["attributes"][1]
    assert known["within"] == pytest.approx(known["half_width"] * 3**0.5)
    assert ask(client, schema=ONE, wish={"gamma": 3}, by="nothing").json()["error"]["details"] == {"where": "by"}


def test_precisions_of_forms_add_up():
    schema = sf.Schema({"a": sf.Categorical(("no", "yes")), "b": sf.Categorical(("no", "yes"))})
    single = sf.Scheme(schema.select(["a"]), {"a": c.symmetric(2, gamma=3)})
    whole = joint_width("a", units(single), 3000)
    halves = units(sf.Forms([single, single]))
    assert joint_width("a", halves, 3000) == pytest.approx(whole)
    assert joint_width("a", halves[:1], 3000) == pytest.approx(whole * 2**0.5)


WRONG = [
    ({}, 400, "malformed"),
    ({"schema": ONE}, 400, "malformed"),
    ({"schema": ONE, "wish": {}}, 400, "malformed"),
    ({"schema": ONE, "wish": {"gamma": 3, "half_width": 0.1}}, 400, "malformed"),
    ({"schema": ONE, "wish": {"gamma": 1}}, 400, "malformed"),
    ({"schema": ONE, "wish": {"gamma": "3"}}, 400, "malformed"),
    ({"schema": ONE, "wish": {"half_width": 2}}, 400, "malformed"),
    ({"schema": ONE, "wish": {"epsilon": 2}}, 400, "malformed"),
    ({"schema": ONE, "wish": {"gamma": 3}, "n": 1}, 400, "malformed"),
    ({"schema": ONE, "wish": {"gamma": 3}, "n": 2.5}, 400, "malformed"),
    ({"schema": ONE, "wish": {"gamma": 3}, "n": 5, "groups": 6}, 400, "malformed"),
    ({"schema": ONE, "wish": {"gamma": 3}, "attribute": "other"}, 400, "malformed"),
    ({"schema": ONE, "scheme": SCHEME.to_dict(), "wish": {"gamma": 3}}, 400, "malformed"),
    ({"schema": ONE, "wish": {"gamma": 3}, "more": 1}, 400, "malformed"),
    ({"schema": {}, "wish": {"gamma": 3}}, 422, "refused"),
    ({"schema": {"a": {"kind": "colour"}}, "wish": {"gamma": 3}}, 422, "refused"),
    ({"schema": {"a": {"kind": "numeric", "low": 5, "high": 1}}, "wish": {"gamma": 3}}, 422, "refused"),
    ({"schema": {"a": {"kind": "numeric", "low": 0, "high": 1, "bins": 2000}}, "wish": {"gamma": 3}}, 422, "refused"),
    ({"schema": {str(i): ONE["way"] for i in range(41)}, "wish": {"gamma": 3}}, 422, "refused"),
    ({"scheme": {"format": "something"}}, 422, "refused"),
    ({"scheme": {**SCHEME.to_dict(), "channels": []}}, 422, "refused"),
    ({"schema": {"a": {"kind": "categorical", "values": ["x"]}}, "wish": {"gamma": 3}}, 422, "not_possible"),
    ({"schema": ONE, "wish": {"half_width": 0.001}}, 422, "not_possible"),
]


@pytest.mark.parametrize(("fields", "status", "code"), WRONG)
def test_bad_input_gets_its_documented_refusal(client, fields, status, code):
    answer = ask(client, **fields)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.text


def test_a_width_out_of_reach_says_what_can_be_reached(client):
    details = ask(client, schema=SCHEMA, wish={"half_width": 0.01}).json()["error"]["details"]
    assert details["attribute"] == "way"
    assert details["nearest"] == pytest.approx(0.0219, rel=0.01)
    found(client, schema=ONE, wish={"half_width": 0.01}, n=details["records"])


def test_every_kind_of_domain_and_channel_gets_an_answer(client):
    domains = {
        "place": {"kind": "hierarchy", "levels": ["region", "town"], "tree": {"N": ["a", "b"], "S": ["c", "d"]}},
        "word": {"kind": "text", "max_length": 4},
        "one": {"kind": "categorical", "values": ["only"]},
        "flag": {"kind": "categorical", "values": [True, False], "nullable": True},
    }
    made = found(client, schema=domains, wish={"gamma": 9}, attribute="word")
    assert made["closer"]["plan"]["kind"] == "prefixes"
    assert {one["name"]: one["values"] for one in made["attributes"]} == {"place": 4, "word": None, "one": 1, "flag": 3}
    for channel in (
        c.identity(4),
        c.matrix(np.full((4, 4), 0.25)),
        c.blocks([c.symmetric(2, 0.1)] * 2),
        c.windows(4, 3),
    ):
        scheme = sf.Scheme(sf.Schema({"a": sf.Ordinal(("1", "2", "3", "4"))}), {"a": channel})
        one = found(client, scheme=scheme.to_dict(), attribute="a")["attributes"][0]
        assert one["family"] == (
            "identity" if channel.gamma == np.inf and channel.kind == "symmetric" else channel.kind
        )
    with pytest.warns(sf.errors.DisclosureWarning):
        noisy = sf.Scheme(sf.Schema({"x": sf.Numeric(0, 9, bins=3)}), {"x": c.gaussian(2)})
    made = found(client, scheme=noisy.to_dict(), attribute="x")
    assert made["gamma"] is None and made["closer"]["plan"]["kind"] == "noise"
    assert made["attributes"][0]["suspicion"] == 1


def test_the_page_and_its_scripts_are_signed_and_load_nothing_else(client):
    page = client.get("/design").text
    assert page.count("integrity=") == page.count("/assets/")
    assert "http://" not in page and "https://" not in page
    assert 'href="/design"' in client.get("/").text


def test_both_languages_say_everything(client):
    english, german = (client.get(f"/assets/words/{code}.json").json() for code in ("en", "de"))
    places = re.compile(r"\{(\w+)\}")
    for one, other in ((english, german), (english["design"], german["design"])):
        assert list(one) == list(other)
        texts = [name for name, text in one.items() if isinstance(text, str)]
        assert [n for n in texts if set(places.findall(one[n])) != set(places.findall(other[n]))] == []
    scripts = "".join(client.get(f"/assets/design/{name}.js").text for name in SCRIPTS)
    said = set(re.findall(r'say\("(\w+)"', scripts))
    assert said - english["design"].keys() - english.keys() == set()
    assert "no such word" not in english["design"]


SCRIPTS = ("elements", "questions", "charts", "results", "studies", "page")
