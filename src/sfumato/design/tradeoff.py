"""The trade-off: expected half-width against gamma, for every family that fits an attribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.channels.linear import Array
from sfumato.design.candidates import expected, families, narrowest_of, target_of
from sfumato.domains import Domain
from sfumato.errors import ChannelError

GAMMAS = np.geomspace(1.25, 60, 18)


@dataclass(frozen=True, eq=False)
class Tradeoff:
    """For each family the expected half-width at each gamma; nan where the family cannot be built."""

    attribute: str
    target: str
    n: int
    gammas: Array
    half_widths: dict[str, Array]
    unrandomized: float

    def plot(self, axes: Any = None, chosen: tuple[float, float] | None = None) -> Any:
        """Draw the curves; the chosen channel, if given, as a dot."""
        if axes is None:
            from matplotlib.figure import Figure

            axes = Figure(figsize=(6.2, 3.6), layout="constrained").add_subplot()
        colours = {"symmetric": "#b4552d", "subset": "#2d6a8e", "windows": "#4d7c3a"}
        for family, widths in self.half_widths.items():
            axes.plot(self.gammas, 100 * widths, color=colours.get(family, "#555555"), lw=1.8, label=family)
        axes.axhline(100 * self.unrandomized, color="#888888", lw=1, ls=":", label="not randomized")
        if chosen is not None:
            axes.plot(chosen[0], 100 * chosen[1], "o", color="#222222", ms=6, zorder=5, label="chosen")
        axes.set_xscale("log")
        axes.set_yscale("log")
        ticks = [t for t in (1.25, 2, 3, 5, 10, 20, 50) if self.gammas[0] <= t <= self.gammas[-1]]
        axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
        axes.minorticks_off()
        low, high = axes.get_ylim()
        marks = [m for m in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500) if low <= m <= high]
        axes.set_yticks(marks, [f"{m:g}" for m in marks])
        what = "share" if self.target == "shares" else "running share"
        axes.set_xlabel("gamma: less privacy to the right")
        axes.set_ylabel(f"± points on a {what}\n(n = {self.n:,})")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(color="#e6e6e6", lw=0.6)
        axes.legend(frameon=False, fontsize=8)
        return axes

    def save(self, path: Any, chosen: tuple[float, float] | None = None) -> None:
        """Write the picture to a file."""
        from sfumato.pages.picture import save_picture

        save_picture(self.plot(chosen=chosen).figure, path)


def tradeoff(
    name: str,
    domain: Domain,
    n: int,
    *,
    gammas: ArrayLike | None = None,
    level: float = 0.95,
    target: str = "auto",
    prior: ArrayLike | None = None,
) -> Tradeoff:
    """Expected half-widths over a range of gammas."""
    from sfumato.channels import identity

    grid = GAMMAS if gammas is None else np.asarray(gammas, dtype=np.float64)
    aim = target_of(domain, target)
    found: dict[str, Array] = {}
    for family in families(domain):
        widths = np.full(len(grid), np.nan)
        for i, gamma in enumerate(grid):
            try:
                reached = narrowest_of(domain, family, float(gamma), n, aim, level, prior)
            except ChannelError:
                continue
            widths[i] = reached if reached < np.inf else np.nan
        found[family] = _never_worse(grid, widths)
    floor = expected(identity(domain.size), aim, n, level, prior, domain.nullable)
    return Tradeoff(name, aim, n, grid, found, floor)


def _never_worse(gammas: Array, widths: Array) -> Array:
    """The best up to each gamma: a channel under a tighter bound keeps a looser one too."""
    order = np.argsort(gammas)
    best = np.fmin.accumulate(widths[order])
    out = np.empty_like(widths)
    out[order] = np.where(np.isnan(widths[order]), np.nan, best)
    return out
