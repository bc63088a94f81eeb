"""The junction tree: its graph theory, its answers against the whole table, and the route learners take to it."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.datasets import discretized as dd
from sfumato.errors import EstimationError
from sfumato.evidence.model import JunctionEvidence, JunctionTreeWarning, ModelEvidence
from sfumato.evidence.model.pairs import dependent_pairs
from sfumato.evidence.model.triangulate import bounded, cliques, tree
from sfumato.learn import TAN, DecisionTree, LinearClassifier

c = sf.channels


def test_cliques_cover_every_link_and_the_tree_runs_through_them():
    rng = np.random.default_rng(0)
    for _ in range(20):
        edges = [(i, j) for i in range(9) for j in range(i + 1, 9) if rng.random() < 0.3]
        found = cliques(9, edges, [2] * 9)
        assert all(any({a, b} <= set(clique) for clique in found) for a, b in edges)
        links = tree(found)
        # running intersection: what a clique shares with all earlier ones lies in its parent
        seen: set[int] = set()
        for link in links:
            both = set(link.clique) & seen
            assert both == set(link.shared)
            if link.parent is not None:
                assert both <= set(links[link.parent].clique)
            seen |= set(link.clique)
        assert seen == set(range(9))


def test_cliques_stay_within_the_bound():
    complete = [(i, j) for i in range(6) for j in range(i + 1, 6)]
    found, dropped = bounded(6, complete, [3] * 6, 27)
    assert max(3 ** len(clique) for clique in found) <= 27 and dropped
    whole, none = bounded(6, complete, [3] * 6, 3**6)
    assert whole == [tuple(range(6))] and not none


def chain(n=8000, length=21, seed=0):
    """A Markov chain of two-valued attributes: 2^21 cells, yet all in its pairs."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 2, n)]
    for _ in range(length - 1):
        columns.append(np.where(rng.random(n) < 0.75, columns[-1], 1 - columns[-1]))
    schema = sf.Schema({f"x{i:02d}": sf.Categorical((0, 1)) for i in range(length)})
    return dict(zip(schema.names, columns, strict=True)), schema


def test_dependent_pairs_are_found_and_independent_ones_are_not():
    rows, schema = chain(length=5)
    rows["x04"] = np.random.default_rng(1).integers(0, 2, 8000)
    release = sf.randomize(rows, sf.Scheme(schema, {n: c.symmetric(2, 0.2) for n in schema}), rng=1)
    found = {pair for _, pair in dependent_pairs(sf.evidence(release), schema.names)}
    assert {(0, 1), (1, 2), (2, 3)} <= found and not any(4 in pair for pair in found)


def test_answers_agree_with_the_whole_table():
    schema = dd.ADULT.select(["education", "marital", "occupation", "sex", "hours", "income"])
    rows = dd.adult("test").select(list(schema.names))
    release = sf.randomize(rows, sf.Scheme(schema, {n: c.symmetric(schema[n].size, 0.15) for n in schema}), rng=2)
    small, whole = JunctionEvidence(release, most=60), ModelEvidence(release, tau=0.3)
    assert len(small.links) > 1 and "cliques" in repr(small)
    for names in (["sex", "income"], ["income", "education"], ["marital", "hours", "income"]):
        ours, theirs = small.counts(names), whole.counts(names)
        assert ours.value.sum() == pytest.approx(len(rows))
        assert np.abs(ours.value - theirs.value).max() < 0.02 * len(rows)
    drawn = sf.evidence(small.sample(20_000, rng=1), schema).counts(["sex", "income"]).value / 20_000
    assert np.abs(drawn - small.shares(["sex", "income"])).max() < 0.02
    assert small.cells(["sex", "income"], [[1, 1]]).value[0] == pytest.approx(small.counts(["sex", "income"]).value[3])
    alone = JunctionEvidence(release, most=60).counts("sex").value
    assert np.allclose(alone, small.counts(["sex", "income"]).table.sum(axis=1))


def test_messages_give_the_likelihood_of_the_whole_table():
    rows, schema = chain(n=800, length=6)
    scheme = sf.Scheme(schema, {n: c.binary(0.1, 0.2) for n in schema})
    release = sf.randomize(rows, scheme, rng=3)
    model = JunctionEvidence(release, most=8)
    assert len(model.links) > 2
    whole = sf.evidence(release).log_likelihood(list(schema.names), model.shares(schema.names))
    assert model.log_likelihood() == pytest.approx(whole, rel=1e-10)
    other = sf.randomize(chain(n=800, length=6, seed=5)[0], scheme, rng=4)
    uniform = sf.evidence(other).log_likelihood(list(schema.names), np.full(64, 1 / 64))
    assert model.log_likelihood(release=other) > uniform + 50
    together = sf.Scheme(schema, {("x00", "x05"): c.symmetric((2, 2), 0.2)})
    with pytest.raises(EstimationError, match="one by one"):
        JunctionEvidence(sf.randomize(rows, together, rng=1), most=16).log_likelihood()


def test_large_tables_take_the_junction_route_and_say_so():
    rows, schema = chain()
    release = sf.randomize(rows, sf.Scheme(schema, {n: c.symmetric(2, 0.1) for n in schema}), rng=1)
    with pytest.warns(JunctionTreeWarning, match="2097152 cells"):
        model = sf.evidence(release, method="model")
    assert isinstance(model, JunctionEvidence)
    tree_ = DecisionTree(max_leaves=8).fit(model, target="x05")
    assert tree_.score(rows) > 0.7
    assert set(tree_.used_features) & {"x04", "x06"}
    assert TAN().fit(model, target="x05").score(rows) > 0.7
    assert LinearClassifier("logistic").fit(model, target="x05").score(rows) > 0.7
    with pytest.raises(EstimationError, match="fewer attributes"):
        ModelEvidence(release)
    with pytest.raises(EstimationError, match="ask for fewer"):
        model.shares(schema.names)
    with pytest.raises(EstimationError, match="at least 1"):
        model.sample(0)


def test_groups_randomized_together_share_a_clique():
    rows, schema = chain(n=3000, length=6)
    scheme = sf.Scheme(schema, {("x00", "x05"): c.symmetric((2, 2), 0.2)})
    found = JunctionEvidence(sf.randomize(rows, scheme, rng=1), most=16)
    assert any({"x00", "x05"} <= set(clique) for clique in found.cliques)
