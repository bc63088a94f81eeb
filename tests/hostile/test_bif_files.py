"""Network files that used to cost far more than their size: each is read or refused within the guard."""

from __future__ import annotations

import json

import pytest
from tests.hostile.guard import guarded, refused

from sfumato.learn.bayesnet import BayesianNetwork
from sfumato.learn.bayesnet.structure import topological


def variable(name: str, values: list[str], more: str = "") -> str:
    return f"variable {name} {{ type discrete [ {len(values)} ] {{ {', '.join(values)} }}; {more} }}\n"


def test_bins_of_many_variables_count_together() -> None:
    domain = json.dumps("domain " + json.dumps({"kind": "numeric", "low": 0, "high": 1, "bins": 1 << 20}))
    text = "".join(variable(f"v{i}", ["a"], f"property {domain} ;") for i in range(30))
    assert "bins in all" in refused(lambda: BayesianNetwork.from_bif(text))


def test_a_domain_property_is_of_the_values_that_are_named() -> None:
    domain = json.dumps('domain {"kind": "numeric", "low": 0, "high": 1, "bins": 3}')
    text = variable("v", ["a", "b"], f"property {domain} ;") + "probability ( v ) { table .5 .5; }"
    assert "names 2 values and its domain property another number" in refused(lambda: BayesianNetwork.from_bif(text))


def test_of_many_defaults_only_the_last_is_filled_in() -> None:
    values = [f"s{i}" for i in range(250)]
    text = variable("p", values) + variable("q", values) + variable("w", ["a", "b"])
    text += "".join(f"probability ( {name} ) {{ table {' '.join(['0.004'] * 250)}; }}\n" for name in "pq")
    text += f"probability ( w | p, q ) {{ {'default .5 .5; ' * 20_000} default .25 .75; }}"
    with guarded():
        assert BayesianNetwork.from_bif(text).cpt("w").values[3, 4].tolist() == [0.25, 0.75]
    wrong = text.replace("default .25 .75;", "default 1;")
    assert "the default of 'w' must have 2 numbers" in refused(lambda: BayesianNetwork.from_bif(wrong))


def test_comments_are_looked_at_once() -> None:
    text = "network x { }\n// " + " " * 60_000 + '\n"'
    assert "a quote or a comment is not closed" in refused(lambda: BayesianNetwork.from_bif(text))


def test_a_parent_of_very_many_values_is_numbered_once() -> None:
    values = [f"s{i}" for i in range(60_000)]
    text = variable("p", values) + "".join(variable(f"v{i}", ["a"]) for i in range(250))
    text += f"probability ( p ) {{ default 1 {'0 ' * 59_999}; }}\n"
    text += "".join(f"probability ( v{i} | p ) {{ default 1; (s7) 1; }}\n" for i in range(250))
    with guarded(seconds=3):
        assert len(BayesianNetwork.from_bif(text).parents_) == 251


@pytest.mark.parametrize("circle", [False, True])
def test_long_chains_are_ordered_in_one_pass(circle: bool) -> None:
    n = 20_000
    parents = {f"v{i}": (f"v{(i + 1) % n}",) if circle or i < n - 1 else () for i in range(n)}
    if circle:
        assert "the structure is cyclic: v0 -> v19999" in refused(lambda: topological(parents))
        return
    with guarded(seconds=2):
        assert topological(parents) == tuple(f"v{i}" for i in reversed(range(n)))
