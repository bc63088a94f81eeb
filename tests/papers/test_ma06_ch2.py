"""Chapter 2 of Ma06: the reference values, and the pictures' message."""

from __future__ import annotations

import numpy as np
import pytest

import sfumato as sf
from sfumato.papers import ma06_fig2_2, ma06_fig2_3


@pytest.mark.filterwarnings("ignore::sfumato.errors.NegativeCountsWarning")
def test_trace_of_the_covariance_is_the_same_for_any_table() -> None:
    """ERRATA: two 5-valued attributes, p = .5, N = 5000: trace 168395.0617 for any data."""
    for cells in (np.zeros(5000, int), np.arange(5000) % 25, np.random.default_rng(0).integers(0, 25, 5000)):
        table = {"x1": cells // 5 + 1, "x2": cells % 5 + 1}
        found = sf.evidence(sf.randomize(table, ma06_fig2_2.SCHEME, rng=1)).counts(["x1", "x2"])
        assert np.trace(found.cov) == pytest.approx(168395.0617, abs=5e-5)
        assert found.variance.sum() == pytest.approx(168395.0617, abs=5e-5)


def test_figure_2_2_distances() -> None:
    found, negative = ma06_fig2_2.distances(40)
    assert negative >= 38
    for method, expected in ma06_fig2_2.EXPECTED.items():
        values = np.array(found[method])
        assert values.mean() == pytest.approx(expected, abs=5 * values.std(ddof=1) / np.sqrt(40))
    assert np.mean(found["moment"]) > np.mean(found["clipped"]) > np.mean(found["mle"])


def test_figure_2_3_is_reconstructed() -> None:
    groups, fitted, naive = ma06_fig2_3.run(1)
    assert 34 <= groups <= 44
    assert fitted < 0.04 < 0.08 < naive
