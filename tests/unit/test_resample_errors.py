"""Every fault of the input is one clear line, or a warning where the result still means something."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import DisclosureWarning, SfumatoError
from sfumato.owner.resample import resample

X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.repeat([0, 1], 20)


def refused(match, *arguments, **options):
    with pytest.raises(SfumatoError, match=match) as caught:
        resample(*arguments, **options)
    assert "\n" not in str(caught.value)


def test_a_class_with_one_row_says_so_and_offers_pooling():
    y = np.array([0] * 39 + [1])
    refused(r"class 1 has one row.*per_class=False", X, y)
    refused(r"class 1 at site a has one row.*pool sites", X, y, sites=["a"] * 40)
    refused(r"class 1 has one row.*Merge it.*pool sites", X, y, max_risk=0.6)
    refused("the table has one row", X[:1])
    assert len(resample(X, y, per_class=False, rng=1)) == 40


def test_non_numeric_columns_need_a_channel():
    refused("X must hold numbers", np.array([["a", "b"]]))
    refused(r"column 'c' holds string.*channel.*ride", pa.table({"x": [1.0, 2.0], "c": ["u", "v"]}))
    refused("no numeric column", pa.table({"y": [1, 2]}), "y")


def test_nan_names_its_column():
    bad = X.copy()
    bad[3, 1] = np.nan
    bad[4, 1] = np.inf
    refused(r"column 'x2' holds 2 values that are NaN", bad, Y)
    refused(r"column 'b' holds 1 nulls", pa.table({"b": [1.0, None, 2.0]}))
    refused("y holds NaN", X, np.r_[np.nan, Y[1:].astype(float)])
    refused("y holds nulls", X, np.array([None, *Y[1:]], dtype=object))


def test_constant_columns_are_fine_in_both_methods():
    fixed = np.column_stack([X, np.full(40, 7.0)])
    assert (resample(fixed, Y, rng=1).X[:, 3] == 7).all()
    assert (resample(fixed, Y, max_risk=1.0, rng=1).X[:, 3] == 7).all()
    third = np.column_stack([X, np.full(40, 0.1), np.where(Y, 1e15, 0.3)])  # whose computed deviations are not 0
    for options in ({}, {"max_risk": 1.0}):
        out = resample(third, Y, rng=1, **options)
        assert (out.X[:, 3] == 0.1).all() and set(out.X[:, 4]) == {0.3, 1e15}


def test_fewer_rows_than_columns_warn():
    wide = np.random.default_rng(0).normal(size=(12, 30))
    with pytest.warns(DisclosureWarning, match="6 rows for 30 columns"):
        resample(wide, np.repeat([0, 1], 6), rng=1)
    with pytest.warns(DisclosureWarning, match="too few to tell its density"):
        assert np.isfinite(resample(wide, np.repeat([0, 1], 6), max_risk=1.0, rng=1).X).all()


def test_copies_of_rows_warn_that_there_is_no_density():
    with pytest.warns(DisclosureWarning, match=r"only 5 distinct rows in 40.*no density"):
        resample(np.tile(X[:5], (8, 1)), rng=1)
    with pytest.warns(DisclosureWarning, match="only 35 distinct rows in 40"):
        resample(np.vstack([X[:35], X[:5]]), rng=1)


def test_a_small_class_is_warned_of_where_a_bound_is_asked_for():
    with pytest.warns(DisclosureWarning, match="class 1 has 10 rows: an average"):
        resample(X, np.repeat([0, 1], [30, 10]), max_risk=1.0, rng=1)


def test_what_cannot_be_a_table_or_a_label():
    refused("two columns called 'a'", pa.table([[1.0, 2.0], [1.0, 2.0]], names=["a", "a"]))
    refused("1 masked", np.ma.masked_equal(np.arange(6.0).reshape(3, 2), 4))
    refused(r"beyond 1e\+150", X * 1e200, Y)
    refused("y mixes int and str", X, np.array([1, "a"] * 20, dtype=object))
    refused("sites holds NaN", X, Y, sites=np.r_[np.nan, np.ones(39)])
    refused("sites holds nulls", X, Y, sites=np.array([None, "a"] * 20, dtype=object))
    refused("'a' names a column, but X is a matrix", X, Y, ride=["a"])
    refused("'y' is the label column", pa.table({"x": X[:, 0], "y": Y}), "y", ride=["y"])
    refused("there is no such file", "nowhere.csv", "y")


@pytest.mark.parametrize("bandwidth", [-1.0, 0.0, float("nan"), float("inf"), "silverman", True])
def test_multipliers_must_be_positive(bandwidth):
    refused("bandwidth must be", X, Y, bandwidth=bandwidth)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"max_risk": 0.5}, r"max_risk.*\(0.5, 1\].*got 0.5"),
        ({"max_risk": 1.2}, "max_risk"),
        ({"max_risk": "low"}, "max_risk"),
        ({"max_risk": True}, "max_risk"),
        ({"max_risk": 0.6, "rows": 1000}, "at most 20 rows per record, got 25"),
        ({"max_risk": 0.6, "max_outlier_risk": 0.4}, "max_outlier_risk"),
        ({"max_outlier_risk": 0.6}, "goes with max_risk"),
        ({"max_risk": 0.6, "bandwidth": 2.0}, "leave bandwidth"),
        ({"max_risk": 0.6, "per_class": False}, "pool sites"),
        ({"sites": 0}, "sites must lie between 1 and the 40 rows"),
        ({"sites": 41}, "sites must lie"),
        ({"sites": [1, 2]}, "one site for each"),
        ({"sites": "hospital"}, "no column"),
        ({"rows": 0}, "rows must be"),
        ({"rows": 1.5}, "rows must be"),
    ],
)
def test_requests_that_make_no_sense(options, match):
    table = pa.table({"x": X[:, 0], "y": Y}) if options.get("sites") == "hospital" else X
    refused(match, table, "y" if isinstance(table, pa.Table) else Y, **options)


def test_shapes_must_fit():
    refused("one label for each", X, Y[:5])
    refused("rows and columns", np.zeros(5))
    refused("empty", pa.table({"x": pa.array([], pa.float64())}))
    refused("no column 'nope'", pa.table({"x": [1.0]}), "nope")
    refused("rng must be", X, Y, rng="seed")


def test_a_bound_that_cannot_be_held_is_said_aloud():
    rng = np.random.default_rng(0)
    few = rng.standard_t(2, size=(12, 4))
    with pytest.warns(DisclosureWarning) as caught:
        out = resample(few, np.repeat([0, 1], 6), max_risk=0.501, max_outlier_risk=0.501, rng=1)
    said = " ".join(str(one.message) for one in caught)
    assert "the bound is not held" in said and "asked 0.501" in said and "class 0 has 6 rows" in said
    assert not out.worst.held


def test_columns_that_the_release_adds_must_not_be_there_already():
    """Else a file would have two columns of a name, which most software refuses to read."""
    table = pa.table({"x": X[:, 0], "site": X[:, 1], "y": X[:, 2]})
    refused("gets a column 'y'", table, Y)
    refused("gets a column 'site'", table.drop_columns("y"), Y, sites=2)
    assert resample(table.drop_columns("y"), Y, rng=1).table().column_names == ["x", "site", "y"]


def test_a_scheme_is_a_scheme():
    refused("scheme must be a Scheme.*got str", pa.table({"x": X[:, 0]}), scheme="scheme.json")


def test_copies_of_a_row_do_not_hide_it_and_are_warned_of():
    copies = np.repeat(X[:20], 20, axis=0)
    with pytest.warns(
        DisclosureWarning, match="20 distinct rows in 400: copies have no density, and rows of one person"
    ):
        released = resample(copies, max_risk=0.9, rng=1)
    gaps = np.abs(released.X[:, None] - X[None]).max(axis=2).min(axis=1)
    assert np.median(gaps) > 0.1 and gaps.min() > 1e-3  # as if the copies were not there: 4e-5 when each was a source
    with pytest.warns(DisclosureWarning, match="copies have no density; channels"):
        resample(copies, rng=1)
