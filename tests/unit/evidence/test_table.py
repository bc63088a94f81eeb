"""The algebra of tables against plain einsum, and elimination against the whole product."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.errors import EstimationError
from sfumato.evidence.table import Table, eliminate

RNG = np.random.default_rng(1)
ABC = Table(("a", "b", "c"), RNG.random((2, 3, 4)))
CD = Table(("c", "d"), RNG.random((4, 5)))


def test_tables_are_reordered_summed_and_multiplied_by_name() -> None:
    np.testing.assert_array_equal(ABC.reorder(["c", "a", "b"]).values, np.einsum("abc->cab", ABC.values))
    np.testing.assert_allclose(ABC.sum_out(["b"]).values, np.einsum("abc->ac", ABC.values))
    np.testing.assert_allclose(ABC.project(["c", "a"]).values, np.einsum("abc->ca", ABC.values))
    assert ABC.expand(["d", "c", "b", "a"]).values.shape == (1, 4, 3, 2)
    both = ABC.multiply(CD)
    assert both.names == ("a", "b", "c", "d") and both.sizes == {"a": 2, "b": 3, "c": 4, "d": 5}
    np.testing.assert_allclose(both.values, np.einsum("abc,cd->abcd", ABC.values, CD.values))
    np.testing.assert_array_equal(ABC.at({"b": 2}).values, ABC.values[:, 2])
    assert ABC.reorder(["a", "b", "c"]) is ABC


@pytest.mark.parametrize("keep", [["a"], ["d", "b"], ["c"], ["d", "c", "b", "a"]])
def test_elimination_sums_the_whole_product(keep: list[str]) -> None:
    tables = [ABC, CD, Table(("d", "a"), RNG.random((5, 2)))]
    whole = tables[0].multiply(tables[1]).multiply(tables[2])
    found = eliminate(tables, keep, 1000)
    assert found.names == tuple(keep)
    np.testing.assert_allclose(found.values, whole.project(keep).values)


def test_a_table_on_the_way_that_is_too_large_is_refused() -> None:
    with pytest.raises(EstimationError, match="a table of 24 cells, more than 20: ask for fewer"):
        eliminate([ABC], ["a"], 20)
