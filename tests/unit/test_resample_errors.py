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
    refused(r"class 1 at site 0 has one row.*per_class=False", X, y)
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
    assert resample(fixed, Y, max_risk=1.0, rng=1).X[:, 3] == pytest.approx(7, abs=1e-3)


def test_fewer_rows_than_columns_warn():
    wide = np.random.default_rng(0).normal(size=(12, 30))
    with pytest.warns(DisclosureWarning, match="6 rows for 30 columns"):
        resample(wide, np.repeat([0, 1], 6), rng=1)
    with pytest.warns(DisclosureWarning, match="not determined"):
        assert np.isfinite(resample(wide, np.repeat([0, 1], 6), max_risk=1.0, rng=1).X).all()


def test_copies_of_rows_warn_that_there_is_no_density():
    with pytest.warns(DisclosureWarning, match=r"only 5 distinct rows in 40.*no density"):
        resample(np.tile(X[:5], (8, 1)), rng=1)


@pytest.mark.parametrize("bandwidth", [-1.0, 0.0, float("nan"), float("inf"), "silverman", True])
def test_multipliers_must_be_positive(bandwidth):
    refused("bandwidth must be", X, Y, bandwidth=bandwidth)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"max_risk": 0.5}, r"max_risk.*\(0.5, 1\].*got 0.5"),
        ({"max_risk": 1.2}, "max_risk"),
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
    with pytest.warns(DisclosureWarning, match=r"the bound is not held.*asked 0.501.*channels"):
        out = resample(few, np.repeat([0, 1], 6), max_risk=0.501, max_outlier_risk=0.501, rng=1)
    assert not out.worst.held
