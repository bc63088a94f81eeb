"""Tables of thousands of columns: right numbers, and a cost that grows with the columns and not with their square."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from tests.hostile.guard import guarded

import sfumato as sf
from sfumato import channels as c


def wide(columns: int) -> tuple[pa.Table, sf.Scheme]:
    names = [f"c{i}" for i in range(columns)]
    schema = sf.Schema({name: sf.Categorical(("a", "b", "c")) for name in names})
    values = pa.array(np.array(["a", "b", "c"])[np.random.default_rng(1).integers(0, 3, 50)])
    return pa.table(dict.fromkeys(names, values)), sf.Scheme(schema, {name: c.symmetric(3, gamma=3) for name in names})


def test_epsilon_is_right_where_gamma_is_too_large_for_a_double() -> None:
    _, scheme = wide(700)
    assert scheme.gamma == math.inf
    assert scheme.epsilon == pytest.approx(700 * math.log(3))
    _, fewer = wide(100)
    assert math.log(fewer.gamma) == pytest.approx(fewer.epsilon)
    items = sf.Schema({f"i{k}": sf.Categorical((0, 1)) for k in range(700)})
    baskets = sf.Scheme(items, {items.names: c.mask(0.1)})
    assert baskets.gamma == math.inf
    assert baskets.epsilon == pytest.approx(700 * math.log(9))
    assert "gamma 9.33 · 10⁶⁶⁷" in sf.report(baskets, n=1000).text()
    assert sf.privacy.gamma(baskets) == math.inf


def test_gamma_of_few_attributes_is_as_it_was() -> None:
    _, scheme = wide(2)
    assert scheme.gamma == pytest.approx(9, rel=1e-15)
    assert c.symmetric(2, gamma=1 + 1e-12).epsilon == pytest.approx(1e-12, rel=1e-3)


def test_five_thousand_columns_are_randomized_saved_loaded_and_estimated(tmp_path) -> None:
    table, scheme = wide(5000)
    with guarded(seconds=15):  # of processor time; quadratic code took minutes
        sf.randomize(table, scheme, rng=np.random.default_rng(1)).save(tmp_path / "r.parquet")
    with guarded(seconds=4):
        release = sf.Release.load(tmp_path / "r.parquet")
    with guarded(seconds=4):
        assert sf.evidence(release).counts(["c4999"]).value.sum() == pytest.approx(50)


def test_a_group_of_five_thousand_items_is_randomized(tmp_path) -> None:
    names = tuple(f"i{k}" for k in range(5000))
    schema = sf.Schema({name: sf.Categorical((0, 1)) for name in names})
    column = np.zeros(20, dtype=np.int64)
    with guarded(seconds=10):
        release = sf.randomize(dict.fromkeys(names, column), sf.Scheme(schema, {names: c.mask(0.1)}))
        release.save(tmp_path / "r.parquet")
        assert sf.Release.load(tmp_path / "r.parquet").scheme.epsilon == pytest.approx(5000 * math.log(9))
