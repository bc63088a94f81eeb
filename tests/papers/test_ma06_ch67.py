"""Chapters 6 and 7 of Ma (2006): each figure runs, and says what the paper claims, or better."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.papers import (
    ma06_fig6_1,
    ma06_fig6_2,
    ma06_fig6_3,
    ma06_fig7_3,
    ma06_fig7_4,
    ma06_fig7_5,
    ma06_fig7_8,
    ma06_fig7_9,
    ma06_itemsets,
)
from sfumato.papers.ma06_curves import Curve, plot, table


def by_name(found):
    return {curve.label: curve.mean for curve in found}


def test_figure_6_1_correcting_beats_reading_as_if_clean():
    found = by_name(ma06_fig6_1.figure(1, (0.1, 0.2)))
    assert found["corrected, joint model"][0] > 0.96
    assert (found["corrected, joint model"] > found["as if clean"]).all()


def test_figure_6_2_iris_stays_near_the_raw_curve():
    found = by_name(ma06_fig6_2.figure(1, (0.2, 0.6)))
    assert (found["corrected, joint model"] >= 0.95).all()
    assert found["corrected, joint model"][1] > found["as if clean"][1]


def test_figure_6_3_shares_lie_within_their_errors():
    for _, true, estimated, sd in ma06_fig6_3.figure().values():
        assert (np.abs(true - estimated) < 5.5 * sd).all()
        assert sd.max() < 0.02


def test_figure_7_3_gammas_are_the_closed_forms():
    together, apart = ma06_fig7_3.gammas(3, 0.3)
    assert together == pytest.approx(49 / 3) and apart == pytest.approx(112.912, abs=1e-3)
    assert ma06_fig7_3.gammas(2, 0.3) == pytest.approx((7.0, 16.0))
    assert "16.33" in ma06_fig7_3.report()


def test_figure_7_4_valid_states_halve_the_errors():
    rows = ma06_fig7_4.mushroom()
    run = ma06_itemsets.measure(rows, ma06_fig7_4.MUSHROOM, ma06_fig7_4.MUSHROOM_GROUPS, ("valid states",))
    found = run(0.2, 0)
    assert found["valid states: false positives"] <= 0.02 and found["valid states: false negatives"] <= 0.05


def test_figure_7_5_valid_states_and_shrinkage_beat_the_paper():
    """On a tenth of Adult's records and half of its attributes: fewer wrong sets, either way."""
    rows = ma06_fig7_5.adult("train").slice(0, 3000).select(["age", "marital", "sex", "gain", "income"])
    schema = ma06_fig7_5.ADULT.select(rows.column_names)
    groups = tuple(g for g in ma06_fig7_5.ADULT_GROUPS if g[0].partition("=")[0] in rows.column_names)
    found = ma06_itemsets.measure(rows, schema, groups)(0.3, 0)
    wrong = {w: found[f"{w}: false positives"] + found[f"{w}: false negatives"] for w in ma06_itemsets.WAYS}
    assert max(wrong["shrunk"], wrong["valid states"]) < wrong["paper"]
    assert found["shrunk: support error"] < found["paper: support error"]


def test_figure_7_8_measures_all_three_trees():
    found = ma06_fig7_8.measure(0.2, 0)
    assert found["on the joint model"] >= 0.84 > found["the paper's ID3"]
    assert ma06_fig7_8.majority() == pytest.approx(0.7638, abs=1e-4)


def test_figure_7_9_the_joint_model_wins(tmp_path):
    found = ma06_fig7_9.figure(2, (0.1, 0.3))
    curves = by_name(found)
    assert (curves["on the joint model"] > curves["the paper's ID3"]).all()
    plot(found, tmp_path / "f.png", "title", "accuracy", {"majority": 0.65})
    assert (tmp_path / "f.png").stat().st_size > 5000
    assert "p=0.3" in table("t", found)


def test_a_curve_of_one_run_has_no_spread():
    assert Curve("x", (0.1,), np.array([[0.5]])).sd.tolist() == [0.0]
