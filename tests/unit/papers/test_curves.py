"""Curves hold a row per place and a column per run."""

from __future__ import annotations

import numpy as np

from sfumato.papers.curves import Curve, legend, level, lines, measured, note, panels


def test_a_curve_of_one_run_has_no_spread() -> None:
    assert Curve("x", (0.1,), np.array([[0.5]])).sd.tolist() == [0.0]


def test_runs_become_curves_by_name() -> None:
    found = measured((1.0, 2.0), 3, lambda x, seed: {"a": x + seed, "b": -x})
    assert [curve.label for curve in found] == ["a", "b"]
    assert found[0].mean.tolist() == [2.0, 3.0] and found[0].sd.tolist() == [1.0, 1.0]
    assert found[0].at(2.0).tolist() == [2.0, 3.0, 4.0]


def test_curves_are_drawn() -> None:
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    left, right = panels(figure, 2)
    lines(left, [Curve("a", (1.0, 2.0), np.array([[1.0, 2.0], [3.0, 4.0]]))], log="xy")
    level(right, 0.5, "half")
    note(right, "words")
    legend(figure, left)
    assert len(left.lines) == 1 and left.get_yscale() == "log" and len(right.texts) == 2


def test_no_band_reaches_beyond_what_is_possible() -> None:
    from matplotlib.figure import Figure

    (axes,) = panels(Figure(), 1)
    lines(axes, [Curve("a", (1.0, 2.0), np.array([[0.0, 1.0], [0.9, 1.0]]))], least=0, most=1)
    edge = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert edge.min() == 0 and edge.max() == 1
    lines(axes, [Curve("a", (1.0, 2.0), np.array([[0.0, 1.0], [0.9, 1.0]]))])  # the band itself is wider
    assert axes.collections[1].get_paths()[0].vertices[:, 1].min() < 0
