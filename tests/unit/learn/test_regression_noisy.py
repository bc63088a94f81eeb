"""Regression where numbers carry additive noise: the noise's own moments are taken out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato import channels as c
from sfumato.cli.learn import app
from sfumato.errors import EstimationError
from sfumato.learn import Regression

pytestmark = pytest.mark.filterwarnings("ignore::sfumato.errors.DisclosureWarning")
SCHEMA = sf.Schema(
    {
        "age": sf.Numeric(0, 100, bins=10),
        "sex": sf.Categorical(("F", "M")),
        "pay": sf.Numeric(-100, 300, bins=10),
    }
)
NAMES = ["age", "sex", "age:sex"]
TRUE = np.array([5.0, 1.5, 20.0, -0.5])  # constant, age, sex=M, age:sex=M


def people(n: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    age, sex = rng.beta(2, 3, n) * 100, rng.random(n) < 0.4
    pay = TRUE[0] + TRUE[1] * age + TRUE[2] * sex + TRUE[3] * age * sex + rng.normal(0, 15, n)
    return {"age": age, "sex": np.where(sex, "M", "F"), "pay": pay.clip(-99, 299)}


def release(n: int, seed: int, age: Any = None, pay: Any = None, sex: Any = None) -> sf.Release:
    chosen = {"age": age or c.gaussian(20), "pay": pay or c.laplace(20), "sex": sex or c.symmetric(2, 0.1)}
    return sf.randomize(people(n, seed), sf.Scheme(SCHEMA, chosen), rng=sf.experiment(seed + 500))


def test_attenuation_is_taken_out_and_intervals_hold() -> None:
    """Slopes of noisy covariates come out unbiased; leaving the noise in (the control) they are far too small."""
    inside, values, naive = [], [], []
    for seed in range(40):
        found = Regression().fit(release(3000, seed), target="pay", names=NAMES)
        low, high = found.interval(0.95)
        inside.append((low <= TRUE) & (high >= TRUE))
        values.append(found.coef_)
        naive.append(_naive(seed))
    mean, sd = np.mean(values, axis=0), np.std(values, axis=0)
    assert (np.abs(mean - TRUE) < 4 * sd / np.sqrt(40)).all()
    assert 0.87 < np.mean(inside) <= 1
    assert np.mean(naive) < 0.75 * TRUE[1]


def _naive(seed: int) -> float:
    table = people(3000, seed)
    women = table["sex"] == "F"
    z = c.gaussian(20).randomize(table["age"], rng=seed + 900)
    return float(np.polyfit(z[women], table["pay"][women], 1)[0])


def test_without_noise_in_the_numbers_it_is_least_squares() -> None:
    """Hardly any noise: the coefficients and robust standard errors of the raw numbers."""
    table = people(2000, 3)
    found = Regression().fit(
        release(2000, 3, c.uniform(1e-9), c.uniform(1e-9), c.identity(2)), target="pay", names=NAMES
    )
    male = (table["sex"] == "M").astype(float)
    X = np.stack([np.ones(2000), table["age"], male, table["age"] * male], axis=1)
    beta, *_ = np.linalg.lstsq(X, table["pay"], rcond=None)
    np.testing.assert_allclose(found.coef_, beta, rtol=1e-5)
    left = table["pay"] - X @ beta
    inverse = np.linalg.inv(X.T @ X)
    cov = inverse @ (X * left[:, None] ** 2).T @ X @ inverse
    np.testing.assert_allclose(found.sd_, np.sqrt(np.diag(cov)), rtol=1e-4)
    assert "moments, the noise's own taken out" in found.summary()


def test_a_square_and_parts_under_different_noise() -> None:
    whole = sf.Release.concat([release(4000, 1), release(4000, 2, c.uniform(10), c.gaussian(5))])
    found = Regression().fit(whole, target="pay", names=NAMES)
    assert (np.abs(found.coef_ - TRUE) < 4.5 * found.sd_).all()
    assert found.scale_ is not None and 100 < found.scale_ < 450
    one = Regression().fit(release(3000, 4), target="age", names=["pay"])
    assert one.coef_[1] > 0 and (one.predict(people(50, 5)) > 0).any()


@pytest.mark.parametrize(("family", "target"), [("gaussian", "pay"), ("logistic", "sex")])
def test_noise_in_one_part_and_codes_in_another(family: str, target: str) -> None:
    parts = [release(4000, 1), release(4000, 2, age=c.windows(10, 20))]
    alone = [Regression(family).fit(part, target=target, names=["age"]) for part in parts]
    both = Regression(family).fit(sf.Release.concat(parts), target=target, names=["age"])
    assert (both.sd_ < 1.02 * np.minimum(alone[0].sd_, alone[1].sd_)).all()
    for one in alone:
        assert (np.abs(both.coef_ - one.coef_) < 4.5 * one.sd_).all()


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: Regression().fit(release(500, 1), target="pay", names=["C(age)"]), "needs more than the number"),
        (
            lambda: Regression("ordinal").fit(release(500, 1), target="pay", names=["age"]),
            "the target 'pay' carries additive noise",
        ),
        (lambda: Regression("logistic").fit(release(500, 1), target="sex", names=["C(age)"]), "needs more than"),
        (lambda: Regression(through="model").fit(release(500, 1), target="pay"), "no joint model is made"),
    ],
)
def test_refusals(call: Any, line: str) -> None:
    with pytest.raises(EstimationError, match=line):
        call()


def test_intervals_serve_the_other_families() -> None:
    found = Regression("logistic").fit(release(3000, 1, c.uniform(10)).in_intervals(), target="sex", names=["pay"])
    assert np.isfinite(found.coef_).all()


def test_the_command_says_how(tmp_path: Any) -> None:
    release(2000, 1, age=c.gaussian(4)).save(tmp_path / "r.parquet")
    words = ["regression", str(tmp_path / "r.parquet"), "--target", "pay", "--names", "age,sex"]
    said = CliRunner().invoke(app, words)
    assert said.exit_code == 0 and "noise's own taken out" in said.output and "cut into the bins" not in said.output
    other = [*words[:2], "--target", "sex", "--names", "pay", "--family", "logistic"]
    said = CliRunner().invoke(app, other)
    assert said.exit_code == 0 and "scores of smooth functions" in said.output and "cut into" not in said.output
    said = CliRunner().invoke(app, [*other, "--through", "model"])
    assert said.exit_code == 0 and "cut into the bins of the schema: age, pay" in said.output


@pytest.mark.parametrize("noise", [c.gaussian(15), c.laplace(10), c.uniform(40)], ids=lambda noise: noise.kind)
@pytest.mark.parametrize("family", ["logistic", "ordinal"])
def test_curves_of_noisy_numbers_come_out_unbiased(noise: Any, family: str) -> None:
    """The released numbers taken for true ones, the control, give a slope that is far too small."""
    values = ("no", "yes") if family == "logistic" else ("low", "middle", "high")
    schema = sf.Schema({"x": sf.Numeric(0, 100, bins=8), "g": sf.Categorical(("a", "b")), "y": sf.Ordinal(values)})
    limits = np.array([2.0]) if family == "logistic" else np.array([0.5, 2.0])
    scheme = sf.Scheme(schema, {"x": noise, "g": c.symmetric(2, 0.1), "y": c.symmetric(len(values), 0.1)})
    inside, slopes, naive = [], [], []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        x, g = 100 * rng.beta(2, 3, 3000), rng.random(3000) < 0.4
        y = (0.05 * x + 0.7 * g + rng.logistic(size=3000))[:, None] > limits
        table = {"x": x, "g": np.where(g, "b", "a"), "y": np.array(values)[y.sum(axis=1)]}
        found = Regression(family).fit(
            sf.randomize(table, scheme, rng=sf.experiment(seed)), target="y", names=["x", "g"]
        )
        at = found.terms_.index("x")
        low, high = found.interval()
        inside.append(low[at] <= 0.05 <= high[at])
        slopes.append(found.coef_[at])
        blurred = noise.randomize(x, rng=seed)
        naive.append(np.polyfit(blurred, y.sum(axis=1), 1)[0] / np.polyfit(x, y.sum(axis=1), 1)[0])
        assert found.converged_ and "smooth functions" in found.method_
    assert abs(np.mean(slopes) - 0.05) < 4.5 * np.std(slopes) / 5
    assert np.mean(inside) > 0.75 and np.mean(naive) < 0.8
