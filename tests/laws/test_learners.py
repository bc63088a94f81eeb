"""What every learner must obey, whatever evidence it is given."""

from __future__ import annotations

import ast
import pickle
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import EstimationError, SfumatoError
from sfumato.evidence.kinds import model_evidence
from sfumato.evidence.model.cliques import JunctionEvidence
from sfumato.learn import TAN, AssociationRules, BayesianNetwork, DecisionTree, LinearClassifier, NaiveBayes, Regression
from sfumato.learn.linear.classifier import LOSSES

pytestmark = [
    pytest.mark.filterwarnings("ignore::sfumato.errors.NegativeCountsWarning"),
    pytest.mark.filterwarnings("ignore::sfumato.errors.BiasWarning"),
]

SCHEMA = sf.Schema(
    {
        "age": sf.Ordinal(("young", "middle", "old")),
        "diet": sf.Categorical(("bad", "good")),
        "smoke": sf.Categorical(("no", "yes")),
        "ill": sf.Categorical(("no", "yes")),
    }
)
TARGET = "ill"
SUBSETS = {"all": None, "some": ["smoke", "age", "ill"]}


def people(n: int = 600, seed: int = 5) -> dict[str, list[str]]:
    rng = np.random.default_rng(seed)
    age, smoke = rng.integers(0, 3, n), rng.random(n) < 0.4
    diet = rng.random(n) < 0.3 + 0.2 * age
    ill = rng.random(n) < 0.05 + 0.25 * age + 0.35 * smoke - 0.05 * diet
    codes = {"age": age, "diet": diet, "smoke": smoke, "ill": ill}
    return {name: [SCHEMA[name].labels[int(code)] for code in column] for name, column in codes.items()}


PEOPLE = people()
SCHEME = sf.Scheme(SCHEMA, {name: c.symmetric(SCHEMA[name].size, 0.05) for name in SCHEMA})
CLEAR = sf.Scheme(SCHEMA, {name: c.identity(SCHEMA[name].size) for name in SCHEMA})
RELEASE = sf.randomize(PEOPLE, SCHEME, rng=sf.experiment(3))
UNTOUCHED = sf.randomize(PEOPLE, CLEAR, rng=sf.experiment(3))
RAW = sf.evidence(PEOPLE, SCHEMA).release

Names = Sequence[str] | None
KINDS: dict[str, Callable[[sf.Release, Names], sf.Evidence]] = {
    "moment": lambda release, names: sf.evidence(release, names=names),
    "project": lambda release, names: sf.evidence(release, method="project", names=names),
    "mle": lambda release, names: sf.evidence(release, method="mle", names=names),
    "joint": lambda release, names: sf.evidence(release, method="model", names=names, tau=0.3),
    "cliques": lambda release, names: JunctionEvidence(release, names, most=12),
}
WITH_EXACT = {**KINDS, "exact": lambda _, names: sf.evidence(PEOPLE, SCHEMA, names=names)}
CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "tree": DecisionTree,
    "tree, direct": lambda: DecisionTree(counts="direct"),
    "tree, paper": lambda: DecisionTree(counts="paper"),
    "naive Bayes": NaiveBayes,
    "TAN": TAN,
    "network": BayesianNetwork,
    "regression, logistic": lambda: Regression("logistic"),
    "regression, ordinal": lambda: Regression("ordinal"),
    **{f"linear, {loss}": lambda loss=loss: LinearClassifier(loss=loss, steps=200, rng=1) for loss in LOSSES},
}
LEARNERS = {**CLASSIFIERS, "rules": AssociationRules}

each_classifier = pytest.mark.parametrize("make", CLASSIFIERS.values(), ids=CLASSIFIERS.keys())
each_learner = pytest.mark.parametrize("make", LEARNERS.values(), ids=LEARNERS.keys())
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
each_kind_and_exact = pytest.mark.parametrize("kind", WITH_EXACT.values(), ids=WITH_EXACT.keys())
each_subset = pytest.mark.parametrize("names", SUBSETS.values(), ids=SUBSETS.keys())


@cache
def _made(kind: Any, release: sf.Release, names: tuple[str, ...] | None) -> sf.Evidence:
    return kind(release, names)


def given(kind: Any, release: sf.Release, names: Names) -> sf.Evidence:
    """Evidence that several learners share, as a user's would."""
    return _made(kind, release, None if names is None else tuple(names))


def learned(model: Any) -> Any:
    """What a fitted model says, in numbers."""
    if isinstance(model, AssociationRules):
        found = [list(vars(one).values()) for one in (*model.itemsets_, *model.rules_)]
        return sorted([[round(v, 9) if isinstance(v, float) else v for v in one] for one in found], key=str)
    return model.predict_proba(PEOPLE).tolist()


# Scikit-learn's habits, over all evidence.


@each_subset
@each_kind_and_exact
@each_classifier
def test_a_classifier_fits_predicts_scores_and_is_pickled(make: Any, kind: Any, names: Names) -> None:
    model = make().fit(given(kind, RELEASE, names), target=TARGET)
    assert set(model.schema_.names) == set(names or SCHEMA.names)
    shares = model.predict_proba(PEOPLE)
    assert shares.shape == (len(PEOPLE[TARGET]), 2)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    said = model.predict(PEOPLE)
    assert isinstance(said, np.ndarray) and said.tolist() == model.classes_[shares.argmax(axis=1)].tolist()
    assert np.mean(said == np.array(PEOPLE[TARGET])) > (0.5 if "perceptron" in repr(model) else 0.65)
    assert np.isfinite(model.score(PEOPLE))
    assert pickle.loads(pickle.dumps(model)).predict_proba(PEOPLE).tolist() == shares.tolist()


@each_subset
@each_kind_and_exact
def test_rules_are_found_and_pickled(kind: Any, names: Names) -> None:
    model = AssociationRules(min_support=0.1).fit(kind(RELEASE, names), target=TARGET)
    told = {item.partition("=")[0] for one in model.itemsets_ for item in one.items}
    assert told == set(names or SCHEMA.names)
    assert model.rules_ and all(rule.consequent[0].startswith("ill=") for rule in model.rules_)
    assert learned(pickle.loads(pickle.dumps(model))) == learned(model)


@each_learner
def test_parameters_are_kept_under_their_own_names(make: Any) -> None:
    from sklearn.base import clone

    model = make()
    given = model.get_params()
    assert type(model)(**given).get_params() == given
    assert clone(model).get_params() == given
    name = "score" if "score" in given else next(iter(given))
    other = {"criterion": "gini", "score": "bic", "loss": "lda", "family": "ordinal"}.get(name, 0.5)
    assert model.set_params(**{name: other}).get_params()[name] == other
    assert f"{name}={other!r}" in repr(model)
    with pytest.raises(EstimationError, match="has no parameter 'taau'"):
        model.set_params(taau=7)


def test_parameters_that_are_lists_survive_a_clone() -> None:
    from sklearn.base import clone

    order = ["ill", "age"]
    copied = clone(BayesianNetwork(order=order, max_parents=2, memory=1, score="bic")).fit(RELEASE, target=TARGET)
    assert copied.get_params()["order"] == order and copied.get_params()["score"] == "bic"
    with pytest.raises(EstimationError, match="score must be one of"):
        copied.set_params(score="guess").fit(RELEASE)


@each_learner
def test_a_learner_refuses_a_table_without_its_schema_and_an_unknown_target(make: Any) -> None:
    with pytest.raises(EstimationError, match=r"sfumato.evidence\(table, schema\)"):
        make().fit(PEOPLE, target=TARGET)
    with pytest.raises(EstimationError, match="the target 'height' is not in the release"):
        make().fit(RELEASE, target="height")
    with pytest.raises(EstimationError, match="the target 'diet' is not in the release"):
        make().fit(sf.evidence(RELEASE, names=SUBSETS["some"]), target="diet")


# The same data, by another door.


@each_learner
def test_a_release_and_the_evidence_of_it_give_the_same_model(make: Any) -> None:
    by_release, by_evidence = (make().fit(source, target=TARGET) for source in (RELEASE, sf.evidence(RELEASE)))
    assert learned(by_release) == learned(by_evidence)


@each_learner
def test_the_identity_channel_gives_the_model_of_the_raw_table(make: Any) -> None:
    raw = learned(make().fit(sf.evidence(PEOPLE, SCHEMA), target=TARGET))
    assert learned(make().fit(UNTOUCHED, target=TARGET)) == raw


@each_kind
@each_learner
def test_every_kind_of_evidence_is_the_same_of_an_identity_release_and_of_the_raw_table(make: Any, kind: Any) -> None:
    by_identity, by_table = (make().fit(given(kind, release, None), target=TARGET) for release in (UNTOUCHED, RAW))
    assert learned(by_identity) == learned(by_table)


FEW = sf.Scheme(SCHEMA.select(SUBSETS["some"]), {name: SCHEME[name] for name in SUBSETS["some"]})
NARROW = sf.Release(RELEASE.parts[0].arrow().select(SUBSETS["some"]), FEW)


@each_kind
@each_learner
def test_a_subset_of_the_names_is_the_release_without_the_other_columns(make: Any, kind: Any) -> None:
    names = SUBSETS["some"]
    alone = make().fit(given(kind, NARROW, names), target=TARGET)
    assert learned(make().fit(given(kind, RELEASE, names), target=TARGET)) == learned(alone)


# What is refused.


def wide_release() -> sf.Release:
    """More cells than a joint table may have."""
    names = [f"q{i}" for i in range(21)]
    schema = sf.Schema({name: sf.Categorical(("no", "yes")) for name in names})
    rng = np.random.default_rng(2)
    table = {name: np.array(("no", "yes"))[rng.integers(0, 2, 60)] for name in names}
    return sf.randomize(table, sf.Scheme(schema, {name: c.binary(0.02, 0.02) for name in names}), rng=sf.experiment(1))


@pytest.mark.parametrize("method", ["moment", "project", "mle", "model"])
def test_an_unknown_option_of_evidence_is_refused_by_name(method: str) -> None:
    for source, schema in ((RELEASE, None), (PEOPLE, SCHEMA), (wide_release(), None)):
        with pytest.raises(EstimationError, match=f"method '{method}' takes no option 'taau'"):
            sf.evidence(source, schema, method=method, taau=7)


def test_options_that_cliques_cannot_follow_are_refused() -> None:
    with pytest.raises(EstimationError, match="order must be 2 beyond"):
        model_evidence(wide_release(), order=3)
    for tau in (0, -1, "large"):
        with pytest.raises(EstimationError, match="tau must be a positive number"):
            JunctionEvidence(RELEASE, tau=tau)


@each_learner
def test_an_unknown_option_of_a_learner_is_refused_by_name(make: Any) -> None:
    with pytest.raises(TypeError, match="'taau'"):
        type(make())(taau=7)
    with pytest.raises(TypeError, match="'taau'"):
        make().fit(RELEASE, target=TARGET, taau=7)


@each_kind
def test_evidence_refuses_names_that_it_does_not_cover(kind: Any) -> None:
    source = kind(RELEASE, SUBSETS["some"])
    assert source.names == source.schema.names == tuple(SUBSETS["some"])
    for ask in (source.counts, lambda name: source.cells([name], [[0]]), lambda name: source.counts_many([[name]])):
        with pytest.raises(EstimationError, match="'diet' is not in the .*, which covers smoke, age, ill"):
            ask("diet")
    for wrong in ("smoke", [], ["smoke", "smoke"], ["height"]):
        with pytest.raises(SfumatoError):
            kind(RELEASE, wrong)


@each_kind
@each_learner
def test_a_channel_that_is_not_invertible_is_refused_naming_the_attribute(make: Any, kind: Any) -> None:
    blind = sf.Scheme(SCHEMA, {name: SCHEME[name] for name in SCHEMA} | {"smoke": c.matrix(np.full((2, 2), 0.5))})
    release = sf.randomize(PEOPLE, blind, rng=sf.experiment(3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(SfumatoError, match="smoke"):
            make().fit(kind(release, None), target=TARGET)
        make().fit(kind(release, ["age", "diet", "ill"]), target=TARGET)


# Error bars.


@each_kind
def test_only_evidence_of_untouched_records_that_is_no_model_is_exact(kind: Any) -> None:
    assert not kind(RELEASE, None).exact
    assert kind(UNTOUCHED, None).exact == (kind(UNTOUCHED, None).method != "model")
    half = sf.Scheme(SCHEMA, {name: (SCHEME if name == "diet" else CLEAR)[name] for name in SCHEMA})
    partly = sf.randomize(PEOPLE, half, rng=sf.experiment(3))
    assert not kind(partly, None).exact
    assert kind(partly, SUBSETS["some"]).exact == (kind(RELEASE, None).method != "model")


WIDE = sf.Scheme(SCHEMA, {name: SCHEME[name] for name in SCHEMA} | {"age": c.windows(3, 9)})
RELEASES = {"symmetric": RELEASE, "more outputs than inputs": sf.randomize(PEOPLE, WIDE, rng=sf.experiment(3))}


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES.keys())
@each_subset
@each_kind
def test_the_error_bars_of_a_network_are_those_of_its_evidence(kind: Any, names: Names, release: sf.Release) -> None:
    source = kind(release, names)
    parents = {"age": [], "diet": [], "smoke": [], "ill": ["age", "smoke"]}
    net = BayesianNetwork({name: parents[name] for name in source.names}).fit(source)
    cpt = net.cpt(TARGET)
    counts = source.counts(["age", "smoke", TARGET])
    modelled = source.method == "model"
    table = (counts.value if modelled else counts.unbiased).reshape(-1, 2)
    cov = counts.population().cov * counts.n**2
    for j, row in enumerate(table):
        share, own = row / row.sum(), cov[2 * j : 2 * j + 2, 2 * j : 2 * j + 2]
        slope = (np.eye(2) - share[:, None]) / row.sum()
        expected = np.sqrt(np.einsum("ij,jk,ik->i", slope, own, slope))
        np.testing.assert_allclose(cpt.sd().reshape(-1, 2)[j], expected, rtol=1e-6)
    given = counts.value.reshape(-1, 2)
    if modelled or source.method == "mle":
        np.testing.assert_allclose(cpt.values.reshape(-1, 2), given / given.sum(1, keepdims=True))
    low, high = cpt.interval()
    assert (low < high).all() and (low <= cpt.values).all() and (cpt.values <= high).all()


def test_a_model_too_large_for_its_covariance_has_the_errors_of_unbiased_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And those of how far it is from them; probabilities do not look certain."""
    monkeypatch.setattr(import_module("sfumato.evidence.model.information"), "FEATURE_LIMIT", 0)
    net = BayesianNetwork({"smoke": ["ill"], "ill": []}).fit(KINDS["joint"](RELEASE, ["smoke", "ill"]))
    assert (net.cpt("smoke").sd() > 0.01).all()
    counts, unbiased = (KINDS[kind](RELEASE, None).counts(["smoke", TARGET]) for kind in ("joint", "moment"))
    apart = counts.value - unbiased.value
    np.testing.assert_allclose(counts.cov, unbiased.cov + np.outer(apart, apart))
    np.testing.assert_allclose(counts.variance, counts.cov.diagonal())


@pytest.mark.parametrize("score", ["wald", "bic", "bayes", "bdeu"])
def test_a_network_is_searched_on_the_counts_of_its_evidence(score: str) -> None:
    """A joint model that is all but independent knows of no links; the unbiased counts do."""
    apart = sf.evidence(RELEASE, method="model", tau=1e-3)
    assert BayesianNetwork(score=score).fit(sf.evidence(RELEASE)).edges_
    assert not BayesianNetwork(score=score).fit(apart).edges_


@each_kind
def test_the_standard_errors_of_a_linear_classifier_are_of_its_evidence(kind: Any) -> None:
    model = LinearClassifier(loss="lda").fit(kind(RELEASE, SUBSETS["some"]), target=TARGET)
    found = model.standard_errors(kind(RELEASE, SUBSETS["some"]), groups=3)
    assert found.shape == model.weights_.shape and (found > 0).all()


# One door.


@pytest.mark.parametrize(
    "module", ["channels", "datasets", "design", "errors", "learn", "privacy", "accuracy", "attacks"]
)
def test_public_modules_are_reachable(module: str) -> None:
    found = getattr(sf, module)
    assert module in sf.__all__ and module in dir(sf)
    assert all(hasattr(found, name) for name in getattr(found, "__all__", ()))


@pytest.mark.parametrize("package", ["sfumato.evidence", "sfumato.owner", "sfumato.evidence.density"])
def test_public_names_are_reachable(package: str) -> None:
    found = import_module(package)
    for name in found.__all__:
        assert name in sf.__all__ and getattr(sf, name) is getattr(found, name)


# What evidence is.


@each_subset
@each_kind_and_exact
def test_all_that_a_kind_of_evidence_says_agrees_with_its_counts(kind: Any, names: Names) -> None:
    source = given(kind, RELEASE, names)
    assert isinstance(source, sf.Evidence)
    asked = ["age", "smoke", TARGET]
    table = source.counts(asked, quiet=True)
    assert table.n == source.n == sum(one.total for one in source.seen(asked)) == sum(one.total for one in table.seen)
    assert sum(float(part.counts.sum()) for part in source.records(asked)) == source.n
    assert source.listable(asked)
    np.testing.assert_allclose(source.shares(asked), table.value / source.n)
    cells = source.cells(asked, [[2, 1, 0], [2, 1, 1]])
    direct = source.method in ("project", "mle")  # of some cells only the unbiased estimate is there
    at = np.s_[2, 1]
    np.testing.assert_allclose(cells.value, (table.unbiased.reshape(table.shape) if direct else table.table)[at])
    (within,) = source.within({"age": 2}, ["smoke"], TARGET)
    np.testing.assert_allclose(within, table.table[2], atol=1e-9)
    if source.method != "mle":  # whose cells are the unbiased ones
        region = source.region({"age": 2, "smoke": 1}, TARGET)
        roots = table.told_by_parameters() if source.smoothed else None
        cov = table.cov if roots is None else roots @ roots.T
        np.testing.assert_allclose(region, cov[10:, 10:], atol=1e-6)
    drawn = source.sample(50, rng=1)
    assert drawn.num_rows == 50 and set(drawn.column_names) == set(source.names)
    assert np.isfinite(source.log_likelihood(asked, np.full(12, 1 / 12)))


@pytest.mark.parametrize("kind", [KINDS["joint"], KINDS["cliques"]])
def test_covariances_of_weighted_counts_are_those_of_the_matrix(kind: Any) -> None:
    for found in (kind(RELEASE, None).counts(["age", TARGET]), sf.evidence(RELEASE).counts(["smoke", "age", "ill"])):
        one, other = np.random.default_rng(1).normal(size=(2, len(found.value)))
        assert found.covariance(one, other) == pytest.approx(float(one @ found.cov @ other))


@each_subset
@each_kind
def test_rules_take_supports_and_their_noise_from_the_evidence(kind: Any, names: Names) -> None:
    source = given(kind, RELEASE, names)
    model = AssociationRules(min_support=0.1, shrink=False).fit(source)
    pairs = {one.items: one for one in model.itemsets_ if len(one.items) == 2}
    assert pairs
    for items, found in pairs.items():
        (x, a), (y, b) = (item.split("=") for item in items)
        counts = source.counts([x, y], quiet=True)
        cell = (source.schema[x].labels.index(a), source.schema[y].labels.index(b))
        share = counts.table[cell] / counts.n
        alone = [
            source.counts([name], quiet=True).table[code] / counts.n for name, code in zip((x, y), cell, strict=True)
        ]
        assert found.support == pytest.approx(min(share, *alone), abs=1e-9)
        if source.method != "mle":  # of symmetric channels the same left inverse
            assert found.sd == pytest.approx(counts.sd.reshape(counts.shape)[cell] / counts.n, rel=1e-6)


def test_rules_of_a_model_that_knows_no_dependence_have_a_lift_of_one() -> None:
    """Their supports are the model's, not the unbiased ones."""
    apart = sf.evidence(RELEASE, method="model", tau=1e-3)
    rules = AssociationRules(min_support=0.1, min_confidence=0.2).fit(apart).rules_
    assert rules and all(rule.lift == pytest.approx(1, abs=0.03) for rule in rules)
    free = AssociationRules(min_support=0.1, min_confidence=0.2).fit(RELEASE).rules_
    assert max(rule.lift for rule in free) > 1.2


# Learners see only evidence.


LEARN = sorted((Path(sf.__file__).parent / "learn").rglob("*.py"))
HIDDEN = {"DirectEvidence", "ModelEvidence", "JunctionEvidence", "ReleaseEvidence", "ModelOfRelease", "Release"}


def reaches_past_evidence(source: str) -> list[str]:
    """Attributes of a release, and names of kinds of evidence, that a module mentions."""
    found = ast.walk(ast.parse(source))
    attributes = {node.attr for node in found if isinstance(node, ast.Attribute)} & {"release", "refitted"}
    names = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    imported = {a.name for n in ast.walk(ast.parse(source)) if isinstance(n, ast.ImportFrom) for a in n.names}
    return sorted(attributes | ((names | imported) & HIDDEN))


@pytest.mark.parametrize("module", LEARN, ids=lambda path: path.stem)
def test_no_learner_reads_the_release_or_asks_for_a_kind_of_evidence(module: Path) -> None:
    assert reaches_past_evidence(module.read_text(encoding="utf-8")) == []


def test_reaching_past_evidence_is_seen() -> None:
    assert reaches_past_evidence("def f(e):\n    return e.release.parts") == ["release"]
    assert reaches_past_evidence("from x import ModelEvidence as M") == ["ModelEvidence"]
