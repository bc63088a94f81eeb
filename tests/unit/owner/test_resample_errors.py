"""Every fault of the input is one clear line, or a warning where the result still means something."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import DisclosureWarning, SfumatoError
from sfumato.owner.resample import calibrate, resample
from sfumato.randomness import experiment

X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.repeat([0, 1], 20)


@pytest.fixture(autouse=True)
def few_games(monkeypatch):
    """What is refused or warned of does not hang on the games."""
    monkeypatch.setattr(calibrate, "SHADOWS", 12)
    monkeypatch.setattr(calibrate, "_TRIALS", 2)
    monkeypatch.setattr(calibrate, "_JUDGED", 1)


def refused(match, *arguments, **options):
    with pytest.raises(SfumatoError, match=match) as caught:
        resample(*arguments, **options)
    assert "\n" not in str(caught.value)


def test_a_class_with_one_row_says_so_and_offers_pooling():
    y = np.array([0] * 39 + [1])
    refused(r"a class has one row.*per_class=False", X, y)
    refused(r"a class at a site has one row.*pool sites", X, y, sites=["a"] * 40)
    refused(r"a class has one row.*Merge it.*pool sites", X, y, max_risk=0.6)
    refused("the table has one row", X[:1])
    assert len(resample(X, y, per_class=False, rng=1)) == 40


@pytest.mark.parametrize("label", [{"a": 1}, [1]])
def test_labels_that_are_lists_or_records(label):
    refused("y holds lists or records", pa.table({"x": [1.0, 2.0], "c": [label, label]}), "c")


def test_non_numeric_columns_need_a_channel():
    refused("X must hold numbers", np.array([["a", "b"]]))
    refused(r"column 'c' holds string.*drop.*channel", pa.table({"x": [1.0, 2.0], "c": ["u", "v"]}))
    gaps = pa.table({"x": [1.0, 2.0, 3.0], "c": ["5,1", "-6", "k.A."]})
    refused(r"column 'c' holds numbers, but in 1 row something else: mend .*, or leave it out", gaps)
    refused("no numeric column", pa.table({"y": [1, 2]}), "y")


def test_nan_names_its_column():
    bad = X.copy()
    bad[3, 1] = np.nan
    bad[4, 1] = np.inf
    refused(r"column 'x2' holds 2 values that are NaN", bad, Y)
    refused(r"column 'b' holds 1 null: fill", pa.table({"b": [1.0, None, 2.0]}))
    gaps = {"b": [1.0, None, 2.0], "c": [None, None, 2.0], "d": [1, 2, 3], "y": ["u", None, "v"]}
    refused(
        r"column 'b' holds 1 null, 'c' 2, 'y' 1: fill them, leave those rows out, or do without the column",
        pa.table(gaps),
        "y",
    )
    refused("y holds NaN", X, np.r_[np.nan, Y[1:].astype(float)])
    refused("y holds nulls", X, np.array([None, *Y[1:]], dtype=object))


def test_constant_columns_are_fine_in_both_methods():
    fixed = np.column_stack([X, np.full(40, 7.0)])
    assert (resample(fixed, Y, rng=1).X[:, 3] == 7).all()
    assert (resample(fixed, Y, max_risk=1.0, rng=experiment(1)).X[:, 3] == 7).all()
    third = np.column_stack([X, np.full(40, 0.1), np.where(Y, 1e15, 0.3)])  # whose computed deviations are not 0
    out = resample(third, Y, rng=1)
    assert (out.X[:, 3] == 0.1).all() and set(out.X[:, 4]) == {0.3, 1e15}
    out = resample(third, Y, max_risk=1.0, rng=experiment(1))
    assert (out.X[:, 3] == 0.1).all() and np.isfinite(out.X).all()


def test_a_column_that_hardly_varies_is_released_as_constant_from_a_model():
    """Two records that differ there would otherwise be the whole of its variance."""
    rare = np.column_stack([X, np.r_[9.0, 8.0, np.zeros(38)]])
    assert (resample(rare, Y, max_risk=1.0, rng=experiment(1)).X[:, 3] == 0).all()
    assert resample(rare, Y, rng=1).X[:, 3].any()


def test_fewer_rows_than_columns_warn():
    wide = np.random.default_rng(0).normal(size=(12, 30))
    with pytest.warns(DisclosureWarning, match="6 rows for 30 columns"):
        resample(wide, np.repeat([0, 1], 6), rng=1)
    with pytest.warns(DisclosureWarning, match="too few to tell its density"):
        assert np.isfinite(resample(wide, np.repeat([0, 1], 6), max_risk=1.0, rng=experiment(1)).X).all()


def test_copies_of_rows_warn_that_there_is_no_density():
    with pytest.warns(DisclosureWarning, match=r"only 5 distinct rows in 40.*no density"):
        resample(np.tile(X[:5], (8, 1)), rng=1)
    with pytest.warns(DisclosureWarning, match="only 35 distinct rows in 40"):
        resample(np.vstack([X[:35], X[:5]]), rng=1)


def test_a_small_class_is_warned_of_where_a_bound_is_asked_for():
    with pytest.warns(DisclosureWarning, match="a class has 10 rows: an average"):
        resample(X, np.repeat([0, 1], [30, 10]), max_risk=1.0, rng=experiment(1))


def test_what_cannot_be_a_table_or_a_label():
    refused("1 columns of the table have the name of another", pa.table([[1.0, 2.0], [1.0, 2.0]], names=["a", "a"]))
    refused("1 masked", np.ma.masked_equal(np.arange(6.0).reshape(3, 2), 4))
    refused(r"beyond 1e\+150", X * 1e200, Y)
    refused("y mixes int and str", X, np.array([1, "a"] * 20, dtype=object))
    refused("sites holds NaN", X, Y, sites=np.r_[np.nan, np.ones(39)])
    refused("sites holds nulls", X, Y, sites=np.array([None, "a"] * 20, dtype=object))
    refused("'a' names a column, but X is a matrix", X, Y, sites="a")
    refused("'y' is the label column", pa.table({"x": X[:, 0], "y": Y}), "y", sites="y")
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
        ({"max_risk": 0.6, "max_outlier_risk": 0.4}, "max_outlier_risk"),
        ({"max_outlier_risk": 0.6}, "goes with max_risk"),
        ({"max_risk": 0.6, "bandwidth": 2.0}, "leave bandwidth and shrink out"),
        ({"max_risk": 0.6, "per_class": False}, "pool sites"),
        ({"epsilon": 1, "ranges": (0, 1), "per_class": False}, "pool sites"),
        ({"epsilon": 1, "ranges": (0, 1), "bandwidth": 2.0}, "epsilon draws from a model"),
        ({"epsilon": 1, "max_risk": 0.6, "ranges": (0, 1)}, "give one of them"),
        ({"epsilon": 1}, "epsilon needs ranges"),
        ({"epsilon": 0, "ranges": (0, 1)}, "epsilon must lie in"),
        ({"epsilon": float("nan"), "ranges": (0, 1)}, "epsilon must lie in"),
        ({"epsilon": 1, "delta": 2.0, "ranges": (0, 1)}, "delta must lie in"),
        ({"epsilon": 1, "ranges": (1, 0)}, "range of 'x1' must be two numbers, the lower one first"),
        ({"epsilon": 1, "ranges": [(0, 1)]}, "ranges must be 3 pairs"),
        ({"epsilon": 1, "ranges": "wide"}, "ranges must be pairs of numbers"),
        ({"epsilon": 1, "ranges": {"x1": (0, 1)}}, "ranges has none for 'x2'"),
        ({"epsilon": 1, "ranges": {f"x{i}": (0, 1) for i in range(1, 5)}}, "names 'x4', which is no numeric column"),
        ({"delta": 1e-5}, "go with epsilon"),
        ({"ranges": (0, 1)}, "go with epsilon"),
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
        out = resample(few, np.repeat([0, 1], 6), max_risk=0.501, max_outlier_risk=0.501, rng=experiment(1))
    said = " ".join(str(one.message) for one in caught)
    assert (
        "the bound is not held" in said
        and "asked: at most 0.501" in said
        and "a class has 6 rows" in said
        and "class 0" not in said
    )
    risk = out.worst
    whole, outer = risk.nearest
    assert not risk.held and f"Bounds that are held: max_risk {whole:g}, outliers {outer:g}" in said
    assert replace(risk, asked=whole, outliers_asked=outer).held  # the bounds that are named do hold


def test_columns_that_the_release_adds_must_not_be_there_already():
    """Else a file would have two columns of a name, which most software refuses to read."""
    table = pa.table({"x": X[:, 0], "site": X[:, 1], "y": X[:, 2]})
    refused("gets a column 'y'", table, Y)
    refused("gets a column 'site'", table.drop_columns("y"), Y, sites=2)
    assert resample(table.drop_columns("y"), Y, rng=1).table().column_names == ["x", "site", "y"]


def test_copies_of_rows_are_warned_of_in_every_mode():
    copies = np.repeat(X[:20], 20, axis=0)
    for options in ({"max_risk": 0.9}, {"epsilon": 1, "ranges": (-5, 5)}):
        with pytest.warns(
            DisclosureWarning, match="20 distinct rows in 400: copies have no density, and rows of one person"
        ):
            resample(copies, rng=experiment(1), **options)
    with pytest.warns(DisclosureWarning, match="copies have no density; channels"):
        resample(copies, rng=1)


def test_copies_in_many_classes_are_warned_of_once():
    copies, y = np.repeat(X[:20], 20, axis=0), np.arange(400) // 20 % 4
    with pytest.warns(DisclosureWarning, match="and 3 of the 3 others have copies too: copies have no density") as said:
        resample(copies, y, rng=1)
    assert sum("distinct rows" in str(one.message) for one in said) == 1


def test_columns_cannot_ride_along_any_more():
    """No row starts from a record, so there is nothing for a column to ride with."""
    with pytest.raises(TypeError, match="ride"):
        resample(X, Y, ride=("x1",))
