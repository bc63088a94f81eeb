"""Whatever engine holds a table, the numbers are the same: raw tables, releases, estimates, densities and learners."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import channels as c

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::sfumato.errors.SfumatoWarning"),
]
N = 4000
KEY = sf.new_key(study="engines")
SCHEMA = sf.Schema(
    {
        "sex": sf.Categorical(("F", "M")),
        "smoker": sf.Categorical(("no", "yes")),
        "age": sf.Numeric(0, 100, bins=5),
        "ill": sf.Categorical(("no", "yes")),
    }
)
SCHEME = sf.Scheme(
    SCHEMA,
    {"sex": c.binary(0.1, 0.1), "smoker": c.binary(0.1, 0.1), "age": c.symmetric(5, 0.2), "ill": c.binary(0.1, 0.1)},
)
FORMS = sf.Forms([SCHEME.select(["sex", "ill"]), SCHEME.select(["age", "ill"])])


@cache
def raw() -> pd.DataFrame:
    rng = np.random.default_rng(8)
    sex, age = rng.choice(["F", "M"], N), rng.uniform(0, 100, N)
    smoker = np.where(rng.random(N) < np.where(sex == "M", 0.5, 0.2), "yes", "no")
    ill = np.where(rng.random(N) < 0.1 + 0.4 * (smoker == "yes") + age / 300, "yes", "no")
    return pd.DataFrame({"id": np.arange(N), "sex": sex, "smoker": smoker, "age": age, "ill": ill})


@cache
def codes() -> pa.Table:
    """Released rows, always the same."""
    rows = sf.randomize(raw(), SCHEME, KEY, "id", study="engines").arrow()
    return rows.cast(pa.schema([(f.name, pa.int32() if f.name != "id" else pa.string()) for f in rows.schema]))


def as_dask(table: pa.Table) -> Any:
    import dask.dataframe as dd

    return dd.from_pandas(table.to_pandas(), npartitions=3)


HERE: dict[str, Callable[[pa.Table], Any]] = {
    "pandas": lambda t: t.to_pandas(),
    "polars": pl.from_arrow,
    "polars lazy": lambda t: pl.from_arrow(t).lazy(),
    "pyarrow": lambda t: t,
    "duckdb": lambda t: duckdb.connect().from_arrow(t),
    "dask": as_dask,
}


@pytest.fixture(params=[*HERE, "spark"])
def engine(request: pytest.FixtureRequest) -> Callable[[pa.Table], Any]:
    if request.param == "spark":
        session = request.getfixturevalue("spark_session")
        return lambda table: session.createDataFrame(table.to_pandas()).repartition(2)
    return HERE[request.param]


def learned(ev: sf.Evidence) -> list[Any]:
    """One number or several of every learner."""
    tree = sf.learn.DecisionTree(max_depth=2).fit(ev, target="ill")
    table = pd.DataFrame({"sex": ["F", "M"] * 2, "smoker": ["no", "no", "yes", "yes"], "age": [20.0, 80.0, 20.0, 80.0]})
    bayes = sf.learn.NaiveBayes().fit(ev, target="ill")
    net = sf.learn.BayesianNetwork(order=list(SCHEMA.names)).fit(ev)
    rules = sf.learn.AssociationRules(min_support=0.1, min_confidence=0.3).fit(ev)
    linear = sf.learn.LinearClassifier(loss="logistic").fit(ev, target="ill")
    regression = sf.learn.Regression(family="logistic").fit(ev, target="ill", names=["sex", "smoker"])
    return [
        tree.predict(table).tolist(),
        bayes.predict_proba(table),
        net.parents_,
        net.cpt("ill").values,
        len(rules.rules_),
        linear.predict(table).tolist(),
        np.asarray(regression.coef_),
    ]


@cache
def expected() -> list[Any]:
    return learned(sf.evidence(sf.Release(codes(), SCHEME, "id")))


def same(found: list[Any], wanted: list[Any]) -> None:
    for one, other in zip(found, wanted, strict=True):
        if isinstance(other, np.ndarray):
            np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)
        else:
            assert one == other


def test_raw_tables_are_answered_alike(engine: Callable[[pa.Table], Any]) -> None:
    table = engine(pa.Table.from_pandas(raw(), preserve_index=False))
    found = sf.randomize(table, SCHEME, KEY, "id", study="engines").arrow().to_pylist()
    wanted = sf.randomize(raw(), SCHEME, KEY, "id", study="engines").arrow().to_pylist()
    assert found == wanted
    exact = sf.evidence(table, SCHEMA).counts(["sex", "ill"]).value
    np.testing.assert_array_equal(exact, sf.evidence(raw(), SCHEMA).counts(["sex", "ill"]).value)


def test_forms_are_answered_alike(engine: Callable[[pa.Table], Any]) -> None:
    table = engine(pa.Table.from_pandas(raw(), preserve_index=False))
    found, wanted = (sf.randomize(each, FORMS, KEY, "id", study="engines") for each in (table, raw()))
    assert [len(part) for part in found.parts] == [len(part) for part in wanted.parts]
    for names in (["sex", "ill"], ["age"], ["ill"]):
        one, other = (sf.evidence(each).counts(names, quiet=True) for each in (found, wanted))
        np.testing.assert_allclose(one.value, other.value)
        np.testing.assert_allclose(one.interval(), other.interval())


def test_released_rows_say_the_same(engine: Callable[[pa.Table], Any]) -> None:
    ev, reference = (sf.evidence(sf.Release(rows, SCHEME, "id")) for rows in (engine(codes()), codes()))
    assert ev.n == reference.n == N
    pairs = [["sex", "smoker"], ["smoker", "ill"], ["age", "ill"]]
    for one, other in zip(ev.counts_many(pairs, quiet=True), reference.counts_many(pairs, quiet=True), strict=True):
        np.testing.assert_array_equal(one.value, other.value)
        np.testing.assert_allclose(one.cov, other.cov)
    np.testing.assert_allclose(ev.mean("age", by="sex").value, reference.mean("age", by="sex").value)
    model, other = (sf.evidence(each.release, method="model").counts(["sex", "ill"]) for each in (ev, reference))
    np.testing.assert_allclose(model.value, other.value, rtol=1e-5)
    same(learned(ev), expected())


def test_densities_are_alike(engine: Callable[[pa.Table], Any]) -> None:
    rng = np.random.default_rng(2)
    z = rng.choice([20.0, 60.0], 30_000) + rng.normal(0, 8, 30_000)
    found = sf.density(engine(pa.table({"z": z})), c.gaussian(5), column="z")
    wanted = sf.density(z, c.gaussian(5))
    tolerance = 0.02 if found.edges.shape != wanted.edges.shape else 0.005  # a grid of its own: counts are the same
    assert (
        0.5 * np.abs(found.pdf(np.linspace(0, 90, 400)) - wanted.pdf(np.linspace(0, 90, 400))).mean() * 90 < tolerance
    )
