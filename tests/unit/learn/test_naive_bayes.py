"""Naive Bayes and TAN: equal to their formulas on clean data, corrected on randomized and noisy ones."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from gallery import rest_clear
from sfumato.channels.additive import uniform
from sfumato.datasets import discretized as dd
from sfumato.errors import EstimationError
from sfumato.learn import TAN, AdditiveLDA, DensityNaiveBayes, NaiveBayes

c = sf.channels


def test_clean_data_give_scikit_learns_probabilities():
    """With every margin uniform our smoothing is Laplace's."""
    from sklearn.naive_bayes import CategoricalNB

    rng = np.random.default_rng(0)
    schema = sf.Schema({"a": sf.Categorical((0, 1)), "b": sf.Categorical((0, 1)), "y": sf.Categorical((0, 1))})
    base = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1], [0, 0, 1], [1, 1, 0]])
    rows = {name: base[:, i].repeat(30) for i, name in enumerate("aby")}
    ours = NaiveBayes(smoothing=2.0).fit(sf.evidence(rows, schema), target="y")
    X = np.c_[rows["a"], rows["b"]]
    theirs = CategoricalNB(alpha=1.0).fit(X, rows["y"])
    assert np.allclose(ours.predict_proba(rows), theirs.predict_proba(X), atol=1e-9)
    assert rng is not None


def test_randomized_data_give_nearly_the_clean_answer_and_the_naive_reading_does_not():
    schema, table = dd.WISCONSIN, dd.wisconsin()
    scheme = sf.Scheme(schema, {name: c.symmetric(schema[name].size, 0.3) for name in schema})
    release = sf.randomize(table, scheme, rng=2)
    corrected = NaiveBayes().fit(sf.evidence(release), target="class")
    assert corrected.score(table) > 0.94
    clean = NaiveBayes().fit(sf.evidence(table, schema), target="class")
    uncorrected = NaiveBayes().fit(sf.evidence(sf.Release(release.arrow(), rest_clear(schema))), target="class")

    def away(model):
        return np.mean([np.abs(model.tables_[n] - clean.tables_[n]).mean() for n in clean.tables_])

    assert away(corrected) < 0.5 * away(uncorrected)


def test_the_errors_of_the_tables_are_what_replication_shows():
    schema = sf.Schema({"a": sf.Categorical(("l", "m", "h")), "y": sf.Categorical((0, 1))})
    scheme = sf.Scheme(schema, {"a": c.symmetric(3, 0.2), "y": c.symmetric(2, 0.1)})
    shares = np.array([[0.25, 0.05], [0.2, 0.15], [0.05, 0.3]])
    found, said = [], []
    for seed in range(150):
        drawn = np.random.default_rng([3, seed]).choice(6, 3000, p=shares.reshape(-1))
        rows = {"a": np.array(["l", "m", "h"])[drawn // 2], "y": drawn % 2}
        model = NaiveBayes().fit(sf.evidence(sf.randomize(rows, scheme, rng=seed)), target="y")
        found.append(model.tables_["a"])
        said.append(model.standard_errors_["a"])
    ratio = np.mean(said, axis=0) / np.std(found, axis=0)
    assert (ratio > 0.7).all() and (ratio < 1.4).all()
    clean = NaiveBayes().fit(sf.evidence(rows, schema), target="y").standard_errors_["a"]
    assert (clean / np.mean(said, axis=0) < 0.7).all()  # negative control: errors that ignore the channels


def test_tan_leans_where_attributes_depend():
    rng = np.random.default_rng(1)
    n = 4000
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.95, a, 1 - a)
    y = np.where(rng.random(n) < 0.9, a ^ b, rng.integers(0, 2, n))
    schema = sf.Schema({k: sf.Categorical((0, 1)) for k in "aby"})
    rows = {"a": a, "b": b, "y": y}
    tan = TAN().fit(sf.evidence(rows, schema), target="y")
    assert tan.parents_ == {"a": None, "b": "a"}
    assert tan.score(rows) > NaiveBayes().fit(sf.evidence(rows, schema), target="y").score(rows)
    scheme = sf.Scheme(schema, {k: c.symmetric(2, 0.1) for k in "aby"})
    noisy = sf.evidence(sf.randomize(rows, scheme, rng=1), method="model", tau=1.0, order=3)
    assert TAN().fit(noisy, target="y").score(rows) > 0.9


def test_densities_by_class_undo_additive_noise():
    rng = np.random.default_rng(5)
    y = np.arange(3000) % 2
    x = np.clip(rng.normal(np.where(y == 1, 0.7, 0.3), 0.1), 0, 1)[:, None]
    noise = uniform(0.2)
    z = x + rng.uniform(-0.2, 0.2, x.shape)
    by_class = DensityNaiveBayes([noise], bins=20).fit(z, y)
    assert by_class.score(x, y) > 0.93
    assert np.allclose(by_class.predict_proba(x).sum(axis=1), 1)
    with pytest.raises(EstimationError, match="columns"):
        by_class.fit(np.c_[z, z], y)
    with pytest.raises(EstimationError, match="one class"):
        by_class.fit(z, np.zeros(3000))


def test_bad_input_and_pictures(tmp_path):
    given = sf.evidence(dd.wisconsin(), dd.WISCONSIN)
    for learner in (NaiveBayes(smoothing=-1), TAN(smoothing=-1)):
        with pytest.raises(EstimationError, match="smoothing"):
            learner.fit(given, target="class")
    NaiveBayes().fit(given, target="class").plot(tmp_path / "nb.png")
    assert (tmp_path / "nb.png").stat().st_size > 5000


@pytest.mark.parametrize("make", [lambda: DensityNaiveBayes([c.gaussian(0.5)]), lambda: AdditiveLDA([c.gaussian(0.5)])])
def test_classifiers_of_noisy_numbers_have_scikit_learns_habits(make):
    from sklearn.base import clone, is_classifier
    from sklearn.model_selection import cross_val_score

    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 600)
    x = (4.0 * y + rng.normal(size=600))[:, None]
    z = x + rng.normal(scale=0.5, size=x.shape)
    model = clone(make()).fit(z, y)
    assert is_classifier(model) and next(iter(model.get_params())) == "noises"
    assert np.allclose(model.predict_proba(x).sum(axis=1), 1) and model.score(x, y) > 0.95
    assert cross_val_score(make(), z, y, cv=3).min() > 0.9
    for wrong in ([["a"]], np.zeros((3, 2)), np.array([[np.nan]])):
        with pytest.raises(EstimationError, match=type(model).__name__):
            model.predict(wrong)
    with pytest.raises(EstimationError, match="not fitted"):
        make().predict(x)
    with pytest.raises(EstimationError, match="a class per row"):
        make().fit(z, y[:5])


def test_densities_by_class_do_not_depend_on_the_unit():
    rng = np.random.default_rng(0)
    tall = rng.random(2000) < 0.5
    x = np.where(tall, 3.0, 0.0) + rng.normal(size=2000)
    said = []
    for unit in (1.0, 1e9):  # in which every density is far below a millionth
        noise = c.gaussian(unit)
        model = DensityNaiveBayes([noise]).fit(noise.randomize(unit * x, rng=3)[:, None], tall)
        said.append(model.predict(unit * x[:, None]))
    assert np.mean(said[0] == said[1]) > 0.999 and np.mean(said[1] == tall) > 0.9
