"""Values that form a tree: read, written and told in one line where the tree is none."""

from __future__ import annotations

from typing import Any

import pytest

import sfumato as sf
from sfumato.errors import OutsideDomainError, SchemaError

LEVELS = ("region", "county", "town")
TREE = {"North": {"Aland": ["Abo", "Eck"], "Bland": ["Bux"]}, "South": {"Cland": ["Ulm", "Celle"]}}
PARENTS = {
    "Abo": "Aland",
    "Eck": "Aland",
    "Bux": "Bland",
    "Ulm": "Cland",
    "Celle": "Cland",
    "Aland": "North",
    "Bland": "North",
    "Cland": "South",
}


def test_leaves_are_the_values_and_levels_lie_above() -> None:
    place = sf.Hierarchy(levels=LEVELS, tree=TREE, nullable=True)
    assert place.values == ("Abo", "Eck", "Bux", "Ulm", "Celle")
    assert place.into("county").tolist() == [0, 0, 1, 2, 2, 3]
    assert place.into("region").tolist() == [0, 0, 0, 1, 1, 2]
    assert place.at("region").labels == ("North", "South", None)
    assert place.at("county").into("region").tolist() == [0, 0, 1, 2]


def test_a_tree_and_its_parents_are_the_same() -> None:
    tree = sf.Hierarchy(levels=LEVELS, tree=TREE)
    assert sf.Hierarchy(levels=LEVELS, parents=PARENTS) == tree
    assert sf.Hierarchy(levels=LEVELS, parents=list(PARENTS.items())) == tree
    moved = {"North": {"Aland": ["Abo"], "Bland": ["Eck", "Bux"]}, "South": TREE["South"]}
    assert sf.Hierarchy(levels=LEVELS, tree=moved) != tree


def test_a_wider_level_reads_what_lies_below_it() -> None:
    place = sf.Hierarchy(levels=LEVELS, tree=TREE, level="county")
    assert place.encode(["Ulm", "Aland", "Bux", "Eck"]).tolist() == [2, 0, 1, 0]
    assert place.at("region").values == ("North", "South")
    counties = {"North": ["Aland", "Bland"], "South": ["Cland"]}
    assert place == sf.Hierarchy(levels=LEVELS[:2], tree=counties)


@pytest.mark.parametrize("level", [None, "county", "region"])
def test_a_schema_with_a_tree_is_written_and_read(level: str | None) -> None:
    first = {None: "Abo", "county": "Aland", "region": "North"}[level]
    schema = sf.Schema({"place": sf.Hierarchy(levels=LEVELS, tree=TREE, level=level, spellings={"N.": first})})
    again = sf.Schema.from_json(schema.to_json())
    assert again == schema
    assert again["place"].to_dict() == schema["place"].to_dict()
    assert again["place"].encode([first, "N."]).tolist() == [0, 0]


LOOP: dict[str, Any] = {}
LOOP["x"] = {"y": LOOP}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"tree": {"N": {"A": ["a"], "B": ["a"]}}}, "'a' of level 'town' has two parents, 'A' and 'B'"),
        ({"tree": {"N": {"A": ["a"]}, "S": {"A": ["b"]}}}, "'A' of level 'county' has two parents"),
        ({"parents": [("a", "A"), ("a", "B")]}, "'a' has two parents, 'A' and 'B'"),
        ({"parents": {"a": "b", "b": "c", "c": "a"}}, "in a circle"),
        ({"parents": {"x": "y", "y": "z", "a": "b", "b": "a"}}, "in a circle"),
        ({"tree": LOOP}, "deeper below 'y' than its 3 levels"),
        ({"tree": {"N": ["a"]}}, "every branch must reach 'town'"),
        ({"tree": {"N": {"A": []}}}, "'A' is no leaf"),
        ({"tree": {"N": {"A": ["a", "a"]}}}, "listed twice"),
        ({"tree": {"N": {"A": [7]}}}, "must be text, got int"),
        ({"parents": {"a": "A"}}, "'a' has 1 levels above it"),
        ({"tree": TREE, "level": "street"}, "there is no level 'street'; the levels are region, county, town"),
        ({"tree": TREE, "parents": PARENTS}, "either tree or parents"),
        ({}, "either tree or parents"),
    ],
)
def test_what_is_no_tree_is_told_in_one_line(given: dict[str, Any], why: str) -> None:
    with pytest.raises(SchemaError, match=why):
        sf.Hierarchy(levels=LEVELS, **given)


@pytest.mark.parametrize("levels", ["town", ["town"], ["a", "a"], ["a", 3]])
def test_levels_are_different_names(levels: Any) -> None:
    with pytest.raises(SchemaError, match="levels must"):
        sf.Schema.from_dict({"place": {"kind": "hierarchy", "levels": levels, "tree": TREE}})


def test_a_value_that_is_no_leaf_is_told() -> None:
    place = sf.Hierarchy(levels=LEVELS, tree=TREE)
    with pytest.raises(OutsideDomainError, match=r"2 rows hold a value of a wider level \(a county, where a town is"):
        place.encode(["Abo", "Aland", "Cland"], "place")
    with pytest.raises(OutsideDomainError, match="1 row holds a value that is not in its domain"):
        place.encode(["Abo", "Atlantis"], "place")


def test_a_name_that_leads_to_two_values_is_told() -> None:
    tree = {"North": {"Ulm": ["Abo"]}, "South": {"Eck": ["Ulm"]}}
    levels = ("region", "county", "town")
    assert sf.Hierarchy(levels=levels, tree=tree).values == ("Abo", "Ulm")
    with pytest.raises(SchemaError, match="'Ulm' lies below 'North' on one level and below 'South' on another"):
        sf.Hierarchy(levels=levels, tree=tree, level="region")
    below = {"North": {"Ulm": ["Ulm"]}, "South": {"Eck": ["Abo"]}}  # a town like its county leads to one region
    assert sf.Hierarchy(levels=levels, tree=below, level="region").encode(["Ulm", "Abo"]).tolist() == [0, 1]
