"""The estimate beside the noisy histogram it came from."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.pages.picture import empty_picture, mark_thousands, name_places, save_picture
from sfumato.printable import figure_text, level_text

INK, SOFT, GREY = "#1f4e79", "#9dbfdf", "#c9c9c9"


def draw(density: Any, path: str | Path | None, ax: Any, level: float) -> Any:
    """Of a Density: the histogram of z in grey, the estimate as a line, its band shaded."""
    figure = None
    if ax is None:
        figure, ax = empty_picture(7.2, 4.0)
    seen = density.z_counts.size > 0  # what a finite channel releases has no place on the axis
    if seen:
        _histogram(density, ax)
    top = float(density.height.max())
    if density.spread is not None:
        low, high = density.band(level)
        ax.stairs(
            high, density.edges, baseline=low, fill=True, color=SOFT, alpha=0.75, label=f"{level_text(level)} band"
        )
        top = max(top, float(np.minimum(high, 1.5 * top).max()))
    ax.stairs(density.height, density.edges, baseline=None, color=INK, linewidth=1.8, label="estimated density of x")
    ax.set_ylim(0, 1.08 * top)
    # a few far values must not squeeze the picture: show 99.8 % of z and of the estimate
    names = getattr(density, "names", ())
    shown = density.edges[[0, -1]] if names else density.quantile((1e-3, 1 - 1e-3))
    if seen:
        total = np.concatenate(([0.0], np.cumsum(density.z_counts))) / density.n
        shown = np.concatenate((np.interp((1e-3, 1 - 1e-3), total, density.z_edges), shown))
    margin = 0.03 * float(np.ptp(shown))
    ax.set_xlim(float(shown.min()) - margin, float(shown.max()) + margin)
    ax.set_xlabel("value")
    if names:
        middles = density.edges[0] + density.step * (np.arange(len(names)) + 0.5)
        name_places(ax, [figure_text(name) for name in names], middles)
    else:
        mark_thousands(ax, years=float(np.abs(shown).max()) < 1e4)  # such as years: no marks
        ax.locator_params(axis="x", nbins=6)
    _heights(ax, float(np.ptp(shown)), top)
    through = f"{getattr(density.noise, 'name', density.noise.kind)} noise" if seen else figure_text(density.noise)
    ax.set_title(f"{density.n:,} values, {through}, method {density.method}", loc="left", fontsize=10)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=9, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.14))
    if path is not None:
        save_picture(figure or ax.figure, path)
    return ax


def _heights(ax: Any, reach: float, top: float) -> None:
    """Heights as people read them: where they are tiny or huge, as shares of a stretch of a round length."""
    from matplotlib.ticker import FuncFormatter

    stretch = 1.0 if 1e-3 <= top < 1e4 or reach <= 0 else 10.0 ** (math.floor(math.log10(reach)) - 1)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda height, _: f"{height * stretch:,.4g}"))
    ax.set_ylabel("density" if stretch == 1 else f"share per {stretch:,.10g}")


def _histogram(density: Any, ax: Any) -> None:
    group = max(1, density.z_counts.size // 80)
    edges = density.z_edges[::group]
    if edges[-1] != density.z_edges[-1]:
        edges = np.append(edges, density.z_edges[-1])
    counts = np.add.reduceat(density.z_counts, np.arange(0, density.z_counts.size, group))
    ax.stairs(counts / density.n / np.diff(edges), edges, fill=True, color=GREY, label="released z = x + noise")
