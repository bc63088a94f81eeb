"""The first screen of the report: what one person gives away in total, among others and over a year."""

from __future__ import annotations

import json
from html import unescape

import numpy as np
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.assess.report.sentences import belief
from sfumato.errors import SfumatoError
from sfumato.owner.ledger import Ledger

TEN = sf.Schema({f"q{i}": sf.Categorical(tuple("abcd")) for i in range(10)})


def test_ten_questions_say_the_total_among_others_and_over_a_year() -> None:
    said = " ".join(sf.report(sf.Scheme.for_gamma(TEN, 3), n=20_000).text().split())
    assert "All answers of one person together: very weak (gamma 59,049)" in said
    assert "Among 19,999 others, mixed and without ids: no less, the crowd is too small" in said
    assert "year of weekly rounds under a key: gamma 59,049 while the values stay, at most gamma 1.22 · 10¹⁹" in said
    assert "Over a year of weekly rounds without a key: gamma 1.27 · 10²⁴⁸" in said


def test_a_crowd_helps_where_answers_tell_little() -> None:
    scheme = sf.Scheme.for_gamma(TEN.select(["q0", "q1"]), 2)
    found = sf.report(scheme, n=100_000, rounds=4)
    among = json.loads(found.json())["whole_record"]["epsilon_among_others"]
    assert among == pytest.approx(sf.privacy.shuffled(scheme.epsilon, 100_000, 1e-6).high)
    assert f"mixed and without ids: gamma {np.exp(among):.3g}, but for one chance in a million" in found.text()
    assert "Over 4 rounds without a key: gamma 256" in found.text()
    assert "Over" not in sf.report(scheme, n=100, rounds=1).text().partition("What to watch")[0]


def test_clear_attributes_are_left_out_of_it() -> None:
    scheme = sf.Scheme(TEN.select(["q0", "q1"]), {"q0": c.symmetric(4, gamma=3)}, clear=["q1"])
    said = " ".join(sf.report(scheme, n=5000).text().split())
    assert "All answers of one person together: none (gamma ∞)" in said
    assert "Over a year of weekly rounds under a key: randomized answers gamma 3 while the values stay" in said


def test_rounds_of_a_longitudinal_study_have_a_bound() -> None:
    scheme = sf.Scheme(TEN.select(["q0"]), {"q0": c.longitudinal(4, 2, 30, 3)})
    said = sf.report(scheme, n=5000).text()
    assert "under a key: at most gamma 30 about the values, however they change" in " ".join(said.split())
    assert "can ever be seen" in said
    assert "looks changed and is not, ever seen" in said


def test_what_a_change_shows_under_a_plain_key_is_told() -> None:
    channel = c.symmetric(4, gamma=3)
    found = sf.report(sf.Scheme(TEN.select(["q0"]), {"q0": channel}), n=5000)
    told = json.loads(found.json())["attributes"][0]["changes"]
    P = channel.matrix
    assert told["most"] == pytest.approx(1 - P[0] @ P[1]) and told["without"] == 0
    assert "a change shows, under a key      78 %" in found.text()


def test_what_the_ledger_holds_of_a_person_stands_there_too(tmp_path) -> None:
    scheme = sf.Scheme.for_gamma(TEN.select(["q0", "q1"]), 3)
    ledger = Ledger(tmp_path / "l.sqlite", new=True)
    sf.randomize({name: ["a", "b"] for name in ("q0", "q1")}, scheme, ledger=ledger)
    assert "in the ledger so far: gamma 9" in sf.report(scheme, ledger=ledger).text()


def test_the_identifier_is_named_as_what_it_is() -> None:
    scheme = sf.Scheme.for_gamma(TEN.select(["q0", "q1"]), 3)
    rows = {"patient": list(range(50)), "q0": ["a", "b"] * 25, "q1": ["c", "d"] * 25}
    release = sf.randomize(rows, scheme, key=sf.new_key(), id="patient")
    found = sf.report(scheme, sf.evidence(release))
    assert "patient tells whose the answers are" in [caution.title for caution in found.warnings]
    assert '<th scope="row">patient</th><td><span class="badge plain">identifier</span>' in found.html()
    assert json.loads(found.json())["pseudonyms"] == "patient"
    bare = sf.report(scheme, sf.evidence(sf.randomize(rows, scheme)))
    assert "patient" not in bare.text()


def test_attributes_that_go_together_betray_each_other() -> None:
    """By shares that are given: the same as counting over all values and answers."""
    schema = sf.Schema({"a": sf.Categorical(("x", "y")), "b": sf.Categorical(("u", "v", "w"))})
    scheme = sf.Scheme(schema, {"a": c.binary(0.3, 0.3), "b": c.symmetric(3, gamma=6)})
    shares = np.array([[0.4, 0.05, 0.05], [0.05, 0.25, 0.2]])
    found = sf.report(scheme, prior={"a+b": shares.tolist()}).facts.correlated
    P, Q = scheme["a"].matrix, scheme["b"].matrix
    both = sum(
        max(sum(shares[x, z] * P[x, y] * Q[z, w] for z in range(3)) for x in range(2))
        for y in range(2)
        for w in range(3)
    )
    pair = sum(
        max(shares[x, z] * P[x, y] * Q[z, w] for x in range(2) for z in range(3)) for y in range(2) for w in range(3)
    )
    told = {one.attribute: one for one in found}["a"]
    assert (told.both, told.pair) == pytest.approx((both, pair))
    assert told.own == pytest.approx(0.7)
    even = np.full((2, 3), 1 / 6)
    assert sf.report(scheme, prior={"a+b": even.tolist()}).facts.correlated == ()
    with pytest.raises(SfumatoError, match="must be a table of numbers"):
        sf.report(scheme, prior={"a+b": "many"})
    with pytest.raises(SfumatoError, match="not an attribute or group"):
        sf.report(scheme, prior={"a+c": [1.0]})


def test_they_are_estimated_from_a_release_too() -> None:
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 4000)
    rows = {"a": np.array(["x", "y"])[a].tolist(), "b": np.array(["u", "v"])[a ^ (rng.random(4000) < 0.1)].tolist()}
    rows["z"] = rng.choice(["p", "q"], 4000).tolist()
    schema = sf.Schema({k: sf.Categorical(v) for k, v in {"a": ("x", "y"), "b": ("u", "v"), "z": ("p", "q")}.items()})
    scheme = sf.Scheme(schema, {n: c.binary(p, p) for n, p in {"a": 0.3, "b": 0.1, "z": 0.25}.items()})
    release = sf.randomize(rows, scheme, rng=sf.experiment(1))
    found = sf.report(scheme, sf.evidence(release))
    assert {(one.attribute, one.beside) for one in found.facts.correlated} <= {("a", "b"), ("b", "a")}
    assert "betray each other: “a” is guessed right" in " ".join(found.text().split())


def test_many_forms_are_told_in_short() -> None:
    schema = TEN.select([f"q{i}" for i in range(8)])
    found = sf.report(sf.Forms.for_gamma(schema, 9), n=20_000)
    page, text = found.html(), found.text()
    assert "There are 28 forms of 2 questions; each person answers one of them." in page
    assert page.count("<h3") == 1
    assert len(text.splitlines()) < 90
    assert "each person answers one form</td>" in page
    few = sf.report(sf.Forms.for_gamma(TEN.select(["q0", "q1", "q2"]), 9), n=20_000)
    assert few.text().count(": protection") == 3


@pytest.mark.parametrize("rounds", [0, -1, 2.5, True])
def test_rounds_are_whole(rounds: object) -> None:
    with pytest.raises(SfumatoError, match="rounds must be a whole number"):
        sf.report(sf.Scheme.for_gamma(TEN.select(["q0"]), 3), rounds=rounds)  # type: ignore[arg-type]


def test_a_record_of_very_many_answers_is_hardly_protected_and_not_infinitely_badly() -> None:
    names = tuple(f"q{i}" for i in range(700))
    schema = sf.Schema({name: sf.Categorical(("no", "yes")) for name in names})
    found = sf.report(sf.Scheme(schema, {names: c.mask(0.25)}), n=1000)
    said = " ".join(found.text().split())
    assert "all answers of one person together are hardly protected" in said
    assert "All answers of one person together: very weak (gamma 9.66 · 10³³³)" in said
    assert "700 attributes are randomized before leaving the owner. Their protection is strong" in said
    assert "The whole record is less protected than its parts" in said
    assert "very weak" in found.html().partition("What to watch")[0]
    for text in (found.html(), found._repr_html_()):
        assert "∞" not in text.partition("What the numbers mean")[0]
        assert "10³³³" in text


def test_no_bound_is_rounded_down_and_none_that_is_finite_claims_certainty() -> None:
    """A report said "at most 2.5 · 10¹²" of 9^13, and that a suspicion "may grow to 100 %"."""
    schema = sf.Schema({f"q{i}": sf.Categorical(("a", "b", "c")) for i in range(13)})
    said = unescape(sf.report(sf.Scheme.for_gamma(schema, 9), n=1000).html()).replace("\u00a0", " ")
    assert "All answers of one person together: γ 2.55 · 10¹²" in said and "2.5 · 10¹²" not in said
    assert "by at most 2.55 · 10¹² times" in said and "whole record may grow to 99.999999997 %" in said
    many = sf.Schema({f"q{i}": sf.Categorical(("a", "b", "c")) for i in range(40)})
    said = sf.report(sf.Scheme.for_gamma(many, 9), n=1000).html().replace("\u00a0", " ")
    assert "may grow to almost 100 %" in said and "to 100 %" not in said
    assert belief(0.8 / 1.7) == "48 %" and belief(9 / 18) == "50 %"  # of a suspicion of 10 %, under gamma 8 and 9
