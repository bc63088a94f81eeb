"""The linking attack: what it names, and how often that is right."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import SfumatoError

pytestmark = pytest.mark.filterwarnings("ignore:the rows keep their order")  # as they must here

SCHEMA = sf.Schema(
    {
        "sex": sf.Categorical(("F", "M")),
        "town": sf.Categorical(tuple("abcdefgh")),
        "illness": sf.Categorical(("no", "yes")),
    }
)


def people(n: int = 400, seed: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "sex": rng.choice(["F", "M"], n),
        "town": rng.choice(list("abcdefgh"), n),
        "illness": rng.choice(["no", "yes"], n),
    }


def register(table: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Names with sex and town; no illness."""
    return {
        "name": np.array([f"person {i}" for i in range(len(table["sex"]))]),
        "sex": table["sex"],
        "town": table["town"],
    }


def schemes() -> dict[str, sf.Scheme]:
    ill = {"illness": c.binary(0.2, 0.2)}
    return {
        "clear": sf.Scheme(SCHEMA, ill, clear=["sex", "town"]),
        "gamma 3": sf.Scheme.for_gamma(SCHEMA, gamma=3),
        "together": sf.Scheme(SCHEMA, {("sex", "town"): c.symmetric((2, 8), gamma=9), **ill}),
        "partly": sf.Scheme(SCHEMA, {("town", "illness"): c.symmetric((8, 2), gamma=9), "sex": c.binary(0.1, 0.1)}),
    }


def brute_force(scheme: sf.Scheme, table: dict[str, np.ndarray], rows) -> float:
    """The expected share of right links, record by record and person by person."""
    codes = SCHEMA.encode(table)
    P = {name: scheme[name].matrix for name in ("sex", "town")}
    success = []
    for sex, town in zip(rows["sex"], rows["town"], strict=True):
        likely = P["sex"][codes["sex"], sex] * P["town"][codes["town"], town]
        success.append(likely.max() / likely.sum())
    return float(np.mean(success))


@pytest.mark.parametrize("name", ["clear", "gamma 3"])
def test_the_expected_share_of_right_links_is_that_of_every_pair_tried(name):
    scheme, table = schemes()[name], people()
    release = sf.randomize(table, scheme, rng=2)
    found = sf.attacks.link(release, register(table))
    rows = release.arrow().to_pydict()
    assert found.details["linked"] == pytest.approx(brute_force(scheme, table, rows))
    assert found.details["attributes"] == "sex, town" and found.nothing == pytest.approx(1 - 1 / 400)


@pytest.mark.parametrize("name", ["clear", "gamma 3", "together", "partly"])
def test_links_are_right_as_often_as_expected(name):
    scheme, table = schemes()[name], people(2000, 5)
    release = sf.randomize(table, scheme, rng=3, order="keep")
    expected = sf.attacks.link(release, register(table)).details["linked"]
    counted = sf.attacks.link(release, register(table), np.arange(2000)).details["linked"]
    assert counted == pytest.approx(expected, rel=0.25)
    # the control: records laid beside the wrong people are hardly ever linked right
    wrong = np.random.default_rng(4).permutation(2000)
    assert sf.attacks.link(release, register(table), wrong).details["linked"] < 0.5 * counted


def test_a_scheme_is_attacked_before_anything_is_collected():
    scheme, table = schemes()["gamma 3"], people(2000, 6)
    release = sf.randomize(table, scheme, rng=3, order="keep")
    counted = sf.attacks.link(release, register(table), np.arange(2000)).details["linked"]
    assert sf.attacks.link(scheme, register(table), rng=7).details["linked"] == pytest.approx(counted, rel=0.25)


def test_stronger_privacy_links_less_and_the_clear_links_most():
    table, one = people(2000, 8), schemes()
    linked = [sf.attacks.link(one[name], register(table), rng=9).details["linked"] for name in ("clear", "gamma 3")]
    assert linked[0] > 2 * linked[1] > 2 / 2000
    named = sf.attacks.link(sf.randomize(table, one["clear"], rng=1, order="keep"), register(table)).recovered
    assert (table["town"][named] == table["town"]).all() and (table["sex"][named] == table["sex"]).all()


def test_strangers_are_told():
    table = people(50)
    women = {key: column[table["sex"] == "F"] for key, column in table.items()}
    release = sf.randomize(table, schemes()["clear"], rng=1)
    found = sf.attacks.link(release, register(women), columns=["sex"])
    assert found.details["records_of_nobody_in_the_register"] == pytest.approx(np.mean(table["sex"] == "M"))


def test_what_cannot_be_compared_is_refused_in_one_line():
    release = sf.randomize(people(), schemes()["gamma 3"], rng=1)
    with pytest.raises(SfumatoError, match="shares no attribute with the release, which has sex, town, illness"):
        sf.attacks.link(release, {"name": ["a"], "height": [3]})
    with pytest.raises(SfumatoError, match="the register is empty"):
        sf.attacks.link(release, {"sex": np.array([], dtype=str)})
    with pytest.raises(SfumatoError, match="the register has no attribute 'illness'"):
        sf.attacks.link(release, register(people()), columns=["illness"])
    with pytest.raises(SfumatoError, match="own must name a row"):
        sf.attacks.link(release, register(people()), [1, 2])
    with pytest.raises(SfumatoError, match="a scheme has none"):
        sf.attacks.link(schemes()["clear"], register(people()), [1, 2])


def test_an_expected_share_says_what_it_takes_for_granted():
    """A register of fewer people than the release cannot hold everybody in it."""
    table = people()
    release = sf.randomize(table, sf.Scheme.for_gamma(SCHEMA, 9), order="keep", rng=sf.experiment(1))
    everybody = register(table)
    some = {name: column[:100] for name, column in everybody.items()}
    assert sf.attacks.link(release, everybody).details["condition"].endswith("stands in the register once")
    assert "here at most 100 of 400 do" in sf.attacks.link(release, some).details["condition"]
    assert "condition" not in sf.attacks.link(release, everybody, np.arange(400)).details
    assert "condition" not in sf.attacks.link(release.scheme, everybody, rng=1).details
