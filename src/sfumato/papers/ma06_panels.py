"""Several panels side by side, as the figures of chapter 5 of Ma (2006) have them: mean and spread of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.pages.picture import GRID, empty_panels, saved
from sfumato.papers.ma06_curves import COLOURS, Curve


@dataclass(frozen=True)
class Panel:
    """Curves over a common axis; ``scale`` is that of x and of y."""

    title: str
    x: str
    y: str
    curves: Sequence[Curve]
    scale: tuple[str, str] = ("linear", "linear")


def draw(path: str | Path, panels: Sequence[Panel]) -> Any:
    """The panels in a row, with one legend."""
    figure, places = empty_panels(max(5.6, 4.3 * len(panels)), 4.0, len(panels))
    for axes, panel in zip(places, panels, strict=True):
        for curve, colour in zip(panel.curves, COLOURS, strict=False):
            low, high = curve.mean - curve.sd, curve.mean + curve.sd
            if panel.scale[1] == "log":  # a band cannot reach below zero there
                low = low.clip(min=curve.mean / 10)
            axes.plot(curve.p, curve.mean, "o-", color=colour, label=curve.label, markersize=4)
            axes.fill_between(curve.p, low, high, color=colour, alpha=0.15, linewidth=0)
        axes.set(xlabel=panel.x, ylabel=panel.y, xscale=panel.scale[0], yscale=panel.scale[1])
        axes.set_title(panel.title, loc="left", fontsize=10)
        axes.grid(color=GRID)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return saved(figure, path)
