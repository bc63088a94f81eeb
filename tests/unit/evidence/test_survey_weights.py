"""Survey weights: questions speak of the weighted records."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import channels as c
from sfumato.errors import EstimationError, without_warnings

N = 3000
RNG = np.random.default_rng(8)
SEX = RNG.choice(["F", "M"], N)
X = np.clip(RNG.gamma(3, 8, N) + 20 * (SEX == "M"), 0, 99)
W = np.where(SEX == "M", 1.0, 5.0)
TABLE = pa.table({"sex": SEX, "x": X, "w": W})
SCHEMA = sf.Schema({"sex": sf.Categorical(("F", "M")), "x": sf.Numeric(0, 100, bins=20), "w": sf.Ordinal((1.0, 5.0))})
SCHEME = sf.Scheme(SCHEMA, {"sex": c.symmetric(2, 0.1), "x": c.windows(20, 20), "w": c.identity(2)})
MIDDLE = SCHEMA["x"].midpoints[np.minimum(X // 5, 19).astype(int)]


@pytest.fixture(scope="module")
def release() -> sf.Release:
    return sf.randomize(TABLE, SCHEME, rng=sf.experiment(5))


def test_exact_weighted_mean(release: sf.Release) -> None:
    fives = sf.Numeric(0, 100, bins=20, step=5)  # one number a bin
    x = np.minimum(X // 5, 19) * 5
    exact = sf.evidence(
        TABLE.set_column(1, "x", pa.array(x)), sf.Schema({"sex": SCHEMA["sex"], "x": fives}), weights="w"
    )
    assert exact.mean("x").value[0] == pytest.approx(np.average(x, weights=W))
    assert exact.share("sex").value[0] == pytest.approx(W[SEX == "F"].sum() / W.sum())
    influence = W * (x - np.average(x, weights=W)) / W.sum()
    assert exact.mean("x").population().sd[0] == pytest.approx(np.sqrt((influence**2).sum()), rel=1e-3)
    assert exact.mean("x").sd[0] == pytest.approx(0, abs=1e-6)


def test_weighted_answers_hold_the_truth(release: sf.Release) -> None:
    ev = sf.evidence(release, weights="w")
    truth = np.average(MIDDLE, weights=W)
    found = ev.mean("x")
    low, high = found.limits(5.0)
    assert low[0] < truth < high[0] and abs(truth - MIDDLE.mean()) > high[0] - truth
    assert "its weight says" in repr(found)
    by = ev.mean("x", by="sex")
    low, high = by.limits(5.0)
    assert ((low < [MIDDLE[s == SEX].mean() for s in "FM"]) & (high > [MIDDLE[s == SEX].mean() for s in "FM"])).all()
    assert ev.quantile("x").value[0] < sf.evidence(release).quantile("x").value[0]


def test_weights_of_one_change_nothing(release: sf.Release) -> None:
    plain, ones = sf.evidence(release).mean("x", by="sex"), sf.evidence(release, weights=np.ones(N)).mean("x", by="sex")
    assert ones.value == pytest.approx(plain.value) and ones.cov == pytest.approx(plain.cov)
    assert ones.population().cov == pytest.approx(plain.population().cov)


def test_a_column_beside_the_scheme_will_do() -> None:
    two = sf.randomize(
        TABLE.select(["sex", "x"]),
        sf.Scheme(SCHEMA.select(["sex", "x"]), {"sex": SCHEME["sex"], "x": SCHEME["x"]}),
        rng=sf.experiment(1),
    )
    rows = two.arrow().append_column("v", pa.array(np.linspace(1, 2, N)))
    ev = sf.evidence(sf.Release(rows, two.scheme), weights="v")
    assert ev.mean("x").beside["answered"][0] == pytest.approx(1.5 * N)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(N - 1), "one for each row"),
        (np.append(np.ones(N - 1), -1.0), "must not be negative"),
        (np.append(np.ones(N - 1), np.nan), "1 row has none"),
        (np.zeros(N), "all be 0"),
        (["a"] * N, "must be the name of a column"),
        ("sex", "is randomized"),
        ("weight", "no column"),
    ],
)
def test_bad_weights_get_one_line(release: sf.Release, weights: Any, message: str) -> None:
    with pytest.raises(EstimationError, match=message):
        sf.evidence(release, weights=weights)


def test_what_does_not_follow_weights_says_so(release: sf.Release) -> None:
    ev = sf.evidence(release, weights="w")
    with pytest.raises(EstimationError, match="counts once"):
        ev.counts("sex")
    with pytest.raises(EstimationError, match="leave the survey weights out"):
        sf.learn.NaiveBayes().fit(ev, target="sex")
    with pytest.raises(EstimationError, match="no survey weights"):
        sf.evidence(release, method="model", weights="w")


@pytest.mark.parametrize("column", [[[1.0]] * N, [dt.date(2020, 1, 1)] * N])
def test_a_column_of_lists_or_dates_is_no_weight(column: list[Any]) -> None:
    with pytest.raises(EstimationError, match="weights: the column 'other' must hold numbers"):
        sf.evidence(TABLE.append_column("other", pa.array(column)), SCHEMA, weights="other")


def test_weighted_shares_of_a_population_have_wilsons_limits() -> None:
    """None among few does not say that there are none; records of equal weight are those without weights."""
    schema = sf.Schema({"held": sf.Categorical(("no", "yes"))})
    nobody = {"held": ["no"] * 30}
    weights = np.exp(np.random.default_rng(3).normal(0, 1, 30))
    low, high = sf.evidence(nobody, schema, weights=weights).share("held").population().interval()
    effective = weights.sum() ** 2 / (weights**2).sum()
    assert low[1] == 0 and high[1] == pytest.approx(1.96**2 / (effective + 1.96**2), rel=0.3)
    some = {"held": ["no"] * 25 + ["yes"] * 5}
    plain = sf.evidence(some, schema).share("held").population()
    alike = sf.evidence(some, schema, weights=np.full(30, 7.0)).share("held").population()
    np.testing.assert_allclose(np.array(alike.interval()), np.array(plain.interval()), rtol=1e-9)
    np.testing.assert_allclose(alike.sd, plain.sd, rtol=1e-9)


def test_weighted_shares_of_rare_values_hold_for_a_population() -> None:
    rng = np.random.default_rng(4)
    schema = sf.Schema({"held": sf.Categorical(("no", "yes"))})
    scheme = sf.Scheme.for_gamma(schema, 100)
    held = 0
    for _ in range(200):
        values, weights = rng.random(60) < 0.055, np.exp(rng.normal(0, 0.8, 60))
        rows = {"held": np.where(values, "yes", "no")}
        with without_warnings():
            release = sf.randomize(rows, scheme, order="keep", rng=sf.experiment(int(rng.integers(1 << 60))))
        low, high = sf.evidence(release, weights=weights).share("held").population().interval()
        held += low[1] <= 0.055 <= high[1]
    assert held >= 172  # fewer once in a million at .95
