"""Figures 3 to 7 of Tan07, in words and drawn: phi of each classifier, linkage and bounds on DAPL over the sites."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.pages.picture import empty_panels, saved
from sfumato.papers.tan07 import MODELS, Trial, trials

_MARKS = {"ANN": ("x", "#2d6a8e"), "kNN": ("o", "#b23a48"), "NB": ("+", "#4d7c3a")}


@dataclass(frozen=True)
class Curves:
    """One figure: its data set, the numbers of sites, the trials of each, and how they compare with the paper."""

    title: str
    name: str
    sites: Sequence[int]
    why: str

    def report(self, seeds: int = 100, jobs: int = 1, sites: Sequence[int] | None = None) -> str:
        """phi, linkage and the bounds on DAPL for every number of sites."""
        one = self if sites is None else replace(self, sites=sites)
        return one.text(one.measure(seeds, jobs))

    def draw(self, path: Any, seeds: int = 100, jobs: int = 1) -> None:
        """The same, drawn."""
        self.picture(self.measure(seeds, jobs), path)

    def measure(self, seeds: int, jobs: int = 1) -> list[list[Trial]]:
        """The trials of every number of sites."""
        return [trials(self.name, L, seeds, jobs) for L in self.sites]

    def text(self, found: Sequence[Sequence[Trial]]) -> str:
        """One line for every number of sites."""
        rows = [
            self.title,
            "   L " + "".join(f"{short:>15s}" for short in MODELS) + "   linkage   DAPL at least, per class",
        ]
        for L, some in zip(self.sites, found, strict=True):
            cells = [f"{mean:+7.2f} ± {error:4.2f} " for mean, error in (_spread(some, short) for short in MODELS)]
            linked = np.mean([one.linked for one in some])
            lower = "  ".join(f"{value:.2f}" for value in _dapl(some))
            rows.append(f"{L:4d} " + "".join(cells) + f"   {linked:6.2f}    {lower}")
        rows.append(f"phi in points of error, {len(found[0])} seeds. Paper: |phi| at most 3 points for all L.")
        return "\n".join([*rows, self.why])

    def picture(self, found: Sequence[Sequence[Trial]], path: Any) -> None:
        """phi with two standard errors on the left, as in the paper; DAPL beside linkage on the right."""
        drawing, (left, right) = empty_panels(8.4, 3.2, 2)
        for shift, short in zip((-0.04, 0, 0.04), MODELS, strict=True):
            mean, error = np.array([_spread(some, short) for some in found]).T
            mark, colour = _MARKS[short]
            at = np.array(self.sites) * (1 + shift)
            left.errorbar(at, mean, 2 * error, marker=mark, color=colour, label=short, lw=1.2, capsize=2)
        left.axhspan(-3, 3, color="#000", alpha=0.05, lw=0)
        left.axhline(0, color="#888", lw=0.8)
        left.set(xlabel="sites L", ylabel="phi, points (grey: as claimed)")
        lower = np.array([_dapl(some) for some in found])
        for column, style, kind in zip(lower.T, ("-", "--"), ("first", "second"), strict=True):
            right.plot(self.sites, column, style, color="#8a8f98", marker=".", label=f"DAPL, at least ({kind} class)")
        linked = [np.mean([one.linked for one in some]) for some in found]
        right.plot(self.sites, linked, color="#b23a48", marker="o", label="rows linked to their record")
        right.set(xlabel="sites L", ylabel="share", ylim=(0, 1))
        for axes in (left, right):
            axes.set_xscale("log", base=2)
            axes.set_xticks(self.sites, [str(L) for L in self.sites])
            axes.minorticks_off()
            axes.legend(frameon=False, fontsize=7)
        drawing.suptitle(self.title, fontsize=10)
        saved(drawing, path)


def _spread(some: Sequence[Trial], short: str) -> tuple[float, float]:
    values = np.array([one.phi[short] for one in some])
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def _dapl(some: Sequence[Trial]) -> Array:
    return np.asarray(np.mean([one.dapl for one in some], axis=0))
