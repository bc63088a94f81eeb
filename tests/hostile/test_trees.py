"""Trees of values that are small in a file and were dear to read: each is refused at once, in one line."""

from __future__ import annotations

import pytest
from tests.hostile.guard import refused

import sfumato as sf
from sfumato.domains.tree import MOST_LEVELS, MOST_NAMES


def test_a_leaf_that_is_listed_twice_is_found_at_once() -> None:
    leaves = [f"v{i}" for i in range(30_000)]
    line = refused(lambda: sf.Hierarchy(levels=("top", "leaf"), tree={"A": [*leaves, leaves[-1]]}))
    assert line == "'v29999' is listed twice below 'A'"


@pytest.mark.parametrize("levels", [MOST_LEVELS + 1, 3000])
def test_very_many_levels_are_refused(levels: int) -> None:
    named = tuple(f"l{i}" for i in range(levels))
    chain = {f"n{i + 1}": f"n{i}" for i in range(levels - 1)}
    assert f"more than {MOST_LEVELS}" in refused(lambda: sf.Hierarchy(levels=named, parents=chain))


def test_as_many_levels_as_may_be_are_read_and_written() -> None:
    named = tuple(f"l{i}" for i in range(MOST_LEVELS))
    schema = sf.Schema({"a": sf.Hierarchy(levels=named, parents={f"n{i + 1}": f"n{i}" for i in range(31)})})
    assert sf.Schema.from_json(schema.to_json()) == schema and schema["a"].values == ("n31",)


def test_leaves_below_a_chain_of_parents_are_not_followed_to_its_end() -> None:
    chain = {f"n{i + 1}": f"n{i}" for i in range(20_000)}
    leaves = {f"leaf{i}": "n20000" for i in range(20_000)}
    line = refused(lambda: sf.Hierarchy(levels=("top", "leaf"), parents=chain | leaves))
    assert line == "'leaf0' has more than 1 levels above it, and there are 1"


@pytest.mark.parametrize("way", ["tree", "parents"])
def test_more_names_than_memory_is_meant_for_are_refused_before_they_are_laid_out(way: str) -> None:
    named = tuple(f"l{i}" for i in range(MOST_LEVELS))
    leaves = [f"v{i}" for i in range(MOST_NAMES // MOST_LEVELS + 1)]
    tree: object = leaves
    for i in reversed(range(MOST_LEVELS - 1)):
        tree = {f"n{i}": tree}
    parents = {f"n{i + 1}": f"n{i}" for i in range(MOST_LEVELS - 2)} | dict.fromkeys(leaves, f"n{MOST_LEVELS - 2}")
    given = {"tree": tree} if way == "tree" else {"parents": parents}
    assert "more than 131,072 leaves" in refused(lambda: sf.Hierarchy(levels=named, **given))
