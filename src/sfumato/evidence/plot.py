"""A picture of estimated counts: a point and an interval per cell, and the truth beside them where it is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.errors import EstimationError
from sfumato.pages.picture import empty_picture, saved
from sfumato.printable import figure_text, label_text, level_text

if TYPE_CHECKING:
    from sfumato.evidence.estimate import Estimate

MOST_DRAWN = 60
MOST_SHARES = 120  # rows of several tables


def plot(
    estimate: Estimate,
    path: str | Path | None = None,
    *,
    level: float = 0.95,
    truth: ArrayLike | None = None,
    naive: ArrayLike | None = None,
    title: str | None = None,
    cells: ArrayLike | None = None,
) -> Any:
    """Draw the estimate and, given a path, write it; ``truth`` and ``naive`` are drawn beside it.

    ``cells`` are the places of the cells to draw, in that order; all of them unless told.
    """
    drawn = np.arange(len(estimate.value)) if cells is None else np.asarray(cells, dtype=np.int64)
    if len(drawn) > MOST_DRAWN:
        raise EstimationError(
            f"a picture of {len(drawn)} cells cannot be read; ask for at most {MOST_DRAWN} cells at a time"
        )
    low, high = estimate.interval(level, drawn)
    labels = _labels(estimate, drawn, named=len(estimate.names) > 1)
    at = np.arange(len(drawn))[::-1]
    figure, axes = empty_picture(7.2, 1.4 + 0.26 * len(drawn), grid="x")
    axes.hlines(at, low, high, color="#2b6cb0", linewidth=5, alpha=0.35, label=f"{level_text(level)} interval")
    axes.plot(estimate.value[drawn], at, "o", color="#2b6cb0", markersize=5, label="estimate")
    if naive is not None:
        axes.plot(np.ravel(naive)[drawn], at, "x", color="#a0aec0", markersize=5, label="as released, uncorrected")
    if truth is not None:
        axes.plot(np.ravel(truth)[drawn], at, "|", color="#c53030", markersize=13, markeredgewidth=2, label="truth")
    axes.set_yticks(at, labels)
    axes.set_ylim(-0.7, len(drawn) - 0.3)
    axes.set_xlim(left=min(-0.012 * axes.get_xlim()[1], 1.05 * float(low.min())))
    axes.set_xlabel("share of the population" if estimate.of_population else "records")
    axes.set_title(figure_text(title or " x ".join(estimate.names)), loc="left", fontsize=11)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return saved(figure, path)


def plot_shares(estimates: Sequence[Estimate], path: str | Path | None, title: str, level: float = 0.95) -> Any:
    """Several tables one below the other, as shares of the records; those that find no more room are left out."""
    rows = 0
    shown: list[Estimate] = []
    for estimate in estimates:
        rows += len(estimate.value) + 1
        if shown and rows > MOST_SHARES:
            title += f" ({len(shown)} of {len(estimates)} attributes)"
            break
        shown.append(estimate)
    figure, axes = empty_picture(7.2, 1.4 + 0.22 * sum(len(one.value) + 1 for one in shown), grid="x")
    at = 0
    ticks: list[int] = []
    labels: list[str] = []
    for estimate in shown:
        places = -at - np.arange(len(estimate.value))
        low, high = estimate.interval(level)
        band, point = (None, None) if at else (f"{level_text(level)} interval", "estimate")
        axes.hlines(places, low / estimate.n, high / estimate.n, color="#2b6cb0", linewidth=5, alpha=0.35, label=band)
        axes.plot(estimate.value / estimate.n, places, "o", color="#2b6cb0", markersize=4, label=point)
        labels += _labels(estimate, np.arange(len(estimate.value)), named=True)
        ticks += list(places)
        at += len(estimate.value) + 1
    axes.set_yticks(ticks, labels)
    axes.tick_params(axis="y", labelsize=8)
    axes.set_ylim(-at + 0.3, 0.7)
    axes.set_xlabel("share of the records")
    axes.set_title(figure_text(title), loc="left", fontsize=11)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return saved(figure, path)


def _labels(estimate: Estimate, cells: NDArray[np.int64], named: bool) -> list[str]:
    """The values of every cell, each with the name of its attribute where more than one could be meant."""
    heads = [f"{name} = " if named else "" for name in estimate.schema]
    labels = [[figure_text(head + label_text(label)) for label in domain.labels]
              for head, domain in zip(heads, estimate.schema.values(), strict=True)]  # fmt: skip
    codes = estimate.places(cells).T
    return [", ".join(name[code] for name, code in zip(labels, cell, strict=True)) for cell in codes]
