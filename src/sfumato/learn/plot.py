"""Pictures of coefficients: bars by feature, a colour and a mark per class; and how far their axis reaches."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.critical import critical_value
from sfumato.learn.telling import telling
from sfumato.pages.picture import COLOURS, empty_picture, saved, set_legend, set_title
from sfumato.printable import figure_text

#: The most rows of a picture, and the most bars.
MOST = 40
MOST_BARS = 120
_MARKS = ("o", "s", "^", "D", "v", "P")
#: How many times as far as the middle interval one that is not told from 0 is drawn.
_REACH = 3.0


def reach(low: Array, high: Array) -> tuple[float, float]:
    """The ends of an axis on which intervals can be compared, though some tell nothing.

    It holds 0, each interval that leaves 0 out, and of the others three times as much as the middle one takes, and the
    middle of each that lies mostly to one side of 0.

    >>> reach(np.array([-40.0, 0.1, -0.25]), np.array([38.0, 0.25, 0.5]))
    (-1.5, 1.5)
    >>> reach(np.array([-0.53, -0.01]), np.array([0.01, 0.01]))
    (-0.26, 0.01)
    """
    low, high = (np.where(np.isfinite(ends), ends, np.nan) for ends in (low, high))
    size, told = np.fmax(np.abs(low), np.abs(high)), (low > 0) | (high < 0)
    if np.isnan(size).all():
        return -1.0, 1.0
    middle = float(np.nanquantile(size, 0.5, method="lower"))
    point = np.abs(low + high) / 2
    aside = point > (high - low) / 4
    most = max(_REACH * middle, *(float(np.nanmax(x, where=y, initial=0.0)) for x, y in ((size, told), (point, aside))))
    ends = max(float(np.nanmin(low, initial=0.0)), -most), min(float(np.nanmax(high, initial=0.0)), most)
    return ends if ends[0] < ends[1] else (-1.0, 1.0)


def cut_axis(axes: Any, ends: tuple[float, float], at: Array, low: Array, high: Array) -> None:
    """Let the x axis end there, with an arrow at each interval that goes on."""
    room = 0.03 * (ends[1] - ends[0])
    left, right = ends[0] - room, ends[1] + room
    axes.set_xlim(left, right)
    marks: dict[str, Any] = {"color": "#1a202c", "ms": 5, "ls": "none", "clip_on": False, "zorder": 4}
    word = "goes on"
    for mark, end, beyond in (("<", left, low < left), (">", right, high > right)):
        if beyond.any():
            axes.plot(np.full(int(beyond.sum()), end), at[beyond], mark, **marks, label=word)
            word = "_"  # one entry of the legend for both


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
    """Horizontal bars, a group per row, a bar per label; of many rows those that surely tell the classes apart most.

    ``spread`` is half the width of a 95 % interval around every value, which ends at the ``limits`` of the possible.
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
        told = telling(values, None if spread is None else spread / critical_value(0.95))
        sure = int((told > 0).sum())
        kept = np.sort(np.argsort(-told, kind="stable")[: min(sure or most, most)])
        which = "the {} most telling of {}" if sure else "{} of {}, none of which surely tells"
        title = f"{title} ({which.format(len(kept), len(rows))})"
        rows, values = [rows[i] for i in kept], values[kept]
        spread = None if spread is None else spread[kept]
    figure, axes = empty_picture(7.2, 1.3 + 0.26 * len(rows) * max(count / 1.6, 1), grid="x")
    at = np.arange(len(rows))[::-1]
    height = 0.8 / count
    handles: list[Any] = []
    places = at[:, None] + (count / 2 - np.arange(count) - 0.5) * height
    spread = np.zeros_like(values) if spread is None else spread
    low, high = np.clip(values - spread, *limits), np.clip(values + spread, *limits)
    for i in range(len(labels)):
        bar = axes.barh(places[:, i], values[:, i], height, color=COLOURS[i], alpha=0.8)
        (mark,) = axes.plot(values[:, i], places[:, i], _MARKS[i], color=COLOURS[i], mec="white", mew=0.6, ls="none")
        handles.append((bar, mark))
        if spread.any():
            ends = np.abs([low[:, i] - values[:, i], high[:, i] - values[:, i]])
            axes.errorbar(values[:, i], places[:, i], xerr=ends, fmt="none", ecolor="#1a202c", lw=1)
    if spread.any() and not np.isfinite(limits).any():
        cut_axis(axes, reach(low, high), places, low, high)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.axvline(0, color="#4a5568", linewidth=0.8)
    axes.set_yticks(at, [figure_text(row) for row in rows])
    axes.set_xlabel(axis)
    set_title(axes, figure_text(title))
    axes.tick_params(axis="y", labelsize=8)
    if labels:
        set_legend(figure, [figure_text(label) for label in labels], handles, fontsize=9)
    return saved(figure, path)
