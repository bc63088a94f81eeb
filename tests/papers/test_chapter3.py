"""Ma06 figures 3.1-3.4 and Zhang04's example and bound stand where they should."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

from sfumato.papers import ma06_fig3_1, ma06_fig3_2, ma06_fig3_3, ma06_fig3_4, zhang04_bound, zhang04_example1


def test_figure_3_1():
    found = ma06_fig3_1.curves()
    binary, six, grouped = (found[name] for name in ("binary", "six values", "two groups of three"))
    assert np.nanmax(binary) <= 1
    both = np.isfinite(grouped)
    assert (grouped[both] < six[both]).all()  # grouping preserves less on average
    text = ma06_fig3_1.report()
    for value in ("0.811278", "1.577869", "1.181291"):
        assert value in text


def test_figure_3_2():
    text = ma06_fig3_2.report()
    assert "0.2500" in text
    assert "0.5000" in text


def test_figure_3_3():
    assert "delta method 1.0000" in ma06_fig3_3.report(runs=200)


def test_figure_3_4_sample_size_is_the_key():
    a = ma06_fig3_4.distances_a((0.5, 0.8), (1000, 16_000), runs=2)
    assert (a[1] < a[0]).all()
    assert (a[:, 1] < a[:, 0]).all()
    b = ma06_fig3_4.distances_b((0.2, 0.75), (25_000, 400_000), runs=2)
    assert (b[1] < b[0]).all()
    assert (b[:, 1] < b[:, 0]).all()


def test_the_triangles_are_a_density():
    x = np.linspace(0, 24, 24_001)
    assert np.trapezoid(ma06_fig3_4.two_triangles(x), x) == pytest.approx(1)


def test_example_1():
    text = zhang04_example1.report()
    for value in ("0.505", "0.118709", "0.005018", "-0.700", "-0.505", "-0.005", "2.31667"):
        assert value in text


def test_the_example_runs_and_checks_itself(capsys):
    runpy.run_path(str(Path(__file__).parents[2] / "examples" / "zhang04_game.py"))
    assert "equal at loss / benefit = 2.31667" in capsys.readouterr().out


def test_bound_table():
    for name, bound, fisher, value, se in zhang04_bound.table(n=1000, trials=200):
        assert fisher <= bound + 1e-9, name
        assert value <= bound + 4 * se, name
    assert any(row[0].startswith("erasure") for row in zhang04_bound.table(n=200, trials=50))


@pytest.mark.parametrize("figure", [ma06_fig3_1.draw, ma06_fig3_2.draw, ma06_fig3_3.draw])
def test_figures_are_drawn(figure, tmp_path):
    figure(tmp_path / "figure.svg")
    assert "<svg" in (tmp_path / "figure.svg").read_text()
