"""Pictures of coefficients: bars by feature, a colour per class."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.pages.picture import empty_picture, saved, set_title
from sfumato.printable import figure_text

#: The most rows of a picture.
MOST = 40
COLOURS = ("#2b6cb0", "#c05621", "#2f855a", "#6b46c1", "#b7791f", "#c53030")


def bars(
    path: str | Path | None,
    rows: Sequence[str],
    values: Array,
    labels: Sequence[str],
    title: str,
    axis: str,
    spread: Array | None = None,
    limits: tuple[float, float] = (-np.inf, np.inf),
) -> Any:
    """Horizontal bars, a group per row, a bar per label; of many rows those that tell the classes apart most.

    ``spread`` is half the width of an interval around every value, which ends at the ``limits`` of what is possible.
    """
    count = values.shape[1]
    if len(rows) > MOST:
        told = np.ptp(values, axis=1) if count > 1 else np.abs(values[:, 0])
        kept = np.sort(np.argsort(-told, kind="stable")[:MOST])
        title = f"{title} (the {MOST} most telling of {len(rows)})"
        rows, values = [rows[i] for i in kept], values[kept]
        spread = None if spread is None else spread[kept]
    figure, axes = empty_picture(7.2, 1.3 + 0.26 * len(rows) * max(count / 1.6, 1), grid="x")
    at = np.arange(len(rows))[::-1]
    height = 0.8 / count
    for i, label in enumerate(labels):
        place, shown = at + (count / 2 - i - 0.5) * height, figure_text(label)
        axes.barh(place, values[:, i], height, color=COLOURS[i % 6], alpha=0.8, label=shown)
        if spread is not None:
            ends = np.clip([values[:, i] - spread[:, i], values[:, i] + spread[:, i]], *limits)
            axes.errorbar(values[:, i], place, xerr=np.abs(ends - values[:, i]), fmt="none", ecolor="#1a202c", lw=1)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.axvline(0, color="#4a5568", linewidth=0.8)
    axes.set_yticks(at, [figure_text(row) for row in rows])
    axes.set_xlabel(axis)
    set_title(axes, figure_text(title))
    axes.tick_params(axis="y", labelsize=8)
    figure.legend(loc="outside lower center", ncols=6, frameon=False, fontsize=9)
    return saved(figure, path)
