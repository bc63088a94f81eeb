"""Tracking: keyed answers make people recognisable, fresh ones do not, and what is expected is what is counted."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import SfumatoError

SCHEMA = sf.Schema({f"q{i}": sf.Categorical(tuple("abcd")) for i in range(5)})
SCHEME = sf.Scheme.for_gamma(SCHEMA, 3)


def people(n: int, seed: int, ids: int = 0) -> dict[str, list[object]]:
    rng = np.random.default_rng(seed)
    return {"id": list(range(ids, ids + n)), **{name: rng.choice(list("abcd"), n).tolist() for name in SCHEMA.names}}


def test_keyed_answers_are_found_again_as_often_as_expected() -> None:
    table, key = people(600, 1), sf.new_key()
    first, second = (sf.randomize(table, SCHEME, key=key, id="id") for _ in range(2))
    counted = sf.attacks.track(first, second)
    alone = sf.attacks.track(first)
    expected = sf.attacks.track(SCHEME, n=600)
    assert counted.details["found_again"] == pytest.approx(alone.details["found_again"], abs=1e-9)
    assert counted.details["found_again"] == pytest.approx(expected.details["found_again"], abs=0.06)
    assert alone.details["unlike_anybody"] == pytest.approx(expected.details["unlike_anybody"], abs=0.1)
    assert counted.details["found_again"] > 100 * counted.details["blind"]


def test_fresh_answers_are_hardly_found_again() -> None:
    """The negative control: the same people, the same pseudonyms, but answers drawn anew."""
    table, link = people(600, 2), sf.new_link_key()
    first, second = (sf.randomize(table, SCHEME, id="id", link_key=link) for _ in range(2))
    assert sf.attacks.track(first, second).details["found_again"] < 0.15


def test_changed_values_hide_some_people_but_not_all() -> None:
    table, key = people(600, 3), sf.new_key()
    later = {**table, "q0": people(600, 4)["q0"]}
    first, second = (sf.randomize(rows, SCHEME, key=key, id="id") for rows in (table, later))
    stayed = sf.attacks.track(first, first).details["found_again"]
    moved = sf.attacks.track(first, second).details["found_again"]
    assert 0.2 < moved < stayed


def test_the_hash_of_a_longitudinal_channel_is_recognised() -> None:
    schema = sf.Schema({"v": sf.Categorical(tuple(map(str, range(200))))})
    scheme, key = sf.Scheme(schema, {"v": c.longitudinal(200, 3, 81, 2)}), sf.new_key()
    rows = [{"id": list(range(100)), "v": [str((i * step) % 200) for i in range(100)]} for step in (1, 7)]
    first, second = (sf.randomize(one, scheme, key=key, id="id") for one in rows)
    found = sf.attacks.track(first, second).details["found_again"]
    assert found == pytest.approx(sf.attacks.track(scheme, n=100).details["found_again"], abs=0.15)
    assert found > 0.5


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda r: sf.attacks.track(SCHEME), "needs n, the number of people"),
        (lambda r: sf.attacks.track(r, n=5), "n goes with a scheme"),
        (lambda r: sf.attacks.track(r, sf.randomize(people(9, 1), SCHEME)), "needs pseudonyms in both"),
        (lambda r: sf.attacks.track(r, sf.randomize(people(9, 1), SCHEME, id="id")), "no pseudonym stands in both"),
        (lambda r: sf.attacks.track(r, r.select(["q0", "q1"])), "hold different attributes"),
    ],
)
def test_bad_input_is_one_line(call, says: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(SfumatoError, match=says):
        call(sf.randomize(people(20, 1), SCHEME, key=sf.new_key(), id="id"))


def test_impossible_combinations_make_nobody_rarer() -> None:
    """Three valid pairs of values are as recognisable as three values."""
    pairs = sf.Schema({"a": sf.Categorical(("x", "y", "z")), "b": sf.Categorical(("u", "v"))})
    valid = c.symmetric(valid=[("x", "u"), ("y", "u"), ("z", "v")], p=0.3)
    both = sf.attacks.track(sf.Scheme(pairs, {("a", "b"): valid}), n=20).details
    one = sf.attacks.track(sf.Scheme(pairs.select(["a"]), {"a": c.symmetric(3, p=0.3)}), n=20).details
    assert both["found_again"] == pytest.approx(one["found_again"], abs=1e-9)
    assert both["unlike_anybody"] == pytest.approx(one["unlike_anybody"], abs=1e-9)
