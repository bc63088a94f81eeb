"""Linear classifiers: equal to scikit-learn on clean data, corrected on randomized ones, collapsed at equal cost."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.datasets import discretized as dd
from sfumato.errors import EstimationError, UnrecoverableWarning, warn, without_warnings
from sfumato.evidence.splits import leave_out
from sfumato.learn.linear import AdditiveLDA, LinearClassifier, weight_errors
from sfumato.learn.linear.asked_weights import Asked, FittedCells
from sfumato.learn.linear.classifier import LOSSES
from sfumato.learn.linear.pocket import expand, pocket
from sfumato.learn.linear.told_errors import records
from sfumato.learn.weighted_cells import Encoding, weighted_cells
from sfumato.papers.ma06 import lenses

c = sf.channels


def matrix(schema, table, features, target):
    codes = schema.encode(table)
    return Encoding(schema, features)([codes[n] for n in features]), codes[target]


@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_logistic_equals_scikit_learn_on_clean_data(C):
    from sklearn.linear_model import LogisticRegression

    schema, table = dd.WISCONSIN, dd.wisconsin()
    X, y = matrix(schema, table, schema.names[:-1], "class")
    theirs = LogisticRegression(C=C, tol=1e-12, max_iter=10_000, solver="newton-cholesky").fit(X, y)
    ours = LinearClassifier("logistic", C=C).fit(sf.evidence(table, schema), target="class")
    assert np.abs(ours.coef_[1] - np.r_[theirs.coef_[0], theirs.intercept_]).max() < 1e-6
    assert np.abs(ours.predict_proba(table) - theirs.predict_proba(X)).max() < 1e-6


def three_classes():
    schema = dd.ADULT.select(["age", "occupation", "hours", "marital"])
    table = dd.adult("test").slice(0, 3000)
    return schema, table


def test_softmax_equals_scikit_learn_for_three_classes():
    from sklearn.linear_model import LogisticRegression

    schema, table = three_classes()
    X, y = matrix(schema, table, schema.names[:-1], "marital")
    theirs = LogisticRegression(tol=1e-10, max_iter=20_000).fit(X, y)
    ours = LinearClassifier("logistic").fit(sf.evidence(table, schema), target="marital")
    assert np.abs(ours.predict_proba(table) - theirs.predict_proba(X)).max() < 1e-5


def test_lda_equals_scikit_learn_on_clean_data():
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    schema, table = three_classes()
    X, y = matrix(schema, table, schema.names[:-1], "marital")
    theirs = LinearDiscriminantAnalysis().fit(X, y)
    ours = LinearClassifier("lda").fit(sf.evidence(table, schema), target="marital")
    assert np.mean(ours.predict(table) == ours.classes_[theirs.predict(X)]) > 0.999


@pytest.mark.parametrize("loss", ["pocket", "perceptron", "logistic", "hinge", "least_squares", "lda"])
def test_every_cost_learns_from_randomized_data(loss):
    schema, table = dd.WISCONSIN, dd.wisconsin()
    scheme = sf.Scheme(schema, {name: c.symmetric(schema[name].size, 0.2) for name in schema})
    model = sf.evidence(sf.randomize(table, scheme, rng=1), method="model", tau=0.3)
    learned = LinearClassifier(loss, rng=1).fit(model, target="class")
    assert learned.score(table) > 0.93
    assert np.array_equal(learned.decision_function(table) > 0, learned.predict(table) == "malignant")


def test_pocket_finds_a_separating_plane():
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=(400, 3)) * [1, 100, 0.01], np.ones(400)]
    sign = np.where(X @ [1, 0.02, 30, 0.1] > 0, 1.0, -1.0)
    w = pocket(X, sign, np.ones(400), np.random.default_rng(1), steps=200_000)
    assert np.mean((X @ w > 0) == (sign > 0)) > 0.99


def test_collapsed_pocket_has_the_cost_of_the_expanded_one():
    """Σ_i Pr(v | ṽ_i) = N̂_v: N·L posterior-weighted samples and L cells weigh every answer alike."""
    rows = lenses.sample(0, 500)
    release = sf.randomize(rows, lenses.scheme(0.2), rng=1)
    model = sf.evidence(release, method="model", tau=1.0)
    cells = weighted_cells(model, model.names[:-1], "fit")
    # posteriors of every released record over all cells of the model
    P = np.ones((1, 1))
    for name in model.names:
        P = np.kron(P, release.scheme[name].matrix)
    theta = model.theta
    posterior = theta[:, None] * P / (theta @ P)
    codes = np.ravel_multi_index([release.arrow().column(n).to_numpy() for n in model.names], model.joint.shape)
    grid = np.stack(np.unravel_index(np.arange(theta.size), model.joint.shape), axis=1)[:, :-1]
    X = np.c_[Encoding(model.schema, model.names[:-1])(list(grid.T)), np.ones(theta.size)]
    sign = np.where(np.arange(theta.size) % 2 == 1, 1.0, -1.0)
    big, which, weights = expand(codes, posterior, X)
    collapsed = model.posterior_counts()
    assert np.allclose(np.bincount(which, weights=weights, minlength=theta.size), collapsed, atol=1e-6)
    for seed in range(3):
        w = np.random.default_rng(seed).normal(size=X.shape[1])
        wrong_big = weights[(big @ w > 0) != (sign[which] > 0)].sum()
        wrong = collapsed[(X @ w > 0) != (sign > 0)].sum()
        assert wrong == pytest.approx(wrong_big, rel=1e-9)
    assert cells.weights.sum() == pytest.approx(500)


def test_group_means_take_the_place_of_codes():
    schema = sf.Schema({"x": sf.Ordinal((0, 1, 2)), "y": sf.Categorical(("n", "p"))})
    table = {"x": [0, 1, 2] * 50, "y": ["n", "n", "p"] * 50}
    model = LinearClassifier("least_squares", values={"x": [0.0, 0.1, 5.0]}).fit(sf.evidence(table, schema), target="y")
    assert model.score(table) == 1.0
    with pytest.raises(EstimationError, match="3 entries"):
        LinearClassifier(values={"x": [0.0]}).fit(sf.evidence(table, schema), target="y")


def test_additive_noise_is_taken_out_of_the_covariance():
    rng = np.random.default_rng(3)
    y = np.arange(8000) % 2
    mixing = np.array([[1.0, 0.9], [0.0, 0.3]])
    x = rng.normal(size=(8000, 2)) @ mixing + np.outer(y, [0.8, -0.4])
    z = x + rng.normal(scale=[0.1, 2.0], size=x.shape)
    corrected = AdditiveLDA([0.01, 4.0]).fit(z, y).score(x, y)
    naive = AdditiveLDA([0.0, 0.0]).fit(z, y).score(x, y)
    assert corrected > naive + 0.03  # the negative control: noise left in
    with pytest.raises(EstimationError, match="one per noise"):
        AdditiveLDA([1.0]).fit(z, y)
    with pytest.raises(EstimationError, match="one class"):
        AdditiveLDA([1.0, 1.0]).fit(z, np.zeros(8000))


def test_bad_input_is_one_clear_line():
    given = sf.evidence(dd.wisconsin(), dd.WISCONSIN)
    for options, words in [({"loss": "zero"}, "loss must be one of"), ({"C": 0}, "C must be positive")]:
        with pytest.raises(EstimationError, match=words):
            LinearClassifier(**options).fit(given, target="class")


def test_weights_can_be_drawn(tmp_path):
    LinearClassifier("lda").fit(sf.evidence(dd.wisconsin(), dd.WISCONSIN), target="class").plot(tmp_path / "w.png")
    assert (tmp_path / "w.png").stat().st_size > 5000


@pytest.mark.parametrize("loss", ["lda", "least_squares"])
def test_the_units_of_one_attribute_do_not_silence_the_others(loss):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 6000)
    rows = {"a": a, "b": np.clip(a * 10 + rng.normal(0, 4, 6000) + 30, 0, 79.9), "y": a}

    def accuracy(unit):
        domains = {
            "a": sf.Categorical((0, 1, 2)),
            "b": sf.Numeric(0, 80 * unit, bins=10),
            "y": sf.Categorical((0, 1, 2)),
        }
        table, schema = rows | {"b": rows["b"] * unit}, sf.Schema(domains)
        scheme = sf.Scheme(schema, {name: c.symmetric(schema[name].size, 0.3) for name in schema})
        return LinearClassifier(loss).fit(sf.randomize(table, scheme, rng=1), target="y").score(table)

    assert accuracy(1.0) > 0.97
    assert accuracy(1000.0) == accuracy(0.001) == accuracy(1.0)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_value_that_hardly_anybody_holds_does_not_ruin_the_others(loss):
    rng = np.random.default_rng(5)
    n = 4000
    grade = rng.choice(6, n, p=[0.4, 0.3, 0.15, 0.14, 0.0075, 0.0025])
    late = rng.choice(4, n, p=[0.99, 0.005, 0.003, 0.002])
    y = (rng.random(n) < 0.1 + 0.25 * np.minimum(grade, 3)).astype(int)
    schema = sf.Schema(
        {"grade": sf.Categorical(range(6)), "late": sf.Categorical(range(4)), "y": sf.Categorical((0, 1))}
    )
    scheme = sf.Scheme.for_gamma(schema, 9)
    for seed in range(3):
        release = sf.randomize({"grade": grade, "late": late, "y": y}, scheme, rng=sf.experiment(seed))
        model = LinearClassifier(loss=loss, rng=1).fit(release, target="y")
        assert np.abs(model.weights_).max() < 3 and not model.told_.all() and model.told_[:3].all()
        assert not model.weights_[~model.told_].any() and model.weights_[:3].any()
        assert model.score({"grade": grade, "late": late, "y": y}, y) > np.mean((grade > 1) == y) - 0.03


def first_value_rare(share):
    """The class follows a site, whose first value has this share."""
    rng = np.random.default_rng(2)
    site = rng.choice(5, 6000, p=[share, *[(1 - share) * one for one in (0.2, 0.4, 0.2, 0.2)]])
    schema = sf.Schema({"site": sf.Categorical(tuple("abcde")), "y": sf.Ordinal((0, 1, 2))})
    table = {"site": np.array(list("abcde"))[site], "y": (rng.random(6000) < 0.2 + 0.15 * site).astype(int)}
    table["y"] += rng.random(6000) < 0.3
    return sf.randomize(table, sf.Scheme.for_gamma(schema, 9), rng=sf.experiment(1)), table


@pytest.mark.parametrize("loss", ["logistic", "lda", "hinge"])
def test_a_category_whose_first_value_is_rare_is_compared_with_the_commonest(loss, tmp_path):
    """All weights of the others were told against the noise of a value that one record in 2,000 holds."""
    release, table = first_value_rare(0.0005)
    model = LinearClassifier(loss=loss).fit(release, target="y")
    assert model.compared_with_ == {"site": "c"}
    assert model.encoding_.columns == ["site=a", "site=b", "site=d", "site=e"]
    assert model.told_.tolist() == [False, True, True, True]
    picture = model.plot(tmp_path / "weights.svg", model.standard_errors(release)).axes[0]
    assert "site=a (not told)" in [one.get_text() for one in picture.get_yticklabels()]
    assert "site with c, since the first value is so rare" in " ".join(picture.get_title(loc="left").split())
    assert (
        np.sign(model.weights_[1:, 2]) == (-1, 1, 1)
    ).all()  # b is less often of the last class than c, d and e more
    release, _ = first_value_rare(0.2)  # the negative control
    model.fit(release, target="y")
    assert not model.compared_with_ and model.encoding_.columns[0] == "site=b" and model.told_.all()
    assert not LinearClassifier(loss=loss).fit(sf.evidence(table, release.schema), target="y").compared_with_


def test_weights_of_competing_classes_are_told_against_their_mean():
    rng = np.random.default_rng(4)
    x, noise = rng.integers(0, 4, 3000), rng.integers(0, 4, 3000)
    table = {"x": x, "other": noise, "y": np.minimum(x, 2)}
    schema = sf.Schema({"x": sf.Ordinal(range(4)), "other": sf.Ordinal(range(4)), "y": sf.Categorical((0, 1, 2))})
    model = LinearClassifier(loss="lda").fit(sf.evidence(table, schema), target="y")
    np.testing.assert_allclose(model.weights_.sum(axis=1), 0, atol=1e-9)
    assert np.abs(model.weights_[1]).max() < 0.1 * np.abs(model.weights_[0]).max()


@pytest.mark.parametrize("loss", ["logistic", "lda"])
def test_weights_are_told_against_the_mean_of_classes_that_are_held(loss):
    """With seven classes that nobody holds, every weight of the three others was moved towards one side."""
    rng = np.random.default_rng(4)
    kind = rng.integers(0, 3, 4000)
    table = {"x": np.clip(kind + rng.integers(0, 3, 4000), 0, 4), "y": np.array(list("abc"))[kind]}
    channels = {"x": c.symmetric(5, 0.1), "y": c.identity(3)}
    few = sf.Schema({"x": sf.Ordinal(range(5)), "y": sf.Categorical(tuple("abc"))})
    many = sf.Schema({"x": sf.Ordinal(range(5)), "y": sf.Categorical(tuple("abcdefghij"))})
    own = LinearClassifier(loss=loss).fit(sf.randomize(table, sf.Scheme(few, channels), rng=sf.experiment(1)), "y")
    channels["y"] = c.identity(10)
    release = sf.randomize(table, sf.Scheme(many, channels), rng=sf.experiment(1))
    with_empty = LinearClassifier(loss=loss).fit(release, "y")
    assert with_empty.told_columns.tolist() == [True] * 3 + [False] * 7
    np.testing.assert_allclose(with_empty.weights_[:, :3].sum(axis=1), 0, atol=1e-9)
    np.testing.assert_allclose(with_empty.weights_[:, :3], own.weights_, atol=0.1 * np.abs(own.weights_).max())


def test_errors_of_weights_warn_of_no_part_of_the_records(monkeypatch):
    """A fit to nine tenths of the records warned that nothing can be learned, and weights of all of them followed."""
    rng = np.random.default_rng(4)
    x = rng.integers(0, 4, 2000)
    schema = sf.Schema({"x": sf.Ordinal(range(4)), "y": sf.Categorical((False, True))})
    source = sf.evidence({"x": x, "y": x + rng.integers(0, 3, 2000) > 2}, schema)
    model = LinearClassifier(loss="logistic").fit(source, target="y")
    fitted, learn = [], LinearClassifier._learn

    def warning(self, part):
        fitted.append(part.n)
        warn("nothing can be learned", UnrecoverableWarning)
        learn(self, part)

    monkeypatch.setattr(LinearClassifier, "_learn", warning)
    assert (model.standard_errors(source) > 0).all() and len(fitted) == 10  # warnings are errors here
    with pytest.warns(UnrecoverableWarning):
        LinearClassifier(loss="logistic").fit(source, target="y")


def test_errors_of_weights_hold_what_a_penalty_draws_them_by():
    """Of few records under strong noise the errors told the noise alone, and weights lay several of them too near 0."""
    rng = np.random.default_rng(4)
    x = rng.integers(0, 4, 600)
    schema = sf.Schema({"x": sf.Ordinal(range(4)), "y": sf.Categorical((False, True))})
    source = sf.evidence({"x": x, "y": x + rng.logistic(0, 0.5, 600) > 1.5}, schema)
    drawn = LinearClassifier(loss="logistic", C=0.05).fit(source, target="y")
    parts = [LinearClassifier(loss="logistic", C=0.05).fit(kept, target="y").weights_ for kept in leave_out(source, 10)]
    noise = np.sqrt(9 * np.var(parts, axis=0))
    free = LinearClassifier(loss="logistic", C=1e4).fit(source, target="y").weights_
    assert (np.abs(drawn.weights_ - free) > 2.5 * noise).all()
    assert (np.abs(drawn.weights_ - free) < 2.5 * drawn.standard_errors(source)).all()


@pytest.mark.parametrize("C", [0.02, 0.007])
def test_errors_of_weights_hold_what_a_strong_penalty_draws_them_by(C):
    """It draws the difference between nine tenths of the records and all, too: weights lay three errors too near 0."""
    rng = np.random.default_rng(4)
    x = rng.integers(0, 4, 600)
    schema = sf.Schema({"x": sf.Ordinal(range(4)), "y": sf.Categorical((False, True))})
    source = sf.evidence({"x": x, "y": x + rng.logistic(0, 0.5, 600) > 1.5}, schema)
    drawn = LinearClassifier(loss="logistic", C=C).fit(source, target="y")
    free = LinearClassifier(loss="logistic", C=1e4).fit(source, target="y").weights_
    assert (free > 1.2 * drawn.weights_).all()
    assert (np.abs(drawn.weights_ - free) < 1.5 * drawn.standard_errors(source)).all()


def kinds_and_few(classes):
    """Who is of a rare group is of the last class far more often; a number tells something, too."""
    rng = np.random.default_rng(7)
    group = rng.choice(3, 6000, p=[0.55, 0.41, 0.04])
    x = rng.integers(0, 4, 6000)
    score = 0.5 * x + 2.0 * (group == 2) + rng.logistic(0, 1, 6000)
    y = np.searchsorted([0.5, 2.0][: classes - 1], score)
    schema = sf.Schema(
        {"group": sf.Categorical((0, 1, 2)), "x": sf.Ordinal(range(4)), "y": sf.Categorical(tuple(range(classes)))}
    )
    return {"group": group, "x": x, "y": y}, schema


@pytest.mark.parametrize("classes", [2, 3])
def test_errors_of_weights_hold_what_a_joint_model_hides(classes):
    """A model that is all but independent has hardly any weights, and no part of the records shows more of them."""
    table, schema = kinds_and_few(classes)
    true = LinearClassifier("logistic").fit(sf.evidence(table, schema), target="y").weights_
    release = sf.randomize(table, sf.Scheme.for_gamma(schema, 9), rng=sf.experiment(2))
    hides = sf.evidence(release, method="model", tau=0.03)
    model = LinearClassifier("logistic").fit(hides, target="y")
    off, clear = np.abs(model.weights_ - true), np.abs(true) > 0.2
    assert (off < 1.96 * model.standard_errors(hides))[clear].all()
    assert (off > 1.96 * weight_errors.jackknife(model, hides, 10, None))[1].any()  # the negative control


def paired(classes):
    """A rare group and its class under one channel."""
    return {("group", "y"): c.symmetric((3, classes), gamma=9), "x": c.windows(4, 9)}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("channels", [paired, None])
def test_pairs_tell_of_weights_what_all_cells_tell(monkeypatch, classes, channels):
    unmoved = Asked(*np.zeros((2, classes, 4)))  # farther away they differ by what linear shares leave out
    monkeypatch.setattr(FittedCells, "asked", lambda *_: unmoved)
    table, schema = kinds_and_few(classes)
    scheme = sf.Scheme.for_gamma(schema, 9) if channels is None else sf.Scheme(schema, channels(classes))
    source = sf.evidence(sf.randomize(table, scheme, rng=sf.experiment(2)), method="model", tau=0.03)
    model = LinearClassifier().fit(source, target="y")
    cells, told = weighted_cells(source, model.features_, "y"), np.arange(len(model.told_))
    parts = records(source, ["group", "x", "y"])
    off, noise = weight_errors.by_cells(model, cells, told, parts)
    pairs, pair_noise = weight_errors.by_pairs(model, cells, told, parts)
    np.testing.assert_allclose(pairs, off, atol=0.05 * noise.min())
    np.testing.assert_allclose(pair_noise, noise, rtol=0.02)
    assert (np.abs(off) > noise).any()  # there is something to tell


def test_errors_of_weights_hold_where_the_cells_are_too_many_to_list():
    """Cliques leave attributes apart from the target, and no part of the records shows more of them."""
    rng = np.random.default_rng(3)
    table = {f"x{i}": rng.integers(0, 8, 3000) for i in range(8)}
    score = sum((0.3 if i % 2 else -0.2) * (values - 3.5) for i, values in enumerate(table.values()))
    table["y"] = (score + rng.logistic(0, 1, 3000) > 0).astype(np.int64)
    schema = sf.Schema({name: sf.Ordinal(range(8)) for name in list(table)[:-1]} | {"y": sf.Categorical((0, 1))})
    release = sf.randomize(table, sf.Scheme.for_gamma(schema, 9), rng=sf.experiment(1))
    source = sf.evidence(release)
    with without_warnings():
        true = LinearClassifier().fit(sf.evidence(table, schema), target="y").weights_
        model = LinearClassifier().fit(source, target="y")
        off = np.abs(model.weights_ - true)[model.told_]
        assert (off < 1.96 * model.standard_errors(source)[model.told_]).all()
        alone = weight_errors.jackknife(model, source, 10, None)[model.told_]
    assert (off > 1.96 * alone).any()  # the negative control


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_where_nothing_foretells_the_target_no_feature_has_a_weight_and_nothing_is_refitted(monkeypatch, loss):
    """Rounding left weights of 1e-17, for whose errors everything was fitted ten times more."""
    rng = np.random.default_rng(1)
    table = {"a": rng.integers(0, 3, 2000), "b": rng.integers(0, 4, 2000), "y": rng.integers(0, 10, 2000) // 7}
    schema = sf.Schema({"a": sf.Categorical((0, 1, 2)), "b": sf.Ordinal(range(4)), "y": sf.Categorical((0, 1))})
    release = sf.randomize(table, sf.Scheme.for_gamma(schema, 3), rng=sf.experiment(1))
    with without_warnings():
        model = LinearClassifier(loss).fit(release, target="y")
    assert model.only_class == "0"
    if loss == "logistic":
        monkeypatch.setattr(weight_errors, "jackknife", None)
        true = LinearClassifier().fit(sf.evidence(table, schema), target="y").weights_
        assert (np.abs(true) < 1.96 * model.standard_errors(release))[model.told_].all()


@pytest.mark.parametrize(("count", "levels", "gamma"), [(6, 2, 3), (4, 4, 9)])
def test_errors_of_weights_hold_where_the_class_is_foretold_nearly_always(count, levels, gamma):
    """A joint model of so strong noise foretells it far less: one step from there was too short, .1 to .5 held."""
    rng = np.random.default_rng(0)
    table = {f"x{i}": rng.integers(0, levels, 3000) for i in range(count)}
    score = sum((-1) ** i * (1 + i % 3) * (x - (levels - 1) / 2) for i, x in enumerate(table.values()))
    table["y"] = (score * 6 / np.std(score) + rng.logistic(0, 1, 3000) > 0).astype(np.int64)
    domain = sf.Ordinal(range(levels))
    schema = sf.Schema(dict.fromkeys(list(table)[:-1], domain) | {"y": sf.Categorical((0, 1))})
    true = LinearClassifier().fit(sf.evidence(table, schema), target="y").weights_
    held = []
    for seed in range(10):
        release = sf.randomize(table, sf.Scheme.for_gamma(schema, gamma), rng=sf.experiment(seed))
        with without_warnings():
            model = LinearClassifier().fit(release, target="y")
            held.append(np.abs(model.weights_ - true) < 1.96 * model.standard_errors(release, groups=2))
    assert np.mean(held) > 0.9


def test_errors_of_weights_are_open_where_the_records_do_not_tell_how_steep_they_are(tmp_path):
    rng = np.random.default_rng(0)
    table = {f"x{i}": rng.integers(0, 4, 3000) for i in range(3)}
    table["y"] = (8 * (table["x0"] - table["x1"] + 0.5) + rng.logistic(0, 1, 3000) > 0).astype(np.int64)
    schema = sf.Schema({f"x{i}": sf.Ordinal(range(4)) for i in range(3)} | {"y": sf.Categorical((0, 1))})
    for gamma, tells in ((3, False), (400, True)):
        release = sf.randomize(table, sf.Scheme.for_gamma(schema, gamma), rng=sf.experiment(1))
        model = LinearClassifier().fit(release, target="y")
        errors = model.standard_errors(release, groups=2)
        assert np.isfinite(errors[:2]).all() == tells
        model.plot(tmp_path / "weights.svg", errors)


@pytest.mark.parametrize("loss", ["lda", "least_squares"])
def test_errors_of_weights_are_open_where_few_records_less_leave_one_class(loss):
    """A fit to nine tenths of the records refused, and the command ended without the weights of all of them."""
    rng = np.random.default_rng(0)
    schema = sf.Schema({"x": sf.Ordinal(range(4)), "y": sf.Categorical(("no", "yes"))})
    table = {"x": rng.integers(0, 4, 600), "y": np.array(["no", "yes"])[(rng.random(600) < 0.05).astype(int)]}
    refused = []
    for seed in range(20):
        source = sf.evidence(sf.randomize(table, sf.Scheme.for_gamma(schema, 3), rng=sf.experiment(seed)))
        if source.counts("y", quiet=True).value[1] > 0:
            model = LinearClassifier(loss).fit(source, target="y")
            refused.append(any(kept.counts("y", quiet=True).value[1] <= 0 for kept in leave_out(source, 10)))
            assert refused[-1] <= np.isinf(model.standard_errors(source)).all()
    assert 0 < sum(refused) < len(refused)


@pytest.mark.parametrize("loss", ["lda", "least_squares"])
def test_errors_of_weights_hold_how_far_a_ridge_draws_features_together_that_are_alike(loss):
    """Of features that are nearly one some speak for the class, some against it: no part of the records shows that."""
    rng = np.random.default_rng(3)
    size = rng.integers(0, 5, 400)
    table = {f"x{i}": np.clip(size + rng.choice([-1, 0, 1], 400, p=[0.25, 0.5, 0.25]), 0, 4) for i in range(5)}
    score = size + 1.5 * sum((-1) ** (1 + i) * x for i, x in enumerate(table.values()))
    table["y"] = (score + rng.logistic(0, 1, 400) > 2).astype(np.int64)
    schema = sf.Schema(dict.fromkeys(list(table)[:-1], sf.Ordinal(range(5))) | {"y": sf.Categorical((0, 1))})
    true = LinearClassifier(loss).fit(sf.evidence(table, schema), target="y").weights_
    held, noise = [], []
    for seed in range(15):
        source = sf.evidence(sf.randomize(table, sf.Scheme.for_gamma(schema, 20), rng=sf.experiment(seed)))
        model = LinearClassifier(loss).fit(source, target="y")
        off = np.abs(model.weights_ - true)
        held.append(off < 1.96 * model.standard_errors(source))
        model._undone = None  # the negative control
        noise.append(off < 1.96 * model.standard_errors(source))
    assert np.mean(held) > 0.92 and np.mean(noise) < 0.85


@pytest.mark.slow
def test_errors_of_weights_cover_the_weights_of_the_table():
    """By what parts of the records show, 95 % limits held a weight of the rare group in seven of ten releases."""
    table, schema = kinds_and_few(3)
    true = LinearClassifier().fit(sf.evidence(table, schema), target="y").weights_
    held, alone = [], []
    for seed in range(10):
        release = sf.randomize(table, sf.Scheme.for_gamma(schema, 9), rng=sf.experiment(seed))
        model = LinearClassifier().fit(release, target="y")
        off = np.abs(model.weights_ - true)
        held.append(off < 1.96 * model.standard_errors(release))
        alone.append(off < 1.96 * weight_errors.jackknife(model, sf.evidence(release), 10, None))
    assert np.mean(held) > 0.9 and np.mean(alone, axis=0)[1, 0] < 0.8


def test_errors_of_weights_on_raw_records_are_those_of_sampling():
    """Unbiased counts and parts of the records tell the same noise where nothing is randomized."""
    table, schema = kinds_and_few(3)
    source = sf.evidence(table, schema)
    model = LinearClassifier("logistic", C=1e4).fit(source, target="y")
    off, noise = weight_errors.told_by_counts(model, source)
    np.testing.assert_allclose(noise, weight_errors.jackknife(model, source, 60, None), rtol=0.35)
    assert (np.abs(off) < 0.01 * noise).all()


@pytest.mark.parametrize("loss", ["pocket", "perceptron"])
@pytest.mark.parametrize("shares", [(0.07, 0.93), (0.05, 0.9, 0.05)])
def test_where_one_class_is_said_of_everybody_no_feature_looks_like_a_finding(loss, shares, tmp_path):
    rng = np.random.default_rng(1)
    labels = np.array(["no", "yes", "maybe"])[: len(shares)]
    schema = sf.Schema({"x": sf.Ordinal(tuple(range(5))), "z": sf.Ordinal((0, 1)), "y": sf.Categorical(tuple(labels))})
    table = {"x": rng.integers(0, 5, 3000), "z": rng.integers(0, 2, 3000), "y": rng.choice(labels, 3000, p=shares)}
    source = sf.evidence(pa.table(table), schema)
    model = LinearClassifier(loss, rng=0).fit(source, target="y")
    assert model.only_class == "yes" and not model.weights_.any() and not model.standard_errors(source).any()
    assert set(model.predict(pa.table(table))) == {"yes"}
    assert "No feature has a weight" in model.plot(tmp_path / "weights.svg").axes[0].get_title(loc="left")
    table["y"] = np.where(table["x"] > 2, "yes", "no")  # the negative control
    model.fit(sf.evidence(pa.table(table), schema), target="y")
    assert model.only_class is None and np.abs(model.weights_[0]).max() > 0.9


@pytest.mark.parametrize("loss", LOSSES)
def test_a_class_that_nobody_holds_is_never_said(loss):
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 3000)
    table = {f"x{j}": (rng.random(3000) < 0.3 + 0.4 * (kind == j)).astype(int) for j in range(3)}
    table["y"] = np.array(["a", "b", "c"])[kind]
    features = {f"x{j}": sf.Categorical((0, 1)) for j in range(3)}
    wide = sf.Schema({**features, "y": sf.Categorical(("a", "never", "b", "c"))})
    model = LinearClassifier(loss, rng=1).fit(sf.evidence(table, wide), target="y")
    assert "never" not in model.predict(table) and (model.predict_proba(table)[:, 1] == 0).all()
    assert model.score(table) > 0.5  # a third by chance
    assert np.isfinite(model.coef_).all()


def test_numbers_in_large_units_do_not_overflow():
    rng = np.random.default_rng(0)
    income = rng.uniform(0, 1e6, 2000)
    schema = sf.Schema({"income": sf.Numeric(0, 1e6, bins=50), "rich": sf.Categorical((False, True))})
    table = {"income": income, "rich": income > 5e5}
    assert LinearClassifier("logistic").fit(sf.evidence(table, schema), target="rich").score(table) > 0.98


def test_if_one_class_is_said_of_everybody_it_is_the_commonest():
    schema = sf.Schema({"x": sf.Ordinal((0, 1, 2, 3)), "y": sf.Categorical(tuple("abcde"))})
    said = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        y = rng.choice(list("abcde"), 600, p=[0.1, 0.15, 0.2, 0.25, 0.3])
        source = sf.evidence({"x": rng.integers(0, 4, 600).tolist(), "y": y.tolist()}, schema)
        only = LinearClassifier("pocket", rng=seed).fit(source, target="y").only_class
        said.append(only is not None)
        assert only in (None, max("abcde", key=lambda one: int((y == one).sum())))
    assert any(said)


def test_classes_with_the_same_plane_are_not_told_apart_by_rounding():
    schema = sf.Schema(
        {"x": sf.Numeric(0, 400_000, bins=8), "z": sf.Numeric(edges=(0, 1, 5, 50)), "y": sf.Categorical(tuple("abcd"))}
    )
    codes = [(i, j) for i in range(8) for j in range(3)] * 4
    table = {"x": [25_000 + 50_000 * i for i, _ in codes], "z": [(0.5, 3, 20)[j] for _, j in codes]}
    table["y"] = [c for c in "abcd" for _ in range(24)]  # every class holds the same records
    for seed in range(4):
        model = LinearClassifier(rng=seed).fit(sf.evidence(table, schema), target="y")
        assert model.only_class is not None and not model.weights_.any()


def by_origin(loss: str, method: str, first: int, rng: int) -> tuple[np.ndarray, float]:
    """Weights and accuracy where years begin at ``first``; two thirds of the records follow from the year."""
    draw = np.random.default_rng(rng)
    year, grade = draw.integers(0, 20, 4000), draw.integers(0, 5, 4000)
    told = np.where(year + draw.normal(0, 4, 4000) > 7, "yes", "no")
    schema = sf.Schema(
        {
            "year": sf.Ordinal(tuple(range(first, first + 20))),
            "grade": sf.Ordinal(tuple(range(5))),
            "told": sf.Categorical(("no", "yes")),
        }
    )
    table = {"year": first + year, "grade": grade, "told": told}
    release = sf.randomize(table, sf.Scheme.for_gamma(schema, gamma=9), rng=rng)
    model = LinearClassifier(loss=loss, rng=1).fit(sf.evidence(release, method=method), target="told")
    return model.weights_, model.score(table)


@pytest.mark.filterwarnings("ignore::sfumato.errors.NegativeCountsWarning")
@pytest.mark.parametrize("loss", ["pocket", "perceptron", "logistic", "hinge", "least_squares", "lda"])
def test_years_tell_as_much_as_numbers_from_0(loss: str) -> None:
    """Far from 0 the pocket said one class of everybody, and products of features told only how tables disagree."""
    for method in ("moment", "mle"):
        (near, right), (far, again) = (by_origin(loss, method, first, 5) for first in (0, 1968))
        assert again > 0.8 and abs(right - again) < 0.03
        if loss not in ("pocket", "perceptron"):
            np.testing.assert_allclose(far, near, rtol=0.01, atol=0.01)


def test_more_than_two_classes_are_compared_on_one_scale():
    """Hyperplanes that are found apart are not: features of large units beside yes and no lead them astray."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 4, 8000)
    pay = 1000 * np.clip(np.rint(1.5 * y + rng.normal(2, 1.5, y.size)), 0, 9).astype(int)
    mark = np.clip(np.rint(2 * (y == 1) + rng.normal(3, 1, y.size)), 0, 7).astype(int)
    schema = sf.Schema(
        {
            "y": sf.Ordinal(tuple(range(4))),
            "pay": sf.Ordinal(tuple(range(0, 10_000, 1000))),
            "mark": sf.Ordinal(tuple(range(8))),
        }
    )
    table = {"y": y.tolist(), "pay": pay.tolist(), "mark": mark.tolist()}
    source = sf.evidence(sf.randomize(table, sf.Scheme.for_gamma(schema, 9), rng=sf.experiment(1)), method="model")
    model = LinearClassifier().fit(source, target="y")
    assert model.loss_ == "logistic" and not model.scale_free
    assert model.score(table) > LinearClassifier("pocket", rng=1).fit(source, target="y").score(table) + 0.03
    assert (LinearClassifier().fit(source, target="y").coef_ == model.coef_).all(), "no chance in it"
    halves = sf.Schema({"y": sf.Categorical(("a", "b")), "x": sf.Ordinal((1, 2))})
    two = sf.evidence({"y": ["a", "b"] * 9, "x": [1, 2] * 9}, halves)
    assert LinearClassifier().fit(two, target="y").loss_ == "logistic"
