"""Coefficients with their intervals, a row each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.learn.plot import MOST, cut_axis, reach
from sfumato.pages.picture import COLOURS, empty_picture, saved, set_title
from sfumato.printable import figure_text


def plot(
    path: str | Path | None, terms: Sequence[str], value: Array, low: Array, high: Array, title: str, level: float
) -> Any:
    """Points with error bars; filled where the interval leaves out 0. Of many, those farthest from 0."""
    if len(terms) > MOST:
        told = np.abs(value) / np.maximum(high - low, 1e-300)
        kept = np.sort(np.argsort(-told, kind="stable")[:MOST])
        title = f"{title} (the {MOST} clearest of {len(terms)})"
        terms, value, low, high = [terms[i] for i in kept], value[kept], low[kept], high[kept]
    figure, axes = empty_picture(7.2, 1.3 + 0.3 * len(terms), grid="x")
    at = np.arange(len(terms), dtype=np.float64)[::-1]
    clear = (low > 0) | (high < 0)
    for chosen, face, label in ((clear, COLOURS[0], "told from 0"), (~clear, "white", "not told from 0")):
        if chosen.any():
            spread = np.stack([value - low, high - value])[:, chosen]
            axes.errorbar(
                value[chosen], at[chosen], xerr=spread, fmt="o", color=COLOURS[0], markerfacecolor=face, capsize=3,
                label=label,
            )  # fmt: skip
    cut_axis(axes, reach(low, high), at, low, high)
    axes.axvline(0, color="#4a5568", linewidth=0.8)
    axes.set_ylim(-0.6, len(terms) - 0.4)
    axes.set_yticks(at, [figure_text(term) for term in terms])
    axes.set_xlabel(f"coefficient, with its {100 * level:g} % interval")
    set_title(axes, figure_text(title))
    axes.tick_params(axis="y", labelsize=8)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9, reverse=True)
    return saved(figure, path)
