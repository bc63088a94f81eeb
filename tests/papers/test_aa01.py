"""AA01 section 5: the settings that reproduce the published numbers do, and others do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sfumato.papers.aa01 import example1, information, reconstructed, size, trade_off
from sfumato.papers.aa01.densities import GAUSSIAN_X, losses
from sfumato.papers.aa01.reconstructed import NARROW, WIDE, N, X
from sfumato.papers.figure import MISPRINT

SEEDS = range(40)


def by_label(rows: Any) -> dict[str, Any]:
    return {row.label: row for row in rows}


def test_example_1_in_bits() -> None:
    rows = by_label(example1.measure(True).rows)
    assert rows["h(Z), bits"].ours == pytest.approx(2 + 1 / (4 * np.log(2)), abs=1e-6)
    assert rows["privacy loss P(X | Z)"].ours == pytest.approx(1 - np.exp(-0.25) / 2, abs=1e-6)
    assert rows["privacy left, Π(X | Z)"].ours == pytest.approx(np.exp(-0.25), abs=1e-6)
    assert sum(row.verdict == MISPRINT for row in rows.values()) == 4
    z = np.linspace(-2, 7, 90_001)
    assert np.trapezoid(example1.density_z(z), z) == pytest.approx(1, abs=1e-6)


def test_figure_1_both_readings_of_the_loss_agree() -> None:
    half, rest = information.measure(True).rows
    assert half.ours == pytest.approx(rest.ours, abs=1e-6) and half.ours == pytest.approx(0.2737, abs=1e-4)


@pytest.mark.parametrize(
    ("paper", "x", "noise", "how"),
    [
        (13.29, X, NARROW, reconstructed.AS_UNIFORM),
        (4.9, X, NARROW, reconstructed.EM_UNIFORM),
        (26.5, GAUSSIAN_X, WIDE, reconstructed.AS_GAUSSIAN),
        (17.9, GAUSSIAN_X, WIDE, reconstructed.EM_GAUSSIAN),
    ],
    ids=["fig2", "fig3", "fig4", "fig5"],
)
def test_published_losses_lie_within_the_spread_of_ours(paper: float, x: Any, noise: Any, how: dict[str, Any]) -> None:
    ours = losses(x, noise, N, SEEDS, **how)
    assert abs(ours.mean() - paper) < ours.std(ddof=1)
    other = losses(x, noise, N, range(10), **(how | {"bins": 60, "support": (-3.0, 9.0), "stop": 3}))
    assert abs(other.mean() - paper) > other.std(ddof=1)


def test_em_and_as_do_not_differ_in_equal_settings() -> None:
    how: dict[str, Any] = {"support": (0, 6), "bins": 30, "stop": "chi2:0.01"}
    a, b = losses(X, NARROW, N, SEEDS, method="as", **how), losses(X, NARROW, N, SEEDS, method="em", **how)
    assert abs(a.mean() - b.mean()) < 1.0


def test_figure_7_privacy_loss_falls_with_the_noise_for_all_four_pairs() -> None:
    curves = trade_off.privacy()
    assert len(curves) == 4
    for curve in curves:
        assert (np.diff(curve.mean) < 0).all() and 0 < curve.mean.min() < curve.mean.max() < 1
    assert curves[0].at(1.0)[0] == pytest.approx(0.09987, abs=1e-5)


def test_figure_8_gaussian_data_are_not_treated_alike_by_both_noises() -> None:
    """At equal privacy loss uniform noise costs gaussian data more: the paper calls them almost equal."""
    rows = [row for row in trade_off.measure8(True).rows if row.label.startswith("gaussian x")]
    assert [row.verdict for row in rows] == ["differs"] * 3
    assert all(row.ours < -1 for row in rows)


def test_figure_9_half_a_percent_at_20000_is_out_of_reach() -> None:
    assert size.parametric(20_000, 40).mean() > 0.7
