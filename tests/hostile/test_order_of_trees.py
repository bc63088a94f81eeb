"""Two orders of one tree have different codes: nothing that goes by codes may take one for the other."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.question import question

NORTH_FIRST = {"North": ["Abo", "Eck"], "South": ["Ulm", "Wes"]}
SOUTH_FIRST = {"South": ["Ulm", "Wes"], "North": ["Abo", "Eck"]}


def scheme(tree: dict[str, list[str]], p: float = 0.3) -> sf.Scheme:
    place = sf.Hierarchy(levels=("region", "town"), tree=tree)
    return sf.Scheme(sf.Schema({"place": place}), {"place": c.symmetric(4, p)})


def test_their_schemes_are_different_questions() -> None:
    one, other = scheme(NORTH_FIRST), scheme(SOUTH_FIRST)
    assert one.schema["place"].meaning() != other.schema["place"].meaning()
    assert one != other and one.fingerprint != other.fingerprint
    assert question(one, ("place",)) != question(other, ("place",))
    assert scheme(dict(NORTH_FIRST)) == one  # the same tree again


def test_the_order_survives_a_file() -> None:
    one = scheme(SOUTH_FIRST)
    again = sf.Scheme.from_json(one.to_json())
    assert again == one and again.schema["place"].labels == ("Ulm", "Wes", "Abo", "Eck")


def test_a_changed_value_is_not_hidden_by_a_turned_tree() -> None:
    key, ids = sf.new_key(), list(range(2000))
    first = sf.randomize({"i": ids, "place": ["Abo"] * 2000}, scheme(NORTH_FIRST), id="i", key=key)
    second = sf.randomize({"i": ids, "place": ["Ulm"] * 2000}, scheme(SOUTH_FIRST), id="i", key=key)
    codes = [
        dict(zip(*(release.arrow()[name].to_pylist() for name in ("i", "place")), strict=True))
        for release in (first, second)
    ]
    same = sum(codes[1][person] == code for person, code in codes[0].items())
    assert 0.45 * 2000 < same < 0.6 * 2000  # independent answers agree with probability .7^2 + 3 * .1^2 = .52


def test_counts_under_two_orders_are_not_added() -> None:
    places = {"place": ["Abo"] * 900}
    sites = [sf.counted(sf.randomize(places, scheme(tree))) for tree in (NORTH_FIRST, SOUTH_FIRST, SOUTH_FIRST)]
    with pytest.raises(sf.SfumatoError):
        sf.secure_sum(sites)


def test_a_tree_told_by_parents_is_the_same_in_a_file(tmp_path) -> None:
    """Towns of two regions by turns: a file writes the tree branch by branch, and codes must mean the same there."""
    parents = [("Abo", "North"), ("Ulm", "South"), ("Eck", "North"), ("Wes", "South")]
    place = sf.Hierarchy(levels=("region", "town"), parents=parents)
    made = sf.Scheme(sf.Schema({"place": place}), {"place": c.symmetric(4, 0.1)})
    assert sf.Scheme.from_json(made.to_json()) == made
    path = sf.randomize({"place": ["Ulm"] * 1000}, made).save(tmp_path / "r.parquet")
    counts = sf.evidence(sf.Release.load(path), method="mle").counts(["place"])
    assert [label for (label,) in counts.labels()][int(counts.value.argmax())] == "Ulm"
