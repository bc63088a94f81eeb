"""Regression: equal to statsmodels on raw records, and to its formulas, cell by cell, on randomized ones."""

from __future__ import annotations

import re
import sys
import warnings
from importlib import import_module
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import ConvergenceWarning, EstimationError, MissingPartError, SfumatoError
from sfumato.evidence.model.cliques import JunctionEvidence
from sfumato.learn import Regression
from sfumato.learn.regression.collinear import refuse_collinear
from sfumato.learn.regression.families import Logistic, Ordinal
from sfumato.learn.regression.newton import solve
from sfumato.learn.weighted_cells import Encoding
from sfumato.printable import readable_bins

SCHEMA = sf.Schema(
    {
        "age": sf.Numeric(0, 100, bins=4),
        "sex": sf.Categorical(("F", "M")),
        "grade": sf.Ordinal(("a", "b", "c")),
        "income": sf.Numeric(0, 10, points=6),
        "ill": sf.Categorical(("no", "yes")),
    }
)
SIZES = dict(zip(SCHEMA.names, SCHEMA.sizes(), strict=True))


def people(n: int = 3000, seed: int = 1) -> dict[str, np.ndarray]:
    """Codes."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(0, 4, n), rng.integers(0, 2, n)
    grade = np.clip(rng.integers(0, 2, n) + (rng.random(n) < 0.2 + 0.15 * age), 0, 2)
    income = np.clip(rng.normal(1.2 + 0.4 * age + 0.6 * sex, 1).round(), 0, 5).astype(np.int64)
    ill = rng.random(n) < 1 / (1 + np.exp(-(-1.5 + 0.5 * age + 0.7 * sex)))
    return {"age": age, "sex": sex, "grade": grade, "income": income, "ill": ill.astype(np.int64)}


CODES = people()
TABLE = SCHEMA.decode(CODES)
EXACT = sf.evidence(TABLE, SCHEMA)
MIXED = {
    "age": c.windows(4, 20),
    "sex": c.binary(0.1, 0.15),
    "grade": c.symmetric(3, 0.15),
    "income": c.subset(6, 20),
    "ill": c.symmetric(2, 0.1),
}
SCHEME = sf.Scheme(SCHEMA, MIXED)
RELEASE = sf.randomize(TABLE, SCHEME, rng=sf.experiment(5))


def numbers() -> dict[str, np.ndarray]:
    worth = {"age": SCHEMA["age"].midpoints, "income": SCHEMA["income"].midpoints}
    return {name: worth[name][codes] if name in worth else codes.astype(float) for name, codes in CODES.items()}


# Raw records, against statsmodels.


def against(kind: str) -> np.ndarray:
    x = numbers()
    columns = [x["age"], x["sex"], x["age"] * x["sex"]]
    return np.column_stack(columns if kind == "ordinal" else [np.ones(len(columns[0])), *columns])


@pytest.mark.parametrize("cov", ["model", "robust"])
def test_gaussian_and_logistic_on_raw_records_are_those_of_statsmodels(cov: str) -> None:
    import statsmodels.api as sm

    X, x = against(""), numbers()
    robust = {} if cov == "model" else {"cov_type": "HC0"}
    for family, target, theirs in (
        ("gaussian", "income", sm.OLS(x["income"], X).fit(**robust)),
        ("logistic", "ill", sm.Logit(x["ill"], X).fit(disp=0, tol=1e-12, **robust)),
    ):
        ours = Regression(family, cov=cov).fit(EXACT, target=target, names=["age*sex"])
        assert ours.terms_ == ["Intercept", "age", "sex=M", "age:sex=M"] and ours.converged_
        np.testing.assert_allclose(ours.coef_, theirs.params, rtol=1e-6)
        np.testing.assert_allclose(ours.sd_, theirs.bse, rtol=1e-6)
        np.testing.assert_allclose(ours.cov_, theirs.cov_params(), rtol=1e-6)
        np.testing.assert_allclose(ours.p_, theirs.pvalues, rtol=1e-4, atol=1e-12)
        np.testing.assert_allclose(np.column_stack(ours.interval()), theirs.conf_int(), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("cov", ["model", "robust"])
def test_ordinal_on_raw_records_is_that_of_statsmodels(cov: str) -> None:
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    few = 400  # their derivatives are numeric: slow, and they need columns of like size
    X = against("ordinal")[:few] / [10, 1, 10]
    robust = {} if cov == "model" else {"cov_type": "HC0"}
    theirs = OrderedModel(CODES["grade"][:few], X, distr="logit").fit(method="newton", disp=0, tol=1e-14, **robust)
    exact = sf.evidence(TABLE.slice(0, few), SCHEMA)
    ours = Regression("ordinal", cov=cov).fit(exact, target="grade", names=["age*sex"])
    assert ours.terms_ == ["age", "sex=M", "age:sex=M", "a/b", "b/c"]
    np.testing.assert_allclose(ours.coef_[:3], theirs.params[:3] / [10, 1, 10], atol=1e-6)
    np.testing.assert_allclose(ours.sd_[:3], theirs.bse[:3] / [10, 1, 10], rtol=5e-5)  # theirs by finite differences
    limits = theirs.model.transform_threshold_params(theirs.params[3:])[1:-1]
    np.testing.assert_allclose(ours.coef_[3:], limits, atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(TABLE.slice(0, few)), theirs.predict(), atol=1e-6)


@pytest.mark.parametrize("family", [Logistic(), Ordinal(3)], ids=["logistic", "ordinal"])
def test_the_information_is_the_derivative_of_the_score(family: Logistic | Ordinal) -> None:
    """To many more digits than finite differences of a likelihood give."""
    X, y = against("ordinal") / [100, 1, 100], CODES["grade" if isinstance(family, Ordinal) else "ill"].astype(float)
    weights = np.random.default_rng(1).normal(1, 1, len(y))
    beta = np.array([0.8, 0.3, -0.2, *([-0.3, 1.9] if isinstance(family, Ordinal) else [])])
    step = 1e-5 * np.eye(len(beta))
    slope = [weights @ (family.score(beta + e, X, y) - family.score(beta - e, X, y)) / 2e-5 for e in step]
    np.testing.assert_allclose(-np.array(slope), family.information(beta, X, y, weights), rtol=1e-6, atol=1e-5)


# Randomized records, against the formulas with every matrix written out.


def brute_force(names: list[str], beta: np.ndarray, family: Logistic) -> tuple[np.ndarray, np.ndarray]:
    """Σ N̂ ψ at beta, and the sandwich."""
    A = np.ones((1, 1))
    for name in names:
        A = np.kron(A, MIXED[name].inverse.dense())
    outputs = [MIXED[name].m for name in names]
    rows = RELEASE.parts[0].arrow()
    columns = [column for name in names for column in MIXED[name].columns((name,))]
    flat = np.ravel_multi_index([rows.column(column).to_numpy() for column in columns], outputs)
    released = np.bincount(flat, minlength=A.shape[1])
    cells = np.array(list(product(*(range(SIZES[name]) for name in names))))
    X = np.column_stack([np.ones(len(cells)), SCHEMA["age"].midpoints[cells[:, 0]], cells[:, 1]])
    y = cells[:, 2].astype(float)
    psi, s = family.score(beta, X, y), A.T @ family.score(beta, X, y)
    bread = np.linalg.inv(family.information(beta, X, y, A @ released))
    return (A @ released) @ psi, bread @ (s.T * released) @ s @ bread.T


def test_corrected_scores_and_sandwich_are_the_formulas_written_out() -> None:
    found = Regression("logistic").fit(RELEASE, target="ill", names=["age", "sex"])
    assert found.method_ == "corrected scores on unbiased cells" and found.covariance_ == "sandwich"
    score, cov = brute_force(["age", "sex", "ill"], found.coef_, Logistic())
    np.testing.assert_allclose(score / [1, 50, 1], 0, atol=1e-5)
    np.testing.assert_allclose(found.cov_, cov, rtol=1e-6)


def test_moments_of_the_gaussian_family_are_its_scores_on_all_cells() -> None:
    from sfumato.learn.regression.cell_weights import UnbiasedCells
    from sfumato.learn.regression.design_columns import columns_of
    from sfumato.learn.regression.families import Gaussian
    from sfumato.learn.regression.fitting import _fit_scores
    from sfumato.learn.regression.problem import Problem
    from sfumato.learn.regression.response import response

    terms, names = ["age:sex", "C(grade)"], ("age", "sex", "grade", "income")
    found = Regression().fit(RELEASE, target="income", names=terms)
    assert found.method_ == "corrected scores on unbiased moments"
    wanted = response("income", SCHEMA["income"], "gaussian")
    problem = Problem(Gaussian(), columns_of(terms, SCHEMA), wanted, names, False)
    twin = _fit_scores(UnbiasedCells(sf.evidence(RELEASE), names), problem)
    np.testing.assert_allclose(found.coef_, twin.beta, rtol=1e-8)
    np.testing.assert_allclose(found.cov_, twin.cov, rtol=1e-8)


@pytest.mark.parametrize(("family", "target"), [("logistic", "ill"), ("gaussian", "income")])
def test_scores_formed_only_for_released_records_are_the_same(
    family: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["age", "sex", "grade"]
    whole = Regression(family).fit(RELEASE, target=target, names=names)
    monkeypatch.setattr(import_module("sfumato.learn.regression.told_by_records"), "_TABLE", 600)
    listed = Regression(family).fit(RELEASE, target=target, names=names)
    np.testing.assert_allclose(listed.coef_, whole.coef_, rtol=1e-8)
    np.testing.assert_allclose(listed.cov_, whole.cov_, rtol=1e-8)


@pytest.mark.parametrize("scheme", ["apart", "together", "two"])
@pytest.mark.parametrize("family", ["logistic", "ordinal"])
def test_scores_formed_record_by_record_are_those_of_all_cells(
    family: str, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an interaction, no answer in response and covariate, a group, and parts of several schemes."""
    schema = sf.Schema(
        {
            "a": sf.Numeric(0, 4, bins=4, nullable=True),
            "b": sf.Categorical(("x", "y")),
            "c": sf.Ordinal(("l", "m", "h")),
            "y": sf.Ordinal(("no", "yes") if family == "logistic" else ("no", "some", "yes"), nullable=True),
        }
    )
    rng = np.random.default_rng(8)
    codes = {name: rng.integers(0, k, 2500) for name, k in (("a", 5), ("b", 2), ("c", 3))}
    size = schema["y"].size
    y = ((codes["b"] + 0.4 * codes["c"] + rng.logistic(size=2500))[:, None] > [1.0, 2.5][: size - 2]).sum(axis=1)
    table = schema.decode({**codes, "y": np.where(rng.random(2500) < 0.1, size - 1, y)})
    own = {"a": c.windows(5, 20), "b": c.symmetric(2, 0.1), "c": c.symmetric(3, 0.1), "y": c.symmetric(size, 0.1)}
    grouped = {"a": own["a"], "b": own["b"], ("c", "y"): c.symmetric((3, size), 0.2)}
    noisier = {name: c.symmetric(schema[name].size, 0.2) for name in schema}
    used = {"apart": [own], "together": [grouped], "two": [own, noisier]}[scheme]
    parts = [sf.randomize(table, sf.Scheme(schema, one), rng=sf.experiment(7)) for one in used]
    release = sf.Release.concat(parts)
    listed = Regression(family).fit(release, target="y", names=["a", "b*c"])
    monkeypatch.setattr(import_module("sfumato.learn.regression.fitting"), "LISTED_CELLS", 1)
    monkeypatch.setattr(import_module("sfumato.learn.regression.waves"), "_CHUNK", 1000)
    found = Regression(family).fit(release, target="y", names=["a", "b*c"])
    assert found.method_ == "corrected scores, record by record" and found.converged_
    np.testing.assert_allclose(
        found.coef_, listed.coef_, rtol=2e-3 if scheme == "two" else 1e-6, atol=1e-4 * (scheme == "two")
    )
    # record by record the covariance is corrected for each record's own pull, which enlarges it a little
    assert (found.sd_ / listed.sd_ > 1).all() and (found.sd_ / listed.sd_ < 1.02).all()


def test_estimates_lie_near_those_of_the_raw_records() -> None:
    for family, target in (("gaussian", "income"), ("logistic", "ill"), ("ordinal", "grade")):
        raw = Regression(family).fit(EXACT, target=target, names=["age", "sex"])
        for through in ("scores", "model"):
            found = Regression(family, through=through).fit(RELEASE, target=target, names=["age", "sex"])
            assert (np.abs(found.coef_ - raw.coef_) < 4 * found.sd_).all() and (found.sd_ > raw.sd_).all()


# Joined, concatenated, randomized together.


def test_joined_releases_are_one() -> None:
    keys = [f"p{i}" for i in range(len(TABLE))]
    held = {}
    for names in (["age", "sex"], ["ill"]):
        scheme = sf.Scheme(SCHEMA.select(names), {name: MIXED[name] for name in names})
        rows = RELEASE.parts[0].arrow().select([x for name in names for x in MIXED[name].columns((name,))])
        held[names[0]] = sf.Release(rows.append_column("id", pa.array(keys)), scheme, id="id")
    joined = held["age"].join(held["ill"], on="id")
    whole = Regression("logistic").fit(RELEASE, target="ill", names=["age", "sex"])
    found = Regression("logistic").fit(joined, target="ill", names=["age", "sex"])
    np.testing.assert_allclose(found.coef_, whole.coef_, rtol=1e-8)
    np.testing.assert_allclose(found.cov_, whole.cov_, rtol=1e-8)


@pytest.mark.parametrize(("family", "target"), [("logistic", "ill"), ("gaussian", "income")])
def test_parts_of_a_concatenation_count_by_their_precision(family: str, target: str) -> None:
    rows = RELEASE.parts[0].arrow()
    halves = sf.Release.concat([sf.Release(rows.slice(0, 900), SCHEME), sf.Release(rows.slice(900), SCHEME)])
    whole = Regression(family).fit(RELEASE, target=target, names=["age", "sex"])
    found = Regression(family).fit(halves, target=target, names=["age", "sex"])
    np.testing.assert_allclose(found.coef_, whole.coef_, rtol=1e-8)
    np.testing.assert_allclose(found.cov_, whole.cov_, rtol=1e-8)
    noisy = sf.Scheme(SCHEMA, {name: c.symmetric(SIZES[name], gamma=4) for name in SCHEMA})
    more = sf.randomize(SCHEMA.decode(people(3000, 2)), noisy, rng=sf.experiment(6))
    both = Regression(family).fit(sf.Release.concat([RELEASE, more]), target=target, names=["age", "sex"])
    assert (both.sd_ < 1.001 * whole.sd_).all()  # noisy records never harm


def test_attributes_that_are_randomized_together() -> None:
    scheme = sf.Scheme(
        SCHEMA.select(["age", "sex", "ill"]), {"age": MIXED["age"], ("sex", "ill"): c.symmetric((2, 2), 0.2)}
    )
    release = sf.randomize(TABLE.select(["age", "sex", "ill"]), scheme, rng=sf.experiment(4))
    raw = Regression("logistic").fit(EXACT, target="ill", names=["age", "sex"])
    found = Regression("logistic").fit(release, target="ill", names=["age", "sex"])
    assert (np.abs(found.coef_ - raw.coef_) < 4 * found.sd_).all()
    alone = Regression("gaussian").fit(release, target="age", names=["sex"])
    assert (
        abs(alone.coef_[1] - Regression("gaussian").fit(EXACT, target="age", names=["sex"]).coef_[1]) < 4 * alone.sd_[1]
    )


# Terms.


def test_a_formula_says_the_same_as_names() -> None:
    for text, names in (
        ("ill ~ age * sex", ["age*sex"]),
        ("ill ~ age + C(grade)", ["age", "C(grade)"]),
        ("ill ~ grade:sex + sex", None),
    ):
        by_formula = Regression("logistic").fit(EXACT, formula=text)
        assert by_formula.target_ == "ill"
        if names is not None:
            by_names = Regression("logistic").fit(EXACT, target="ill", names=names)
            np.testing.assert_allclose(np.sort(by_formula.coef_), np.sort(by_names.coef_), rtol=1e-8)
    bent = Regression().fit(RELEASE, "income ~ age + I(age ** 2)")
    assert bent.terms_ == ["Intercept", "age", "I(age ** 2)"] and bent.method_.endswith("moments")
    flat = Regression().fit(EXACT, formula="income ~ 1")
    assert flat.coef_ == pytest.approx([numbers()["income"].mean()])


def test_a_formula_without_formulaic_names_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "formulaic", None)
    with pytest.raises(MissingPartError, match=r"sfumato\[formula\]"):
        Regression("logistic").fit(EXACT, formula="ill ~ age")


def test_no_answer_is_a_value_of_a_covariate_and_is_left_out_of_the_response() -> None:
    schema = sf.Schema({"x": sf.Numeric(0, 4, bins=4, nullable=True), "y": sf.Numeric(0, 4, bins=4, nullable=True)})
    rng = np.random.default_rng(3)
    x, n = rng.integers(0, 5, 2000), 2000
    y = np.where(rng.random(n) < 0.2, 4, np.clip(x % 4 + rng.integers(-1, 2, n), 0, 3))
    table = schema.decode({"x": x, "y": y})
    found = Regression().fit(sf.evidence(table, schema), target="y", names=["x"])
    assert found.terms_ == ["Intercept", "x", "x=no answer"] and found.left_out_ == (y == 4).sum()
    assert "Left out" in found.summary()
    kept = (y < 4) & (x < 4)
    slope = np.polyfit(x[kept] + 0.5, y[kept] + 0.5, 1)[0]
    assert found.coef_[1] == pytest.approx(slope)
    release = sf.randomize(table, sf.Scheme(schema, {k: c.symmetric(5, 0.05) for k in "xy"}), rng=sf.experiment(1))
    blurred = Regression().fit(release, target="y", names=["x"])
    assert (np.abs(blurred.coef_ - found.coef_) < 4 * blurred.sd_).all()


def test_the_event_of_a_logistic_regression_can_be_named() -> None:
    of_c = Regression("logistic", event="c").fit(EXACT, target="grade", names=["age"])
    assert of_c.classes_.tolist() == ["not c", "c"] and of_c.coef_[1] > 0 and 0.5 < of_c.score(TABLE) < 1
    no = Regression("logistic", event="no").fit(EXACT, target="ill", names=["age"])
    yes = Regression("logistic").fit(EXACT, target="ill", names=["age"])
    np.testing.assert_allclose(no.coef_, -yes.coef_)


def test_values_that_nobody_holds_have_no_limit() -> None:
    schema = sf.Schema({"x": sf.Categorical(("a", "b")), "y": sf.Ordinal(("low", "never", "mid", "high"))})
    rng = np.random.default_rng(1)
    codes = {"x": rng.integers(0, 2, 300), "y": np.array([0, 2, 3])[rng.integers(0, 3, 300)]}
    found = Regression("ordinal").fit(sf.evidence(schema.decode(codes), schema), target="y")
    assert found.terms_ == ["x=b", "low/mid", "mid/high"] and found.classes_.tolist() == ["low", "mid", "high"]
    assert found.score(schema.decode(codes)) > 0.3
    assert "Not held:     no record seems to hold never: no limit can be drawn" in found.summary()
    binned = sf.Schema({"x": schema["x"], "y": sf.Numeric(edges=(0, 5, 10_000, 20_000, 30_000), nullable=True)})
    found = Regression("ordinal").fit(sf.evidence(binned.decode(codes), binned), target="y")
    assert "no record seems to hold [5 to 10,000):" in found.summary()
    full = Regression("ordinal").fit(sf.evidence(schema.decode({**codes, "y": np.arange(300) % 4}), schema), target="y")
    assert "Not held" not in full.summary()


# What it says.


def test_frame_summary_and_picture(tmp_path) -> None:
    found = Regression("logistic").fit(RELEASE, target="ill", names=["age", "sex"])
    frame = found.frame()
    assert frame.column_names == ["term", "value", "sd", "low", "high", "p"]
    low, high = found.interval(0.9)
    narrower = found.frame(0.9).to_pydict()
    assert narrower["low"] == low.tolist() and narrower["high"] == high.tolist()
    assert list(found.frame("pandas")["term"]) == found.terms_
    text = found.summary()
    for words in (
        "Logistic regression results",
        "ill (odds of yes)",
        "corrected scores",
        "sandwich",
        "P>|z|",
        "[0.025",
    ):
        assert words in text
    assert "joint model" in Regression("logistic", through="model").fit(RELEASE, target="ill", names=["age"]).summary()
    found.plot(tmp_path / "coefficients.svg")
    assert (tmp_path / "coefficients.svg").stat().st_size > 1000
    assert "age" in found._repr_html_() and "not fitted" in Regression()._repr_html_()


def test_gaussian_predicts_means_and_scores_what_they_explain() -> None:
    found = Regression().fit(EXACT, target="income", names=["age", "sex"])
    x = numbers()
    np.testing.assert_allclose(found.predict(TABLE), np.column_stack([np.ones(3000), x["age"], x["sex"]]) @ found.coef_)
    left = x["income"] - found.predict(TABLE)
    assert found.score(TABLE) == pytest.approx(1 - left.var() / x["income"].var())
    assert found.scale_ == pytest.approx(left @ left / 2997)
    with pytest.raises(EstimationError, match="no classes"):
        found.predict_proba(TABLE)
    with pytest.raises(EstimationError, match="not fitted"):
        Regression().predict(TABLE)


def test_a_tree_of_cliques_gets_its_errors_from_the_jackknife() -> None:
    source = JunctionEvidence(RELEASE, ["age", "sex", "ill"], most=8)
    found = Regression("logistic").fit(source, target="ill", names=["age", "sex"])
    direct = Regression("logistic").fit(RELEASE, target="ill", names=["age", "sex"])
    assert found.covariance_.startswith("jackknife") and found.freedom_ == 9
    assert (found.sd_ < 4 * direct.sd_).all() and (found.sd_ > direct.sd_ / 4).all()


# What is refused.


def test_a_covariate_that_varies_no_more_than_its_noise_is_named() -> None:
    """Not the constant, nor a covariate that goes along with it and is known well."""
    rng = np.random.default_rng(6)
    degree = rng.integers(1, 4, 8000)
    working = np.clip(0.74 + 0.03 * degree + rng.normal(0, 0.04, degree.size), 0, 1)
    pay = np.clip(1.5 * degree + rng.normal(0, 1, degree.size), 0, 7.9)
    schema = sf.Schema(
        {
            "degree": sf.Ordinal((1, 2, 3)),
            "working": sf.Numeric(0, 1, bins=20),
            "pay": sf.Numeric(0, 8, bins=8),
        }
    )
    table = {"degree": degree, "working": working, "pay": pay}
    release = sf.randomize(table, sf.Scheme.for_gamma(schema, 3), rng=sf.experiment(4))
    for names in (["working"], ["degree", "working"]):
        with pytest.raises(
            EstimationError, match="too little is known of 'working' under this noise: .* how much it varies"
        ):
            Regression("gaussian").fit(release, target="pay", names=names)
    assert "degree" in Regression("gaussian").fit(release, target="pay", names=["degree"]).terms_


@pytest.mark.parametrize("source", [EXACT, RELEASE], ids=["exact", "randomized"])
def test_collinear_covariates_are_named(source) -> None:
    for family, target in (("gaussian", "income"), ("logistic", "ill"), ("ordinal", "grade")):
        with pytest.raises(EstimationError, match="sex=M"):
            Regression(family).fit(source, target=target, names=["sex", "C(sex)", "age"])
    with pytest.raises(EstimationError, match="'sex' is named twice"):
        Regression("logistic").fit(source, target="ill", names=["sex", "sex"])


def test_a_copy_of_a_covariate_that_was_randomized_by_itself_is_named() -> None:
    schema = sf.Schema({name: sf.Categorical(("a", "b")) for name in ("x", "copy", "other", "y")})
    rng = np.random.default_rng(2)
    x, other = rng.integers(0, 2, 3000), rng.integers(0, 2, 3000)
    codes = {"x": x, "copy": x, "other": other, "y": (rng.random(3000) < 0.3 + 0.3 * x).astype(int)}
    scheme = sf.Scheme(schema, {name: c.symmetric(2, 0.2) for name in schema})
    release = sf.randomize(schema.decode(codes), scheme, rng=sf.experiment(1))
    for family in ("gaussian", "logistic"):
        with pytest.raises(EstimationError, match=r"(x=b|copy=b).* (beyond what the other covariates|apart)"):
            Regression(family).fit(release, target="y")


def test_of_covariates_that_noise_does_not_tell_apart_one_to_leave_out_is_named() -> None:
    """Of eight names, "leave it out" said of none that it was meant."""
    from sfumato.learn.regression.collinear import HardlyVariesError, refuse_collinear

    terms, columns = ["Intercept", "clear", "mixed", "weak"], np.array([[1.0, 2, 3, 1], [0, 1, 1, 0.5], [0, 0, 1, 0.5]])
    gram = columns.T @ columns - np.diag([0, 0, 0.1, 0.1])
    with pytest.raises(
        HardlyVariesError, match=r"clear.*weak apart: .*, or leave one of them out, weak to begin with$"
    ):
        refuse_collinear(terms, gram, lambda directions: np.full(directions.shape[1], 0.01))


@pytest.mark.parametrize(
    ("options", "request_", "said"),
    [
        ({"family": "poisson"}, {"target": "ill"}, "family must be one of gaussian, logistic, ordinal, got 'poisson'"),
        ({"cov": "HC9"}, {"target": "income"}, "cov must be one of"),
        ({"through": "luck"}, {"target": "income"}, "through must be one of"),
        ({}, {}, "needs a target"),
        ({}, {"target": "height"}, "the target 'height' is not in the release"),
        ({}, {"target": "income", "names": ["age", "height"]}, "the term 'height' is unknown"),
        ({}, {"target": "income", "names": ["age:height"]}, "the term 'height' is unknown"),
        ({}, {"target": "income", "names": ["age", "income"]}, "the target 'income' stands among the covariates"),
        ({}, {"target": "income", "names": ["age:income"]}, "the target 'income' stands among the covariates"),
        ({}, {"target": "income", "names": []}, "at least one attribute"),
        ({}, {"target": "income", "names": "age"}, "names must be a list"),
        ({}, {"target": "income", "names": [3]}, "names must be a list of attributes and terms"),
        ({}, {"target": "income", "names": ["age"], "formula": "income ~ age"}, "names or a formula, not both"),
        ({}, {"formula": "income age"}, 'reads "response ~ covariates"'),
        ({}, {"formula": "income ~ age + height"}, "the formula names 'height'"),
        ({}, {"formula": "income ~ age +* sex"}, "cannot be read"),
        ({}, {"formula": "income ~ center(age)"}, "looks at the data"),
        ({}, {"formula": "income ~ log(age - 50)"}, "no number|cannot be read"),
        ({}, {"formula": "income ~ income + age"}, "stands among the covariates"),
        ({"event": "yes"}, {"target": "income"}, "event is for the logistic family"),
        ({"family": "logistic"}, {"target": "grade"}, "has 3 values, and the logistic family takes two"),
        ({"family": "logistic", "event": "z"}, {"target": "grade"}, "event must be a value"),
    ],
)  # fmt: skip
def test_bad_requests_get_one_clear_line(options, request_, said) -> None:
    for source in (EXACT, RELEASE):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            with pytest.raises(SfumatoError, match=said):
                Regression(**options).fit(source, **request_)


def test_a_response_without_order_or_with_one_class_is_refused() -> None:
    schema = sf.Schema({"x": sf.Categorical(("a", "b")), "y": sf.Categorical(("r", "g", "b"))})
    rng = np.random.default_rng(1)
    table = schema.decode({"x": rng.integers(0, 2, 90), "y": rng.integers(0, 3, 90)})
    for family, said in (("gaussian", "unordered values, which have no mean"), ("ordinal", "declare it ordinal")):
        with pytest.raises(EstimationError, match=said):
            Regression(family).fit(sf.evidence(table, schema), target="y")
    same = schema.decode({"x": rng.integers(0, 2, 90), "y": np.zeros(90, dtype=np.int64)})
    with pytest.raises(EstimationError, match="only the class 'r' of 'y' occurs"):
        Regression("logistic", event="r").fit(sf.evidence(same, schema), target="y")


def test_perfect_separation_is_said() -> None:
    schema = sf.Schema({"x": sf.Categorical(("a", "b")), "y": sf.Categorical(("no", "yes"))})
    x = np.arange(80) % 2
    with pytest.warns(ConvergenceWarning, match="perfectly"):
        found = Regression("logistic").fit(sf.evidence(schema.decode({"x": x, "y": x}), schema), target="y")
    assert not found.converged_ and "Converged" in found.summary()


def test_a_class_that_may_be_nobodys_is_refused() -> None:
    schema = sf.Schema({"y": sf.Categorical(("no", "yes")), "x": sf.Numeric(0, 50, bins=5)})
    scheme = sf.Scheme.for_gamma(schema, gamma=9)
    table = {"y": ["no"] * 400, "x": np.linspace(0, 49.9, 400)}
    for seed in range(4):
        release = sf.randomize(table, scheme, rng=sf.experiment(seed))
        with pytest.raises(EstimationError, match=r"whether anybody holds 'yes'|only the class 'no'"):
            Regression("logistic").fit(release, target="y")


def test_covariates_that_hardly_anybody_leaves_empty_are_taken_as_numbers():
    rng = np.random.default_rng(5)
    schema = sf.Schema(
        {"x": sf.Ordinal(tuple(range(6)), nullable=True), "y": sf.Ordinal(tuple(range(8)))},
    )
    x = rng.integers(0, 6, 20_000)
    y = np.clip(np.rint(0.8 * x + 1 + rng.normal(0, 0.7, x.size)), 0, 7).astype(int)
    some = [None if i < 20 else int(value) for i, value in enumerate(x)]
    release = sf.randomize({"x": some, "y": y}, sf.Scheme.for_gamma(schema, gamma=12), rng=sf.experiment(6))
    clear = sf.learn.Regression("gaussian").fit(sf.evidence({"x": some, "y": y}, schema), target="y")
    assert clear.terms_ == ["Intercept", "x", "x=no answer"] and clear.hardly_silent_ == {}
    for asked in ({"target": "y", "names": ["x"]}, {"formula": "y ~ x"}):
        for family in ("gaussian", "ordinal"):
            found = sf.learn.Regression(family).fit(release, **asked)
            assert "x=no answer" not in found.terms_ and list(found.hardly_silent_) == ["x"]
            assert "too few to tell" in found.summary()
            if family == "gaussian":
                place = found.terms_.index("x")
                assert abs(found.coef_[place] - clear.coef_[1]) < 5 * found.sd_[place] < 0.2
    factor = sf.learn.Regression("gaussian").fit(release, formula="y ~ C(x)")
    assert len(factor.terms_) == 6 and list(factor.hardly_silent_) == ["x"]
    nobody = sf.evidence({"x": [value or 0 for value in some], "y": y}, schema)
    assert sf.learn.Regression("gaussian").fit(nobody, target="y").terms_ == ["Intercept", "x"]


def test_rows_without_a_response_do_not_count_in_a_score() -> None:
    schema = sf.Schema({"x": sf.Categorical(("a", "b")), "y": sf.Categorical(("no", "yes"), nullable=True)})
    table = {"x": list("aaabbba") * 10, "y": ["no", "no", "yes", "yes", "yes", "no", None] * 10}
    model = Regression("logistic").fit(sf.evidence(table, schema), target="y", names=["x"])
    assert model.score(table) == pytest.approx(2 / 3)


def test_what_does_not_vary_cannot_be_explained() -> None:
    schema = sf.Schema({"x": sf.Categorical(("a", "b")), "y": sf.Numeric(0, 10, bins=5)})
    table = {"x": ["a", "b"] * 20, "y": [1.0, 9.0, 3.0, 7.0] * 10}
    model = Regression("gaussian").fit(sf.evidence(table, schema), target="y")
    with pytest.raises(EstimationError, match="does not vary"):
        model.score({"x": ["a", "b"], "y": [3.0, 3.0]})
    with pytest.raises(EstimationError, match="must hold numbers"):
        model.score({"x": ["a", "b"]}, ["low", "high"])


def test_ranks_whose_numbers_do_not_rise_count_by_their_places() -> None:
    """As in a mean: rank 5, 3, 1 from worst to best would turn the sign of a coefficient."""
    schema = sf.Schema({"rank": sf.Ordinal((5, 3, 1)), "y": sf.Numeric(0, 3, bins=3)})
    source = sf.evidence({"rank": [5, 3, 1] * 20, "y": [0.5, 1.5, 2.5] * 20}, schema)
    assert source.mean("rank").value == pytest.approx(1.0)
    assert Regression("gaussian").fit(source, target="y").coef_ == pytest.approx([0.5, 1.0])
    assert Encoding(schema, ["rank"]).table(0).ravel().tolist() == [0, 1, 2]


@pytest.mark.parametrize("nullable", [False, True])
@pytest.mark.parametrize("rare", ["first", "last"])
def test_values_that_perhaps_nobody_holds_do_not_stop_a_regression(rare, nullable):
    """Also where hardly anybody left the answer out: those stand at the mean of every column of the attribute."""
    rng = np.random.default_rng(7)
    values = ("none", "a", "b", "c") if rare == "first" else ("a", "b", "c", "none")
    schema = sf.Schema({"g": sf.Categorical(values, nullable=nullable), "y": sf.Ordinal(tuple(range(8)))})
    g = rng.choice(["a", "b", "c"], 20_000, p=[0.5, 0.3, 0.2])
    effect = {"a": 2, "b": 3, "c": 5}
    y = np.clip(np.rint([effect[one] for one in g] + rng.normal(0, 0.8, g.size)), 0, 7).astype(int)
    table = {"g": g.tolist(), "y": y.tolist()}
    release = sf.randomize(table, sf.Scheme.for_gamma(schema, 9), rng=sf.experiment(3))
    found = sf.learn.Regression("gaussian").fit(release, target="y", names=["g"])
    assert found.terms_ == ["Intercept", "g=b", "g=c"] and list(found.rare_values_.records) == ["g=none"]
    assert found.rare_values_.compared_with == ({"g": "a"} if rare == "first" else {})
    assert "too few to tell, taken as the mean of the others: g=none" in found.summary()
    found.rare_values_.records.update({f"g={i}": 1.0 for i in range(30)})
    assert "g=none" in found.summary() and "and 28 more" in found.summary()
    means = [y[g == one].mean() for one in "abc"]
    truth = np.array([means[0], means[1] - means[0], means[2] - means[0]])
    assert (np.abs(found.coef_ - truth) < 5 * found.sd_).all() and found.sd_.max() < 0.3
    assert np.isfinite(found.predict({"g": ["none", "a"]})).all()
    exact = sf.learn.Regression("gaussian").fit(
        sf.evidence(table, sf.Schema({**schema, "g": sf.Categorical(("a", "b", "c"))})), target="y"
    )
    assert exact.rare_values_.records == {}


def test_covariates_that_are_empty_together_with_the_response_do_not_stop_a_regression():
    rng = np.random.default_rng(4)
    schema = sf.Schema(
        {"x": sf.Ordinal(tuple(range(5)), nullable=True), "y": sf.Ordinal(tuple(range(8)), nullable=True)}
    )
    x = rng.integers(0, 5, 12_000)
    y = np.clip(np.rint(1 + x + rng.normal(0, 0.8, x.size)), 0, 7).astype(int)
    gone = rng.random(x.size) < 0.1
    table = {
        "x": [None if g else int(v) for v, g in zip(x, gone, strict=True)],
        "y": [None if g else int(v) for v, g in zip(y, gone, strict=True)],
    }
    for seed in range(3):
        release = sf.randomize(table, sf.Scheme.for_gamma(schema, 9), rng=sf.experiment(seed))
        found = sf.learn.Regression("gaussian").fit(release, target="y", names=["x"])
        assert found.terms_ == ["Intercept", "x"] and list(found.hardly_silent_) == ["x"]
        assert abs(found.coef_[1] - np.polyfit(x[~gone], y[~gone], 1)[0]) < 5 * found.sd_[1] < 0.5


def test_errors_that_tell_nothing_are_pointed_out():
    table = {"x": [0, 1, 2, 3] * 50, "y": [0, 1, 3, 2] * 50}
    schema = sf.Schema({name: sf.Ordinal((0, 1, 2, 3)) for name in table})
    found = sf.learn.Regression("gaussian").fit(sf.evidence(table, schema), target="y")
    assert "nothing is told" not in found.summary()
    found.cov_ = 1e6 * np.eye(2)
    assert "so wide that nothing is told: take fewer covariates" in found.summary()


def test_errors_through_the_joint_model_are_those_of_replication() -> None:
    """Under strong privacy the noise of single cells was taken for errors of the model: errors were three times too
    wide, and a hundred times where its parameters were too many to tell."""
    rng, found, said = np.random.default_rng(8), [], []
    scheme = sf.Scheme.for_gamma(SCHEMA, 4)
    for seed in range(40):
        release = sf.randomize(SCHEMA.decode(people(4000, seed)), scheme, rng=rng)
        fitted = Regression("ordinal", through="model").fit(release, target="grade")
        found.append(fitted.coef_)
        said.append(fitted.sd_)
    ratio = np.sqrt(np.mean(np.square(said), axis=0)) / np.std(found, axis=0, ddof=1)
    assert (ratio > 0.65).all() and (ratio < 1.6).all()


def test_a_model_whose_parameters_are_too_many_is_jackknifed(monkeypatch) -> None:
    monkeypatch.setattr(import_module("sfumato.evidence.model.information"), "FEATURE_LIMIT", 0)
    release = sf.randomize(TABLE, SCHEME, rng=sf.experiment(9))
    jackknifed = Regression("ordinal", through="model").fit(release, target="grade", names=["age", "sex"])
    assert jackknifed.covariance_.startswith("jackknife") and jackknifed.freedom_ == 9
    monkeypatch.undo()
    told = Regression("ordinal", through="model").fit(release, target="grade", names=["age", "sex"])
    assert "own parameters" in told.covariance_
    assert (np.abs(np.log(jackknifed.sd_ / told.sd_)) < 1).all()


def test_a_jackknife_takes_rows_in_any_order(monkeypatch) -> None:
    """Every tenth row of sorted ones is nearly the same sample each time, which told an eighth of the errors."""
    monkeypatch.setattr(import_module("sfumato.evidence.model.information"), "FEATURE_LIMIT", 0)
    part = sf.randomize(TABLE, SCHEME, rng=sf.experiment(9)).parts[0]
    rows = part.arrow().select(["ill", "sex"])
    scheme = sf.Scheme(SCHEMA.select(["ill", "sex"]), {"ill": MIXED["ill"], "sex": MIXED["sex"]})
    errors = []
    for own in (rows, rows.sort_by([("ill", "ascending"), ("sex", "ascending")])):
        found = Regression("logistic", through="model").fit(sf.Release(own, scheme), target="ill", names=["sex"])
        assert found.covariance_.startswith("jackknife")
        errors.append(found.sd_)
    assert (np.abs(np.log(errors[1] / errors[0])) < 1).all()


def test_what_unbiased_scores_show_a_model_to_be_wrong_by_counts_as_error() -> None:
    """Pairs know nothing of an exclusive or, and the interaction is shrunk away: the errors say so."""
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 2, (2, 8000))
    y = np.where(rng.random(8000) < 0.8, a ^ b, 1 - (a ^ b))
    schema = sf.Schema({name: sf.Categorical((0, 1)) for name in "aby"})
    scheme = sf.Scheme(schema, {name: c.symmetric(2, 0.1) for name in schema})
    release = sf.randomize({"a": a, "b": b, "y": y}, scheme, rng=sf.experiment(3))
    crossed = Regression("logistic", through="model").fit(release, formula="y ~ a * b")
    assert "wrong by" in crossed.covariance_
    low, high = crossed.interval()
    exact = Regression("logistic").fit(sf.evidence({"a": a, "b": b, "y": y}, schema), formula="y ~ a * b")
    assert ((low < exact.coef_) & (exact.coef_ < high)).all() and (np.abs(exact.coef_ - crossed.coef_) > 1).any()
    simple = Regression("logistic", through="model").fit(RELEASE, target="ill", names=["age", "sex"])
    assert "wrong by" not in simple.covariance_


def test_a_summary_says_what_bins_and_clipping_leave_out() -> None:
    """Coefficients of numbers in coarse bins lay outside their intervals, and nothing said why."""
    rng = np.random.default_rng(1)
    age = rng.uniform(20, 70, 3000)
    table = {"age": age, "sex": rng.choice(["F", "M"], 3000)}
    table["income"] = (rng.lognormal(2, 0.6, 3000) + 0.1 * age).clip(max=40)
    schema = sf.Schema(
        {
            "age": sf.Numeric(20, 70, bins=5),
            "sex": sf.Categorical(("F", "M")),
            "income": sf.Numeric(0, 40, bins=10, clip=True),
        }
    )
    ev = sf.evidence(sf.randomize(table, sf.Scheme.for_gamma(schema, 15), rng=sf.experiment(1)))
    both = Regression().fit(ev, target="income", names=["age", "sex"])
    assert both.binned_.off_by == {"income": 2.0, "age": 5.0} and both.binned_.clipped == ("income",)
    assert "middle of their bin, and may lie off it: income (by up to 2), age (by up to 5)" in both.summary()
    assert "the ends: income" in both.summary()
    dummies = Regression("logistic").fit(ev, target="sex", names=["C(age)"])
    assert "Bins" not in dummies.summary() and "Clipped" not in dummies.summary()


def test_a_summary_says_what_dates_and_ordered_words_count() -> None:
    """A coefficient of a date stood there without a unit."""
    rng = np.random.default_rng(3)
    schema = sf.Schema(
        {
            "day": sf.Date("2019-01", "2019-06", by="month"),
            "pain": sf.Ordinal(("none", "mild", "severe")),
            "ill": sf.Categorical(("no", "yes")),
        }
    )
    table = {
        "day": [f"2019-0{month}-11" for month in rng.integers(1, 7, 500)],
        "pain": rng.choice(["none", "mild", "severe"], 500),
        "ill": rng.choice(["no", "yes"], 500),
    }
    found = Regression("logistic").fit(sf.evidence(table, schema), target="ill", names=["day", "pain"])
    assert "Counted:      day in months after 2019-01, pain in places from 0\n" in found.summary()
    dummies = Regression("logistic").fit(sf.evidence(table, schema), target="ill", names=["C(day)"])
    assert "Counted" not in dummies.summary()


@pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
def test_numbers_with_a_bin_each_or_with_noise_are_said_to_lie_in_no_bin() -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(0, 10, 3000).astype(float)
    schema = sf.Schema({"x": sf.Numeric(0, 10, bins=10, step=1), "y": sf.Numeric(-50, 70, bins=4)})
    scheme = sf.Scheme(schema, {"x": c.windows(10, 20), "y": c.gaussian(2.0)})
    released = sf.randomize({"x": x, "y": x + rng.normal(0, 3, 3000)}, scheme, rng=sf.experiment(1))
    found = Regression().fit(sf.evidence(released), target="y", names=["x"])
    assert not found.binned_.off_by and "Bins" not in found.summary()
    coded = sf.Scheme(schema, {"x": c.windows(10, 20), "y": c.windows(4, 20)})
    rows = {"x": x, "y": x + rng.normal(0, 3, 3000)}
    both = sf.Release.concat([released, sf.randomize(rows, coded, rng=sf.experiment(2))])
    assert Regression().fit(both, target="y", names=["x"]).binned_.off_by == {"y": 15.0}


def test_a_summary_stays_in_line_beside_bins_and_long_labels() -> None:
    """A bin is printed longer than its label, and a long pair of labels pushed the numbers off the screen."""
    rng = np.random.default_rng(3)
    grades = (
        "very dissatisfied with nearly everything",
        "neither one nor the other, really",
        "satisfied in all respects",
    )
    schema = sf.Schema(
        {"pay": sf.Numeric(0, 40000, bins=4), "place": sf.Categorical(("a", "b")), "grade": sf.Ordinal(grades)}
    )
    table = {
        "pay": rng.uniform(0, 40000, 900),
        "place": rng.choice(["a", "b"], 900),
        "grade": rng.choice(grades, 900),
    }
    ev = sf.evidence(table, schema)
    text = sf.learn.Regression("ordinal").fit(ev, target="grade", names=["C(pay)", "place"]).summary()
    lines = text.split("\n")
    assert max(map(len, lines)) == 78
    numbered = [line for line in lines if re.search(r"\d\.\d{4}  ", line)]
    assert len(numbered) == 6 and {len(line) for line in numbered} == {78}
    assert "C(pay)=[10,000 to 20,000)" in text and readable_bins(text) == text


def _aircraft(n: int, seed: int) -> dict[str, list[int | None]]:
    """The mass of an aircraft nearly tells how many engines it has, and one in fifteen masses is not known."""
    draw = np.random.default_rng(seed)
    mass = draw.choice(5, n, p=[0.05, 0.1, 0.2, 0.55, 0.1])
    engines = np.digitize(4.4 * mass + draw.logistic(size=n), [6.2, 15.0, 17.5])
    silent = draw.random(n) < 0.065
    told = [None if gone else int(one) + 1 for one, gone in zip(mass, silent, strict=True)]
    return {"mass": told, "engines": [int(one) + 1 for one in engines]}


#: The slope of raw records without end, where those whose mass is not known have a constant or stand at the mean.
_STEEP = 3.66
_AIRCRAFT = sf.Schema({"mass": sf.Ordinal((1, 2, 3, 4, 5), nullable=True), "engines": sf.Ordinal((1, 2, 3, 4))})


@pytest.mark.filterwarnings("ignore::sfumato.errors.ConvergenceWarning")
def test_slopes_too_steep_for_unbiased_scores_are_wide_and_said_to_be_shrunk():
    scheme = sf.Scheme.for_gamma(_AIRCRAFT, 3)
    by_model, by_scores = [], []
    for seed in range(60):
        release = sf.randomize(_aircraft(6000, 1000 + seed), scheme, rng=sf.experiment(seed))
        found = Regression("ordinal").fit(release, target="engines", names=["mass"])
        low, high = found.interval()
        held = low[0] <= _STEEP <= high[0]
        if "joint model" in found.method_:
            by_model.append(held)
            assert "steep slopes towards 0" in found.method_ and "Not known:" in found.summary()
            continue
        by_scores.append((held, abs(found.coef_[0] - _STEEP) <= 1.96 * found.sd_[0]))
        if np.isinf(high[0]):
            assert "may be: steeper slopes fit as well under this noise" in found.summary()
    assert len(by_model) >= 3 and np.mean(by_model) > 0.8
    held, by_errors = np.mean(by_scores, axis=0)
    assert len(by_scores) >= 15 and held > 0.8
    assert by_errors < held - 0.1  # the negative control


@pytest.mark.filterwarnings("ignore::sfumato.errors.ConvergenceWarning")
@pytest.mark.parametrize("listed", [1 << 17, 1], ids=["all cells", "record by record"])
def test_slopes_without_end_are_no_solution(listed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores of certain responses are 0, which was taken for a slope of 190 million with an error of .14."""
    monkeypatch.setattr("sfumato.learn.regression.fitting.LISTED_CELLS", listed)
    release = sf.randomize(_aircraft(6000, 1055), sf.Scheme.for_gamma(_AIRCRAFT, 3), rng=sf.experiment(55))
    found = Regression("ordinal").fit(release, target="engines", names=["mass"])
    assert found.converged_ and np.abs(found.coef_).max() < 100


@pytest.mark.filterwarnings("ignore::sfumato.errors.ConvergenceWarning")
def test_the_slope_of_a_rare_value_that_tells_the_response_is_open() -> None:
    """One in twenty-five gets it free, and none of these pays: their log odds have no end."""
    schema = sf.Schema({"free": sf.Categorical(("no", "yes")), "pays": sf.Categorical(("no", "yes"))})
    draw = np.random.default_rng(3)
    free = draw.random(5000) < 0.04
    table = schema.decode({"free": free.astype(int), "pays": ((draw.random(5000) < 0.5) & ~free).astype(int)})
    scheme, is_open = sf.Scheme.for_gamma(schema, 9), {True: [], False: []}
    for seed in range(40):
        found = Regression("logistic").fit(sf.randomize(table, scheme, rng=sf.experiment(seed)), target="pays")
        is_open[found.method_.startswith("corrected")].append(np.isneginf(found.interval()[0][1]))
        assert np.isfinite(found.interval()[1][1])
    for own in is_open.values():  # whether corrected scores have a solution, or the joint model answers instead
        assert len(own) > 10 and np.mean(own) > 0.85


def test_a_search_without_end_is_given_up_in_silence() -> None:
    """Numpy warned of invalid values in a product, in the midst of the summary."""

    def equations(beta: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        return np.array([1.0, 1.0]), np.diag([1e-310, 1.0]) + 0 * beta

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not solve(equations, np.zeros(2)).converged


def test_slopes_that_are_known_are_not_open() -> None:
    steep = sf.Scheme(_AIRCRAFT, {"mass": c.identity(6), "engines": c.symmetric(4, gamma=50)})
    release = sf.randomize(_aircraft(6000, 2), steep, rng=sf.experiment(1))
    found = Regression("ordinal").fit(release, target="engines", names=["mass"])
    assert np.isfinite(found.interval()).all() and "Not known" not in found.summary()
    low, high = found.interval()
    assert low[0] < _STEEP < high[0]


@pytest.mark.filterwarnings("ignore::sfumato.errors.ConvergenceWarning")
@pytest.mark.parametrize("listed", [1 << 17, 1], ids=["all cells", "record by record"])
def test_what_no_unbiased_scores_solve_has_their_errors_however_large_the_model(
    listed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, scheme = _aircraft(6000, 2), sf.Scheme.for_gamma(_AIRCRAFT, 3)
    releases = [sf.randomize(rows, scheme, rng=sf.experiment(seed)) for seed in range(12)]
    fits = [Regression("ordinal").fit(release, target="engines", names=["mass"]) for release in releases]
    release, small = next((r, f) for r, f in zip(releases, fits, strict=True) if "joint model" in f.method_)
    monkeypatch.setattr(import_module("sfumato.learn.regression.cell_weights").ModelledCells, "tells_spread", False)
    monkeypatch.setattr(import_module("sfumato.learn.regression.fitting"), "LISTED_CELLS", listed)
    large = Regression("ordinal").fit(release, target="engines", names=["mass"])
    assert large.covariance_ == small.covariance_ and "unbiased scores" in large.covariance_
    assert "Not known:" in large.summary()
    np.testing.assert_allclose(large.cov_, small.cov_, rtol=1e-6)


def test_scores_are_searched_from_no_effect_where_the_likeliest_table_leads_nowhere():
    """Of 6000 records in 15,360 cells the likeliest table has a year without an answer that tells the response."""
    schema = sf.Schema(
        {
            "amount": sf.Numeric(0, 40, bins=40),
            "rate": sf.Numeric(0, 16, bins=16),
            "years": sf.Ordinal(tuple(range(11)), nullable=True),
            "long": sf.Categorical(("no", "yes")),
        }
    )
    draw, n = np.random.default_rng(4), 6000
    amount, rate = 40 * draw.beta(2, 4, n), 16 * draw.beta(2, 3, n)
    years = draw.integers(0, 11, n).astype(object)
    years[draw.random(n) < 0.1] = None
    long = np.where(-3 + 0.08 * amount + 0.2 * rate + draw.logistic(size=n) > 0, "yes", "no")
    rows = {"amount": amount, "rate": rate, "years": years.tolist(), "long": long}
    release = sf.randomize(rows, sf.Scheme.for_gamma(schema, 9), rng=sf.experiment(3))
    found = Regression("logistic").fit(release, target="long", names=["amount", "rate", "years"])
    assert found.method_ == "corrected scores on unbiased cells" and found.converged_
    assert abs(found.coef_[1] - 0.08) < 4 * found.sd_[1] < 0.2


def test_refits_for_errors_are_told_one_by_one():
    release = sf.randomize(_aircraft(3000, 2), sf.Scheme.for_gamma(_AIRCRAFT, 9), rng=sf.experiment(0))
    told: list[tuple[int, int]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("sfumato.learn.regression.cell_weights").ModelledCells, "tells_spread", False)
        Regression("ordinal", through="model").fit(
            release, target="engines", names=["mass"], progress=lambda done, total: told.append((done, total))
        )
    assert told == [(done, 10) for done in range(10)]


def test_a_constant_that_nobody_named_is_not_what_is_refused():
    """Mass and sky are left out together, so that the one silence is hardly told from the other."""
    schema = sf.Schema(
        {
            "mass": sf.Ordinal((1, 2, 3, 4, 5), nullable=True),
            "sky": sf.Categorical(("a", "b", "c"), nullable=True),
            "y": sf.Ordinal((0, 1, 2)),
        }
    )
    draw = np.random.default_rng(3)
    silent = draw.random(8000) < 0.15
    mass, sky = draw.integers(1, 6, 8000).astype(object), draw.choice(["a", "b", "c"], 8000).astype(object)
    mass[silent] = sky[silent] = None
    rows = {"mass": mass.tolist(), "sky": sky.tolist(), "y": draw.integers(0, 3, 8000)}
    fitted = 0
    for seed in range(8):
        release = sf.randomize(rows, sf.Scheme.for_gamma(schema, 3), rng=sf.experiment(seed))
        try:
            found = Regression().fit(release, target="y", names=["mass", "sky"])
        except EstimationError as problem:
            assert "no answer" not in str(problem)
            continue
        fitted += 1
        assert found.hardly_silent_ and "taken as the mean" in found.summary()
    assert fitted >= 4


def test_a_covariate_under_noise_is_refused_for_its_noise():
    gram, spread = np.array([[10.0, 1.0], [1.0, -2.0]]), lambda v: np.ones(v.shape[1])
    with pytest.raises(EstimationError, match="too little is known of 'height' under this noise.*weaker channel"):
        refuse_collinear(["Intercept", "height"], gram, spread)
    with pytest.raises(EstimationError, match="no record is estimated to hold 'height'"):
        refuse_collinear(["Intercept", "height"], np.diag([10.0, 0.0]))
