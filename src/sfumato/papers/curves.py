"""Curves in the pictures of the gallery: mean and spread of runs, with colours that follow the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.pages.chart import ACCENT, FAINT, SOFT, WARM
from sfumato.papers.figure import Found

#: In the order of use; each with a dash and a mark of its own, so that colour is never alone.
STYLES = (
    (ACCENT, "-", "o"),
    (WARM, "--", "s"),
    (SOFT, ":", "^"),
    ("#3f8f5f", "-.", "D"),
    ("#8a6bbf", "-", "v"),
    ("#b08a2e", "--", "x"),
)


@dataclass(frozen=True)
class Curve:
    """Values of one method: a row per place x, a column per run."""

    label: str
    x: tuple[float, ...]
    values: Array

    @property
    def mean(self) -> Array:
        return np.asarray(self.values.mean(axis=1))

    @property
    def sd(self) -> Array:
        """Of one run."""
        return self.values.std(axis=1, ddof=1) if self.values.shape[1] > 1 else np.zeros(len(self.values))

    def at(self, x: float) -> Array:
        """The runs at one place."""
        return np.asarray(self.values[self.x.index(x)])


def measured(x: Sequence[float], runs: int, once: Callable[[float, int], dict[str, float]]) -> list[Curve]:
    """``once(x, seed)`` for every place and seed: a curve per name that it reports."""
    found = [[once(one, seed) for seed in range(runs)] for one in x]
    return [Curve(name, tuple(x), np.array([[run[name] for run in row] for row in found])) for name in found[0][0]]


def panels(figure: Any, columns: int, rows: int = 1) -> list[Any]:
    """The axes of a figure, row by row, with a faint grid."""
    places = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in places:
        axes.grid(color=FAINT, linewidth=0.4, alpha=0.6)
        axes.set_axisbelow(True)
    return places


def lines(axes: Any, curves: Sequence[Curve], log: str = "", least: float = -np.inf, most: float = np.inf) -> None:
    """Curves with a band of one standard deviation of a run; ``log`` names the logarithmic axes ("x", "y", "xy").

    Bands end at ``least`` and ``most``, beyond which no value can lie.
    """
    for curve, (colour, dash, mark) in zip(curves, STYLES, strict=False):
        mean, sd = curve.mean, curve.sd
        low = np.maximum(mean - sd, mean / 10 if "y" in log else least)
        axes.plot(curve.x, mean, dash, marker=mark, color=colour, label=curve.label, markersize=3.5, linewidth=1.3)
        if sd.any():
            axes.fill_between(curve.x, low, np.minimum(mean + sd, most), color=colour, alpha=0.15, linewidth=0)
    if "x" in log:
        axes.set_xscale("log")
    if "y" in log:
        axes.set_yscale("log")


def legend(figure: Any, axes: Any, columns: int = 3) -> None:
    """One legend below the picture."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=8)


def draw_accuracy(figure: Any, found: Found) -> None:
    """Accuracy against p, a curve for each method."""
    (axes,) = panels(figure, 1)
    lines(axes, found.data, least=0, most=1)
    axes.set(xlabel="p, the probability of changing a value", ylabel="accuracy on clean records")
    legend(figure, axes)


def level(axes: Any, at: float, label: str) -> None:
    """A value to compare with, as a dotted line."""
    axes.axhline(at, color=SOFT, linestyle=":", linewidth=1)
    axes.annotate(label, (0.01, at), xycoords=("axes fraction", "data"), fontsize=8, va="bottom", color=SOFT)


def note(axes: Any, text: str) -> None:
    """What the paper says, in a corner of the picture."""
    axes.annotate(text, (0.98, 0.96), xycoords="axes fraction", ha="right", va="top", fontsize=8, color=SOFT)
