"""Curves against the randomization parameter p, as chapters 6 and 7 of Ma (2006) draw them: mean and spread of runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.pages.picture import empty_picture, saved

COLOURS = ("#a0aec0", "#2b6cb0", "#c05621", "#2f855a", "#6b46c1")


@dataclass(frozen=True)
class Curve:
    """Values of one method: a row per p, a column per run."""

    label: str
    p: tuple[float, ...]
    values: np.ndarray[Any, np.dtype[np.float64]]

    @property
    def mean(self) -> Any:
        return self.values.mean(axis=1)

    @property
    def sd(self) -> Any:
        return self.values.std(axis=1, ddof=1) if self.values.shape[1] > 1 else np.zeros(len(self.values))


def curves(p: Sequence[float], runs: int, measure: Callable[[float, int], dict[str, float]]) -> list[Curve]:
    """Run ``measure(p, seed)`` for every p and seed; a curve per name that it reports."""
    found = [[measure(one, seed) for seed in range(runs)] for one in p]
    return [Curve(name, tuple(p), np.array([[run[name] for run in row] for row in found])) for name in found[0][0]]


def table(title: str, found: Sequence[Curve], notes: Sequence[str] = ()) -> str:
    """The curves in words: mean (sd) per p."""
    width = max(len(curve.label) for curve in found)
    lines = [title, "  " + " " * width + "".join(f"{f'p={p:g}':>16s}" for p in found[0].p)]
    for curve in found:
        cells = "".join(f"{f'{m:.3f} ({s:.3f})':>16s}" for m, s in zip(curve.mean, curve.sd, strict=True))
        lines.append(f"  {curve.label:{width}s}{cells}")
    return "\n".join([*lines, *(f"  {note}" for note in notes)])


def plot(
    found: Sequence[Curve], path: str | Path | None, title: str, axis: str, lines: dict[str, float] | None = None
) -> Any:
    """The curves with a band of one standard deviation; ``lines`` are levels to compare with."""
    figure, axes = empty_picture(7.2, 4.4, grid="both")
    # Curves of one method ("method: what") share a colour and differ by their dashes.
    methods = list(dict.fromkeys(curve.label.partition(":")[0] for curve in found))
    drawn: dict[str, int] = dict.fromkeys(methods, 0)
    for curve in found:
        method = curve.label.partition(":")[0]
        colour, dashes = COLOURS[methods.index(method) % len(COLOURS)], ("-", "--", ":")[drawn[method] % 3]
        drawn[method] += 1
        axes.plot(curve.p, curve.mean, "o", linestyle=dashes, color=colour, label=curve.label, markersize=4)
        axes.fill_between(curve.p, curve.mean - curve.sd, curve.mean + curve.sd, color=colour, alpha=0.18, linewidth=0)
    for label, level in (lines or {}).items():
        axes.axhline(level, color="#4a5568", linestyle=":", linewidth=1)
        axes.text(found[0].p[0], level, f" {label}", fontsize=8, va="bottom", color="#4a5568")
    axes.set_xticks(found[0].p)
    axes.set_xlabel("p, the probability of changing a value")
    axes.set_ylabel(axis)
    axes.set_title(title, loc="left", fontsize=11)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    return saved(figure, path)
