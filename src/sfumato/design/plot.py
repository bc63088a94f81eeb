"""The picture of a trade-off: expected half-width against gamma."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.arrays import Array
from sfumato.pages.picture import empty_picture


def draw_tradeoff(
    gammas: Array,
    half_widths: Mapping[str, Array],
    unrandomized: float,
    label: str,
    axes: Any = None,
    chosen: tuple[float, float] | None = None,
) -> Any:
    """Half-widths against gamma, a curve for each family; the chosen channel, if given, as a dot."""
    if axes is None:
        _, axes = empty_picture(6.2, 3.6)
    colours = {"symmetric": "#b4552d", "subset": "#2d6a8e", "windows": "#4d7c3a", "average": "#7a4d8e"}
    dashes = {"subset": "--", "windows": "-.", "average": (0, (6, 1.5, 1, 1.5, 1, 1.5))}
    for family, widths in half_widths.items():
        colour, dash = colours.get(family, "#555555"), dashes.get(family, "-")
        axes.plot(gammas, 100 * widths, color=colour, ls=dash, lw=1.8, label=family)
    axes.axhline(100 * unrandomized, color="#888888", lw=1, ls=":", label="not randomized")
    if chosen is not None:
        axes.plot(chosen[0], 100 * chosen[1], "o", color="#222222", ms=6, zorder=5, label="chosen")
    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks = [t for t in (1.25, 2, 3, 5, 10, 20, 50) if gammas[0] <= t <= gammas[-1]]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.minorticks_off()
    low, high = axes.get_ylim()
    marks = [m for m in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500) if low <= m <= high]
    axes.set_yticks(marks, [f"{m:g}" for m in marks])
    axes.set_xlabel("gamma: less privacy to the right")
    axes.set_ylabel(label)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color="#e6e6e6", lw=0.6)
    axes.legend(frameon=False, fontsize=8, handlelength=3)
    return axes
