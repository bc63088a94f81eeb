"""What intervals claim, they keep: supports, model counts and estimated scores, over replications."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.printed_coverage import records

import sfumato as sf
from sfumato.datasets import discretized as dd
from sfumato.evidence.model.joint import ModelEvidence
from sfumato.learn import DecisionTree
from sfumato.learn.rules.items import one_hot, one_hot_table, universe
from sfumato.learn.rules.supports import RecordedSupports
from sfumato.learn.tree.intervals import own_limits

c = sf.channels


def share_between(held, n, share=0.95, sigmas=5.2):
    """Whether n independent checks that hold with the given probability may hold this often, but for once in 10^7."""
    return abs(held - n * share) < sigmas * np.sqrt(n * share * (1 - share)) + 1


def test_intervals_of_supports_cover():
    schema = dd.WISCONSIN.select(["clump_thickness", "mitoses", "class"])
    rows = dd.wisconsin()
    items, names = one_hot_table(rows, schema), one_hot(schema)
    groups = {names.names[:3]: c.symmetric((2, 2, 2), 0.3), **{n: c.binary(0.2, 0.2) for n in names.names[3:]}}
    scheme = sf.Scheme(names, groups)
    true = sf.evidence(rows, schema).counts(["clump_thickness", "class"]).table[0, 0] / len(rows)
    wanted = ("clump_thickness=low", "class=benign")
    z, short = [], []
    for seed in range(300):
        supports = RecordedSupports(sf.evidence(sf.randomize(items, scheme, rng=seed)), universe(names))
        by_name = {item.attribute: item for item in supports.universe.items}
        value, variance = supports.estimate([by_name[i] for i in wanted])
        z.append(abs(value - true) / np.sqrt(variance))
        short.append(abs(value - true) / (0.7 * np.sqrt(variance)))
    assert share_between(np.sum(np.array(z) < 1.96), 300)
    assert not share_between(np.sum(np.array(short) < 1.96), 300, sigmas=4)  # negative control: 30 % too short


def test_model_counts_cover_the_distribution_behind_the_table():
    """Data drawn from a pairwise model: the shares' intervals cover, and half as wide ones do not."""
    sizes = (2, 3, 2)
    schema = sf.Schema({f"x{i}": sf.Categorical(tuple(range(k))) for i, k in enumerate(sizes)})
    rng = np.random.default_rng(0)
    logits = sum(
        rng.normal(scale=0.3, size=(sizes[i], sizes[j])).reshape([sizes[a] if a in (i, j) else 1 for a in range(3)])
        for i, j in ((0, 1), (0, 2), (1, 2))
    )
    theta = np.exp(logits + np.zeros(sizes)).reshape(-1)
    theta /= theta.sum()
    scheme = sf.Scheme(schema, {f"x{i}": c.symmetric(k, 0.2) for i, k in enumerate(sizes)})
    true = theta.reshape(sizes).sum(axis=2).reshape(-1)
    held, narrow, n = 0, 0, 0
    for seed in range(60):
        drawn = np.random.default_rng([1, seed]).choice(theta.size, 2000, p=theta)
        rows = dict(zip(schema.names, np.unravel_index(drawn, sizes), strict=True))
        found = ModelEvidence(sf.randomize(rows, scheme, rng=seed), tau=0.5).counts(["x0", "x1"]).population()
        z = np.abs(found.value - true) / found.sd
        held, narrow, n = held + int((z < 1.96).sum()), narrow + int((z < 0.98).sum()), n + z.size
    assert held / n > 0.92 and held / n < 0.995
    assert narrow / n < 0.85  # negative control


@pytest.mark.parametrize("p", [0.1, 0.25])
def test_estimated_scores_cover_the_true_accuracy(p):
    names = ["education", "marital", "occupation", "gain", "income"]
    schema = dd.ADULT.select(names)
    train, test = dd.adult("train").select(names), dd.adult("test").select(names).slice(0, 6000)
    scheme = sf.Scheme(schema, {n: c.symmetric(schema[n].size, p) for n in names})
    model = DecisionTree(max_leaves=20).fit(sf.evidence(train, schema), target="income")
    true = model.score(test)
    z, blind = [], []
    for seed in range(20):
        release = sf.randomize(test, scheme, rng=seed)
        found = model.estimate_score(release)
        z.append((found.accuracy - true) / found.sd)
        as_if_clean = np.mean(
            model.predict(release.decode()) == np.array(release.decode().column("income").to_pylist())
        )
        blind.append((as_if_clean - true) / found.sd)
    assert share_between(np.sum(np.abs(z) < 1.96), 20)
    assert abs(np.mean(z)) < 1.0
    assert np.mean(np.abs(blind) < 1.96) < 0.5  # negative control: the channels ignored


def test_limits_in_the_leaves_of_a_tree_cover():
    """The negative control: the model's own covariance at two thirds of the width."""
    values = {"y": 3, "a": 2, "c": 2, "d": 4}
    schema = sf.Schema(
        {n: sf.Categorical(tuple(range(k))) for n, k in values.items()} | {"b": sf.Ordinal(tuple(range(6)))}
    )
    everybody = records(300_000, 1)
    held, own = [], []
    for run in range(6):
        release = sf.randomize(records(5000, 50 + run), sf.Scheme.for_gamma(schema, 9), rng=sf.experiment(70 + run))
        tree = DecisionTree().fit(release, target="y")
        for leaf in tree.leaves_:
            inside = np.all([everybody[tree.features_[axis]] == code for axis, code in leaf.path] or [True], axis=0)
            share = np.bincount(everybody["y"][inside], minlength=3) / inside.sum()
            best = int(leaf.probabilities.argmax())
            held.append(leaf.low[best] <= share[best] <= leaf.high[best])
            low, high = own_limits(tree, leaf, 1.3)
            own.append(low[best] <= share[best] <= high[best])
    assert len(held) > 60 and np.mean(held) > 0.93
    assert np.mean(own) < 0.85
