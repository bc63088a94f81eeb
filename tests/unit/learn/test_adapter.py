"""scikit-learn around our learners, and our evidence inside scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.datasets import discretized as dd
from sfumato.errors import EstimationError, SchemeError
from sfumato.learn import TAN, DecisionTree, FromCells, LinearClassifier, NaiveBayes, Regression
from sfumato.owner.transformer import Randomizer

c = sf.channels
SCHEMA, TABLE = dd.WISCONSIN, dd.wisconsin()


def scheme(p=0.1):
    return sf.Scheme(SCHEMA, {name: c.symmetric(SCHEMA[name].size, p) for name in SCHEMA})


def test_exact_cells_fit_what_records_fit():
    from sklearn.linear_model import LogisticRegression

    cells = FromCells(LogisticRegression(tol=1e-10, max_iter=5000)).fit(sf.evidence(TABLE, SCHEMA), target="class")
    codes = SCHEMA.encode(TABLE)
    X = cells.encoding_([codes[n] for n in SCHEMA.names[:-1]])
    rows = LogisticRegression(tol=1e-10, max_iter=5000).fit(X, codes["class"])
    assert np.allclose(cells.predict_proba(TABLE), rows.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("one_hot", [True, False])
def test_any_weighted_classifier_learns_from_randomized_cells(one_hot):
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.svm import LinearSVC

    model = sf.evidence(sf.randomize(TABLE, scheme(0.2), rng=1), method="model", tau=0.3)
    for estimator in (HistGradientBoostingClassifier(max_iter=20), LinearSVC()):
        assert FromCells(estimator, one_hot=one_hot).fit(model, target="class").score(TABLE) > 0.93


def test_what_takes_no_weights_is_refused():
    from sklearn.neighbors import KNeighborsClassifier

    given = sf.evidence(TABLE, SCHEMA)
    with pytest.raises(EstimationError, match="sample weights"):
        FromCells(KNeighborsClassifier()).fit(given, target="class")
    with pytest.raises(EstimationError, match="needs a scikit-learn classifier"):
        FromCells().fit(given, target="class")


@pytest.mark.parametrize("learner", [DecisionTree(max_leaves=9), NaiveBayes(2.0), TAN(), LinearClassifier("lda", C=3)])
def test_learners_clone_and_name_their_parameters(learner):
    from sklearn.base import clone, is_classifier

    copy = clone(learner)
    assert copy is not learner and copy.get_params() == learner.get_params() and repr(copy) == repr(learner)
    assert is_classifier(learner)
    assert learner.set_params(target="class") is learner
    with pytest.raises(EstimationError, match="no parameter"):
        learner.set_params(colour="blue")
    learner.fit(sf.evidence(TABLE, SCHEMA))
    assert list(learner.classes_) == ["benign", "malignant"]
    with pytest.raises(EstimationError, match="not fitted"):
        copy.predict(TABLE)


def test_fitted_models_are_judged_by_scikit_learns_tools():
    import pandas as pd
    from sklearn.inspection import permutation_importance
    from sklearn.metrics import accuracy_score, get_scorer, roc_auc_score

    tree = DecisionTree().fit(sf.evidence(TABLE, SCHEMA), target="class")
    frame = TABLE.to_pandas()
    y = frame["class"].to_numpy()
    assert accuracy_score(y, tree.predict(frame)) == tree.score(frame, y) == tree.score(TABLE)
    assert roc_auc_score(y == "malignant", tree.predict_proba(frame)[:, 1]) > 0.95
    assert get_scorer("accuracy")(tree, frame, y) == tree.score(TABLE)
    X = pd.DataFrame(frame[list(tree.features_)])
    found = permutation_importance(tree, X, y, n_repeats=2, random_state=0)
    assert found.importances_mean.max() > 0


def test_a_pipeline_randomizes_while_it_fits():
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline

    frame = TABLE.to_pandas()
    pipeline = make_pipeline(Randomizer(scheme(), rng=1, passthrough=True), NaiveBayes(target="class"))
    copy = clone(pipeline).fit(frame, frame["class"])
    assert copy.score(frame, frame["class"].to_numpy()) > 0.94
    raw = Randomizer(scheme(), rng=1).fit(frame)
    assert isinstance(raw.transform(frame), sf.Release) and isinstance(raw.fit_transform(frame), sf.Release)
    with pytest.raises(SchemeError, match="no parameter"):
        raw.set_params(p=1)
    with pytest.raises(SchemeError, match="must be a Scheme"):
        Randomizer("none").fit(frame)  # type: ignore[arg-type]


PAIR = sf.Schema({"x": sf.Categorical((0, 1)), "y": sf.Categorical((0, 1))})
ALL_ZERO = {"x": [0, 1, 0], "y": [0, 0, 0]}


@pytest.mark.parametrize("make", [NaiveBayes, DecisionTree, LinearClassifier, TAN, lambda: Regression("logistic")])
def test_a_model_whose_fit_was_refused_is_not_fitted(make):
    """Neither a new one, nor one that was fitted to something else before."""
    model = make()
    for _ in range(2):
        with pytest.raises(EstimationError, match="only the class 0"):
            model.fit(sf.evidence(ALL_ZERO, PAIR), target="y")
        with pytest.raises(EstimationError, match="not fitted yet"):
            model.predict({"x": [0]})
        assert "not fitted" in model._repr_html_()
        model.fit(sf.evidence({"x": [0, 1] * 20, "y": [0, 1, 1, 0, 0, 1, 0, 1] * 5}, PAIR), target="y")


@pytest.mark.parametrize("make", [NaiveBayes, lambda: Regression("logistic"), lambda: Regression("gaussian")])
def test_a_score_needs_one_true_value_for_each_of_some_rows(make):
    table = {"x": [0, 1] * 20, "y": [0, 1, 1, 0, 0, 1, 0, 1] * 5}
    model = make().fit(sf.evidence(table, PAIR), target="y")
    assert model.score(table) == model.score(table, table["y"])
    for wrong in (np.array(table["y"])[:, None], table["y"][:7]):  # the first would be held against all rows at once
        with pytest.raises(EstimationError, match="one value for each of the 40 rows"):
            model.score(table, wrong)
    with pytest.raises(EstimationError, match="holds no rows"):
        model.score({"x": [], "y": []})
