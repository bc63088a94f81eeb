"""Pictures of coefficients: bars by feature, a colour per class."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.pages.picture import COLOURS, empty_picture, saved, set_legend, set_title
from sfumato.printable import figure_text

#: The most rows of a picture, and the most bars.
MOST = 40
MOST_BARS = 120


def bars(
    path: str | Path | None,
    rows: Sequence[str],
    values: Array,
    labels: Sequence[str],
    title: str,
    axis: str,
    matter: Array,
    spread: Array | None = None,
    limits: tuple[float, float] = (-np.inf, np.inf),
) -> Any:
    """Horizontal bars, a group per row, a bar per label; of many rows those that tell the classes apart most.

    ``spread`` is half the width of an interval around every value, which ends at the ``limits`` of what is possible.
    Of more classes than there are colours those that ``matter`` most are drawn, and of none the title.
    """
    if not labels:
        rows, values = rows[:0], np.zeros((0, 1))
        title = f"{title}. Of no class it is sure that somebody holds it"
    if len(labels) > len(COLOURS):
        title = f"{title} ({len(COLOURS)} of {len(labels)} classes)"
        chosen = np.sort(np.argsort(-matter, kind="stable")[: len(COLOURS)])
        labels, values = [labels[i] for i in chosen], values[:, chosen]
        spread = None if spread is None else spread[:, chosen]
    count = values.shape[1]
    most = min(MOST, MOST_BARS // count)
    if len(rows) > most:
        told = np.ptp(values, axis=1) if count > 1 else np.abs(values[:, 0])
        kept = np.sort(np.argsort(-told, kind="stable")[:most])
        title = f"{title} (the {most} most telling of {len(rows)})"
        rows, values = [rows[i] for i in kept], values[kept]
        spread = None if spread is None else spread[kept]
    figure, axes = empty_picture(7.2, 1.3 + 0.26 * len(rows) * max(count / 1.6, 1), grid="x")
    at = np.arange(len(rows))[::-1]
    height = 0.8 / count
    for i, label in enumerate(labels):
        place, shown = at + (count / 2 - i - 0.5) * height, figure_text(label)
        axes.barh(place, values[:, i], height, color=COLOURS[i], alpha=0.8, label=shown)
        if spread is not None:
            ends = np.clip([values[:, i] - spread[:, i], values[:, i] + spread[:, i]], *limits)
            axes.errorbar(values[:, i], place, xerr=np.abs(ends - values[:, i]), fmt="none", ecolor="#1a202c", lw=1)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.axvline(0, color="#4a5568", linewidth=0.8)
    axes.set_yticks(at, [figure_text(row) for row in rows])
    axes.set_xlabel(axis)
    set_title(axes, figure_text(title))
    axes.tick_params(axis="y", labelsize=8)
    if labels:
        set_legend(figure, labels, fontsize=9)
    return saved(figure, path)
