"""The junction tree: its graph theory, its answers against the whole table, and the route learners take to it."""

from __future__ import annotations

import tracemalloc
from itertools import combinations

import numpy as np
import pytest

import sfumato as sf
from gallery import rest_clear
from sfumato.datasets import discretized as dd
from sfumato.errors import EstimationError
from sfumato.evidence.independence import dependent_pairs
from sfumato.evidence.kinds import JunctionTreeWarning
from sfumato.evidence.model import cliques as cliques_module
from sfumato.evidence.model import messages as messages_module
from sfumato.evidence.model.cliques import JunctionEvidence
from sfumato.evidence.model.goodness_of_fit import _combination, _sets
from sfumato.evidence.model.joint import ModelEvidence
from sfumato.evidence.model.messages import given
from sfumato.evidence.model.triangulate import bounded, cliques, tree
from sfumato.evidence.splits import hold_out
from sfumato.learn import TAN, AssociationRules, DecisionTree, LinearClassifier, NaiveBayes

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


def test_hundreds_of_attributes_with_thousands_of_links_fit_into_small_cliques():
    rng = np.random.default_rng(0)
    near = {tuple(sorted({i, int(i + rng.integers(1, 9))})) for i in range(292) for _ in range(6)}
    ranked = [tuple(map(int, pair)) for pair in rng.permutation(sorted(near))]
    found, dropped = bounded(300, ranked, [2] * 300, 1 << 6)
    inside = {pair for clique in found for pair in combinations(clique, 2)}
    assert max(map(len, found)) <= 6 and len(ranked) > 1000
    assert set(ranked) - inside <= set(dropped), "what is not dropped lies in a clique"
    assert ranked[0] in inside and len(inside & set(ranked)) > 500
    links = tree(found)
    assert all(set(link.shared) <= set(links[link.parent].clique) for link in links if link.parent is not None)


@pytest.fixture(scope="module")
def wide():
    """A chain of 250 attributes, each linked with the two before it; the pairs are known and need not be found."""
    rows, schema = chain(n=2000, length=250)
    release = sf.randomize(rows, sf.Scheme(schema, {n: c.binary(0.1, 0.1) for n in schema}), rng=1)
    names = schema.names
    pairs = [(names[i], names[i + step]) for step in (1, 2) for i in range(len(names) - step)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cliques_module, "dependent_pairs", lambda *_: pairs)
        return JunctionEvidence(release, most=16)


def test_a_model_of_250_attributes_answers_for_near_and_far_ones(wide):
    names = wide.names
    assert len(wide.links) > 200 and not wide.dropped
    for asked in ([names[7]], [names[100], names[101]], [names[3], names[200]], [names[249], names[120], names[0]]):
        cells = np.indices([2] * len(asked)).reshape(len(asked), -1).T
        assert wide.shares(asked).sum() == pytest.approx(1)
        assert wide.shares(asked) == pytest.approx(wide.cells(asked, cells).value / wide.n, rel=1e-9)
    assert set(wide.sample(10, rng=1).column_names) == set(names)


def test_a_question_goes_only_through_the_cliques_between_its_attributes(wide):
    names = wide.names
    assert len(wide._telling((names[100], names[101]))) == 1
    assert len(wide._telling((names[100], names[110]))) < 14
    assert wide._telling((names[110], names[100]))[0].names != wide._marginals[0].names


def test_the_likelihood_of_many_attributes_keeps_few_cliques_in_memory(wide, monkeypatch):
    """All tables of all records at once took gigabytes: now a clique is done with before the next."""
    monkeypatch.setattr(messages_module, "_IN_CACHE", 1 << 10)
    by_few = wide.messages.mass(wide._given({name: np.zeros(300, dtype=int) for name in wide.names}), 300)
    tracemalloc.start()
    whole = wide.messages.mass(wide._given({name: np.zeros(300, dtype=int) for name in wide.names}), 300)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert by_few == pytest.approx(whole) and peak < 8 * 300 * 16 * len(wide.links)
    assert wide.likelihood_cost == wide.n * sum(table.values.size for table in wide._tables)


def test_goodness_of_fit_of_very_many_attributes_looks_at_sets_of_every_size():
    names = [str(i) for i in range(300)]
    looked = list(_sets(names))
    assert {size: sum(len(s) == size for s in looked) for size in (1, 2, 3)} == {1: 66, 2: 66, 3: 66}
    assert len(set(looked)) == 198 and looked[0] == ("0",)
    few = [str(i) for i in range(5)]
    assert list(_sets(few)) == [s for size in (1, 2, 3) for s in combinations(few, size)]
    assert [_combination(few, 3, i) for i in range(10)] == list(combinations(few, 3))


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
    found = set(dependent_pairs(sf.evidence(release), schema.names))
    assert {("x00", "x01"), ("x01", "x02"), ("x02", "x03")} <= found and not any("x04" in pair for pair in found)


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
    together = rest_clear(schema, {("x00", "x05"): c.symmetric((2, 2), 0.2)})
    released = sf.randomize(rows, together, rng=1)
    grouped = JunctionEvidence(released, most=16)
    whole = sf.evidence(released).log_likelihood(list(schema.names), grouped.shares(schema.names))
    assert grouped.log_likelihood() == pytest.approx(whole, rel=1e-10)
    mixed = np.eye(4) * 0.6 + np.array([[0.1, 0.1, 0.1, 0.1], [0.2, 0.1, 0.1, 0], [0, 0, 0.2, 0.2], [0.4, 0, 0, 0]])
    unequal = rest_clear(schema, {("x00", "x05"): c.matrix(mixed, sizes=(2, 2), outputs=(2, 2))})
    with pytest.raises(EstimationError, match="whole groups"):
        JunctionEvidence(release, ["x00", "x01"], most=16).log_likelihood(release=sf.randomize(rows, unequal, rng=1))


def test_messages_know_every_value_given_findings():
    rows, schema = chain(n=800, length=6)
    release = sf.randomize(rows, sf.Scheme(schema, {n: c.binary(0.1, 0.2) for n in schema}), rng=3)
    model = JunctionEvidence(release, most=8)
    joint = model.shares(schema.names).reshape([2] * 6)
    codes = {1: np.array([0, 1, 1]), 4: np.array([1, 1, 0])}
    found = model.messages.singles(given(codes, [2] * 6), 3)
    for case in range(3):
        part = joint[:, codes[1][case], :, :, codes[4][case]]
        assert model.messages.mass(given(codes, [2] * 6), 3)[case] == pytest.approx(part.sum(), rel=1e-12)
        assert found[5][case] == pytest.approx(part.sum(axis=(0, 1, 2)), rel=1e-12)
        assert found[4][case][codes[4][case]] == pytest.approx(part.sum(), rel=1e-12)
        assert found[4][case][1 - codes[4][case]] == 0
    cells = model.cells(["x05", "x01"], [[1, 0], [0, 1]])
    assert cells.value == pytest.approx(model.counts(["x05", "x01"]).table[[1, 0], [0, 1]])
    assert cells.cov == pytest.approx(model.counts(["x05", "x01"]).cov[np.ix_([2, 1], [2, 1])])
    assert not np.allclose(cells.cov, np.outer(cells.sd, cells.sd)), "cells are not one number"


def test_large_tables_take_the_junction_route_and_say_so():
    rows, schema = chain()
    release = sf.randomize(rows, sf.Scheme(schema, {n: c.symmetric(2, 0.1) for n in schema}), rng=1)
    with pytest.warns(JunctionTreeWarning, match="21 attributes has more than 1,048,576 cells"):
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
    scheme = rest_clear(schema, {("x00", "x05"): c.symmetric((2, 2), 0.2)})
    found = JunctionEvidence(sf.randomize(rows, scheme, rng=1), most=16)
    assert any({"x00", "x05"} <= set(clique) for clique in found.cliques)


@pytest.fixture(scope="module")
def mushrooms():
    """All 23 attributes, one of them constant: 2.4e14 cells."""
    table = sf.datasets.load("mushroom")
    with pytest.warns(sf.errors.DisclosureWarning):
        schema = sf.Schema.infer(table)
    release = sf.randomize(table, sf.Scheme.for_gamma(schema, gamma=9), rng=1)
    return table, *hold_out(release, 0.25, 1)


def test_pairs_without_room_in_a_clique_are_named_whoever_learns() -> None:
    """20 values each: a clique holds two attributes, a tree of cliques four of the ten pairs."""
    rng = np.random.default_rng(0)
    common = rng.integers(0, 20, 6000)
    names = [f"q{i}" for i in range(5)]
    table = {name: np.where(rng.random(6000) < 0.7, common, rng.integers(0, 20, 6000)) for name in names}
    schema = sf.Schema({name: sf.Ordinal(range(20)) for name in names})
    release = sf.randomize(table, sf.Scheme.for_gamma(schema, 50), rng=sf.experiment(1))
    for learn in (lambda: sf.evidence(release, method="model"), lambda: LinearClassifier().fit(release, target="q0")):
        with pytest.warns(JunctionTreeWarning) as told:
            learn()
        (said,) = (str(one.message) for one in told if "no clique has room" in str(one.message))
        assert said.startswith("no clique has room for 6 pairs of attributes that depend on each other: q")
        assert said.count(" and q") == 3 and "; and 3 more." in said


@pytest.mark.filterwarnings("ignore::sfumato.evidence.kinds.JunctionTreeWarning")
@pytest.mark.parametrize("make", [DecisionTree, LinearClassifier, NaiveBayes])
def test_learners_of_many_attributes_learn_and_know_their_accuracy(mushrooms, make):
    table, kept, held = mushrooms
    model = make().fit(sf.evidence(kept), target="class")
    true = model.score(table)
    assert true > 0.9  # the majority class is .52
    found = model.estimate_score(held)
    assert found.interval[0] < true < found.interval[1] and found.sd < 0.08
    assert found.confusion.sum() == pytest.approx(1, abs=0.02) and found.majority == pytest.approx(0.52, abs=0.05)


def test_the_estimated_accuracy_of_a_bad_model_of_many_attributes_is_bad(mushrooms):
    """The weights h see what the records say: a model that says the opposite is found out."""
    _, kept, held = mushrooms
    model = NaiveBayes().fit(sf.evidence(kept), target="class")
    right = type(model)._proba
    model._proba = lambda codes: right(model, codes)[:, ::-1]
    assert model.estimate_score(held).interval[1] < 0.3


def test_too_many_sets_end_with_a_word(mushrooms, monkeypatch):
    monkeypatch.setattr("sfumato.learn.rules.apriori.CANDIDATES", 500)
    monkeypatch.setattr("sfumato.learn.rules.measures.SPLITS", 100)
    schema = mushrooms[1].schema
    with pytest.warns(sf.errors.SfumatoWarning, match="sets of 2 items would have to be counted"):
        found = AssociationRules(0.1).fit(sf.evidence(mushrooms[0], schema))
    assert max(len(one.items) for one in found.itemsets_) == 1
    monkeypatch.setattr("sfumato.learn.rules.apriori.CANDIDATES", 5000)
    found = AssociationRules(0.4, max_items=2).fit(sf.evidence(mushrooms[0], schema))
    with pytest.warns(sf.errors.SfumatoWarning, match="more than 100 rules"):
        assert found.rules_


def test_a_table_of_2_to_the_19_cells_is_still_modelled_whole():
    rng = np.random.default_rng(0)
    schema = sf.Schema({f"x{i}": sf.Categorical((0, 1)) for i in range(19)})
    rows = {name: rng.integers(0, 2, 2000) for name in schema}
    release = sf.randomize(rows, sf.Scheme(schema, {n: c.symmetric(2, 0.1) for n in schema}), rng=1)
    model = sf.evidence(release, method="model", tau=0.3)
    assert isinstance(model, ModelEvidence) and model.joint.size == 2**19
    assert model.counts("x3").value.sum() == pytest.approx(2000)


def test_logistic_regression_on_clean_rows_of_many_attributes_equals_scikit_learn(mushrooms):
    from sklearn.linear_model import LogisticRegression

    from sfumato.learn.weighted_cells import Encoding

    table, schema = mushrooms[0], mushrooms[1].schema
    features = [name for name in schema if name != "class"]
    codes = schema.encode(table)
    X = Encoding(schema, features)([codes[name] for name in features])
    theirs = LogisticRegression(C=1.0, tol=1e-10, max_iter=1000, solver="newton-cholesky").fit(X, codes["class"])
    ours = LinearClassifier("logistic", C=1.0).fit(sf.evidence(table, schema), target="class")
    assert np.abs(ours.predict_proba(table) - theirs.predict_proba(X)).max() < 1e-5


def test_accuracy_of_many_attributes_under_two_schemes():
    rows, schema = chain(n=3000, length=22)
    parts = [
        sf.randomize(rows, sf.Scheme(schema, {n: c.symmetric(2, p) for n in schema}), rng=i)
        for i, p in enumerate((0.1, 0.2))
    ]
    release = sf.Release.concat(parts)
    model = LinearClassifier("logistic").fit(JunctionEvidence(release), target="x05")
    found = model.estimate_score(release)
    assert found.interval[0] < model.score(rows) < found.interval[1]
    assert np.all(found.confusion_sd >= 0) and found.n == 6000


def test_accuracy_of_many_attributes_and_many_classes():
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 30, 3000)
    rows = {f"x{i}": (kind >> (i % 5)) & 1 for i in range(22)} | {"kind": kind}
    schema = sf.Schema({n: sf.Categorical(tuple(range(30 if n == "kind" else 2))) for n in rows})
    release = sf.randomize(rows, sf.Scheme(schema, {n: c.symmetric(schema[n].size, 0.05) for n in schema}), rng=1)
    model = NaiveBayes().fit(release, target="kind")
    found = model.estimate_score(release)
    true = model.score(rows)
    assert abs(found.accuracy - true) < 4 * found.sd and 0 < found.sd < 0.2
    assert np.isnan(found.confusion).all() and found.majority < 0.1


@pytest.fixture
def unlinked(monkeypatch):
    """A number whose mean rises with the group, in a model that links neither with anything."""
    rng = np.random.default_rng(5)
    group, others = rng.integers(0, 3, 4000), {f"z{i}": rng.integers(0, 4, 4000) for i in range(6)}
    rows = {"g": group, "x": np.clip(rng.binomial(7, 0.2 + 0.3 * group), 0, 7), **others}
    schema = sf.Schema({name: sf.Ordinal(tuple(range(int(codes.max()) + 1))) for name, codes in rows.items()})
    release = sf.randomize(rows, sf.Scheme.for_gamma(schema, 9), rng=sf.experiment(2))
    monkeypatch.setattr(cliques_module, "dependent_pairs", lambda *_: [])
    return release, [float(rows["x"][group == g].mean()) for g in range(3)]


def test_attributes_that_are_in_no_clique_together_are_modelled_when_they_are_asked(unlinked):
    """All groups had the mean of everybody, and nobody said why."""
    release, truth = unlinked
    ev = JunctionEvidence(release)
    found = ev.mean("x", by="g")
    assert np.abs(found.value - truth).max() < 0.4 < truth[2] - truth[0]
    assert "no clique of the model holds g and x together: here they are modelled alone" in found.notes
    assert not [note for note in ev.mean("x").notes if "clique" in note]
    assert ev.covering(["x"]) is ev and ev.covering(["g", "x"]).counts(["g", "x"]).notes[1] in found.notes


def test_a_table_that_no_clique_holds_says_so(unlinked):
    ev = JunctionEvidence(unlinked[0], most=20)
    assert any("no clique of the model holds g and x together" in note for note in ev.counts(["g", "x"]).notes)
    assert any("no clique" in note for note in ev.mean("x", by="g").notes), "24 cells have no room in a clique of 20"
    assert len(ev.counts(["x"]).notes) == 1


def test_a_model_of_independent_attributes_says_so():
    rng = np.random.default_rng(5)
    rows = {name: rng.integers(0, 5, 1500) for name in "abc"}
    schema = sf.Schema({name: sf.Ordinal(tuple(range(5))) for name in rows})
    ev = ModelEvidence(sf.randomize(rows, sf.Scheme.for_gamma(schema, 3), rng=sf.experiment(2)), rng=1)
    assert ev.chosen == "independent"
    assert any("takes all attributes for independent" in note for note in ev.mean("a", by="b").notes)
