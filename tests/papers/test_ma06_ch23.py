"""Chapters 2 and 3 of Ma06: the reference values, and the pictures' message."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.papers.figure import MISPRINT
from sfumato.papers.ma06 import breach, entropy, joint, odds, sample_size, schemes, triangles


@pytest.mark.filterwarnings("ignore::sfumato.errors.NegativeCountsWarning")
def test_trace_of_the_covariance_is_the_same_for_any_table() -> None:
    """ERRATA: two 5-valued attributes, p = .5, N = 5000: trace 168395.0617 for any data."""
    for cells in (np.zeros(5000, int), np.arange(5000) % 25, np.random.default_rng(0).integers(0, 25, 5000)):
        table = {"x1": cells // 5 + 1, "x2": cells % 5 + 1}
        found = sf.evidence(sf.randomize(table, joint.SCHEME, rng=1)).counts(["x1", "x2"])
        assert np.trace(found.cov) == pytest.approx(168395.0617, abs=5e-5)
        assert found.variance.sum() == pytest.approx(168395.0617, abs=5e-5)


def test_figure_2_1_every_transition() -> None:
    rows = {row.label: row for row in schemes.measure(True).rows}
    assert rows["binary, p1 = .1, p2 = .25: from 2 to 1"].ours == pytest.approx(0.25)
    assert rows["ternary, p1 = .2, p2 = .1: from 1 to 2"].ours == pytest.approx(0.2)
    assert rows["five categories, p = .5: from 1 to 2"].ours == pytest.approx(0.125)


def test_table_2_1_lacks_a_twentieth() -> None:
    rows = {row.label: row for row in joint.measure_table(True).rows}
    assert rows["sum of the 25 probabilities"].paper == pytest.approx(0.95)
    assert rows["cell (5, 5)"].ours == pytest.approx(0.05) and rows["cell (5, 5)"].verdict == MISPRINT
    assert len(rows) == 26 and joint.TABLE.sum() == pytest.approx(1)


def test_figure_2_2_distances() -> None:
    runs = [joint.once(seed) for seed in range(40)]
    assert sum((one.estimates["moment"] < 0).any() for one in runs) >= 38
    means = {}
    for method, expected in {"moment": 0.324, "clipped": 0.252, "project": 0.246, "mle": 0.240}.items():
        values = np.array([one.distance(method) for one in runs])
        assert values.mean() == pytest.approx(expected, abs=5 * values.std(ddof=1) / np.sqrt(40))
        means[method] = values.mean()
    assert means["moment"] > means["clipped"] > means["mle"]
    bias = np.mean([one.estimates["moment"] - one.true for one in runs], axis=0)
    assert np.abs(bias / (runs[0].sd / np.sqrt(40))).max() < 5


def test_figure_2_3_is_reconstructed() -> None:
    one = triangles.run(1)
    assert 34 <= len(one.means) <= 44
    assert one.loss(one.mle) < 0.04 < 0.08 < one.loss(one.released)
    assert (np.abs(one.moment - one.true) < 5.5 * one.sd).all()


def test_figure_3_1() -> None:
    found = entropy.curves()
    both = np.isfinite(found["two groups of three"])
    assert np.nanmax(found["binary"]) <= 1
    assert (found["two groups of three"][both] < found["six values"][both]).all()  # grouping preserves less on average
    rows = {row.label: row for row in entropy.measure(True).rows}
    assert rows["binary, p = .25: H(X | Y), bits"].ours == pytest.approx(0.811278, abs=1e-6)
    assert rows["six values, p = .3: H(X | Y), bits"].ours == pytest.approx(1.577869, abs=1e-6)
    assert rows["two groups of three, p = .3: H(X | Y), bits"].ours == pytest.approx(1.181291, abs=1e-6)
    assert rows["gamma with two groups of three at p = .3"].ours == np.inf


def test_figure_3_2() -> None:
    rows = {row.label: row for row in breach.measure(True).rows}
    assert rows["γ = 3, ρ1 = 0.1: ρ2*"].ours == pytest.approx(0.25)
    assert rows["γ = 9, ρ1 = 0.1: ρ2*"].ours == pytest.approx(0.5)
    assert rows["γ = 19, ρ1 = 0.05: ρ2*"].ours == pytest.approx(0.5)
    assert {row.verdict for row in rows.values()} == {"reproduced"}


def test_figure_3_3() -> None:
    rows = {row.label: row for row in odds.measure(True).rows}
    assert rows["sd of log r, randomized, by the delta method"].ours == pytest.approx(1.0, abs=1e-4)
    assert rows["sd of log r, plain"].ours == pytest.approx(0.04, abs=0.003)
    assert rows["share of randomized tables judged dependent at 5 %"].ours > 0.8


def test_figure_3_4_sample_size_is_the_key() -> None:
    a = sample_size.distances_a((0.5, 0.8), (1000, 16_000), runs=2).mean(-1)
    assert (a[1] < a[0]).all() and (a[:, 1] < a[:, 0]).all()
    b = sample_size.distances_b((0.2, 0.75), (25_000, 400_000), runs=2).mean(-1)
    assert (b[1] < b[0]).all() and (b[:, 1] < b[:, 0]).all()


def test_the_triangles_are_a_density() -> None:
    x = np.linspace(0, 24, 24_001)
    assert np.trapezoid(sample_size.two_triangles(x), x) == pytest.approx(1)
