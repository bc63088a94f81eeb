"""What the joint model buys: accuracy on real data under randomization, and never less than the majority."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from gallery import rest_clear
from sfumato.datasets import discretized as dd
from sfumato.errors import UnrecoverableWarning
from sfumato.learn import DecisionTree

c = sf.channels


def test_adult_tree_reaches_what_the_joint_model_promises():
    """p = .3, one copy: at least .835 where the paper's ID3 falls to about .77."""
    schema, test = dd.ADULT, dd.adult("test")
    scheme = sf.Scheme(schema, {n: c.symmetric(schema[n].size, 0.3) for n in schema})
    release = sf.randomize(dd.adult("train"), scheme, rng=11)
    ours = DecisionTree().fit(sf.evidence(release, method="model", tau=0.3), target="income").score(test)
    paper = DecisionTree(counts="paper").fit(sf.evidence(release), target="income").score(test)
    assert ours >= 0.835 and paper < 0.80


@pytest.mark.parametrize(("p", "least"), [(0.1, 0.965), (0.2, 0.96), (0.3, 0.95)])
def test_wisconsin_tree_over_runs(p, least):
    schema, rows = dd.WISCONSIN, dd.wisconsin()
    scheme = sf.Scheme(schema, {n: c.symmetric(schema[n].size, p) for n in schema})
    scores = [
        DecisionTree()
        .fit(sf.evidence(sf.randomize(rows, scheme, rng=s), method="model", tau=0.3), target="class")
        .score(rows)
        for s in range(4)
    ]
    assert np.mean(scores) >= least and min(scores) > 444 / 683


def test_unequal_asymmetric_and_joint_channels_are_learned_through():
    schema, rows = dd.WISCONSIN, dd.wisconsin()
    names = schema.names
    channels = {
        (names[0], names[1]): c.symmetric((3, 2), 0.3),
        names[2]: c.ternary(0.1, 0.2),
        names[3]: c.binary(0.05, 0.3),
        (names[4], names[8]): c.symmetric((3, 3), 0.4),
        names[6]: c.subset(3, 4),
        "class": c.binary(0.1, 0.25),
    }
    model = sf.evidence(sf.randomize(rows, rest_clear(schema, channels), rng=1), method="model", tau=0.3)
    assert DecisionTree().fit(model, target="class").score(rows) > 0.95


def independent(n, seed):
    """Three records in five are of one class, whatever the attributes say."""
    rng = np.random.default_rng(seed)
    schema = sf.Schema({f"x{i}": sf.Categorical((0, 1, 2)) for i in range(4)} | {"y": sf.Categorical(("a", "b"))})
    codes = {f"x{i}": rng.integers(0, 3, n) for i in range(4)} | {"y": (rng.random(n) < 0.4).astype(int)}
    return schema.decode(codes), schema


def test_the_majority_is_learned_where_nothing_foretells_the_target():
    """Noise alone: the tree says the majority class; told to believe the model it would follow the noise."""
    for seed in range(5):
        rows, schema = independent(800, seed)
        scheme = sf.Scheme(schema, {n: c.symmetric(schema[n].size, 0.1) for n in schema})
        model = sf.evidence(sf.randomize(rows, scheme, rng=seed + 100), method="model", tau=1.0)
        with pytest.warns(UnrecoverableWarning, match="foretells 'y'"):
            tree = DecisionTree().fit(model, target="y")
        assert len(tree.leaves_) == 1 and set(tree.predict(rows)) == {"a"}
        assert tree.evidence_.apart and not model.apart
    followed = model.joint.reshape(-1, 2).argmax(axis=1)
    assert 0 < followed.sum() < len(followed)  # negative control: the model itself mixes the classes


@pytest.mark.parametrize("kind", ["joint", "asymmetric"])
def test_a_foretold_target_is_not_set_apart(kind):
    schema, rows = dd.WISCONSIN, dd.wisconsin()
    names = schema.names
    channels = {n: c.symmetric(schema[n].size, 0.3) for n in names if n != "class"}
    if kind == "joint":
        channels.pop(names[8])
        channels[(names[8], "class")] = c.symmetric((3, 2), 0.3)
    else:
        channels["class"] = c.binary(0.05, 0.4)
    tree = DecisionTree().fit(
        sf.evidence(sf.randomize(rows, sf.Scheme(schema, channels), rng=2), method="model", tau=0.3), target="class"
    )
    assert not tree.evidence_.apart and tree.score(rows) > 0.93
