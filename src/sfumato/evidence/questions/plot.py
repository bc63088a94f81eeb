"""Pictures of answers: a point with its interval for each row, or running shares with the band of their course."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.errors import EstimationError
from sfumato.evidence.plot import MOST_DRAWN
from sfumato.evidence.questions.course import band, line
from sfumato.evidence.questions.values import are_years
from sfumato.pages.picture import empty_picture, mark_thousands, name_places, saved
from sfumato.printable import figure_text, level_text

if TYPE_CHECKING:
    from sfumato.evidence.questions.rows import Rows

_COLOURS = ("#2b6cb0", "#c05621", "#2f855a", "#6b46c1", "#b83280", "#4a5568")
_DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)))


def plot(
    rows: Rows,
    path: str | Path | None = None,
    *,
    level: float = 0.95,
    truth: ArrayLike | None = None,
    title: str | None = None,
) -> Any:
    """Draw the answers and, given a path, write them; ``truth``, one number a row, is drawn beside them."""
    known = None if truth is None else np.ravel(np.asarray(truth, dtype=np.float64))
    if known is not None and len(known) != len(rows.value):
        raise EstimationError(f"truth must have {len(rows.value)} numbers, one for each row, got {len(known)} instead")
    running = rows.running is not None
    if not running and len(rows.value) > MOST_DRAWN:
        raise EstimationError(f"a picture of {len(rows.value)} rows cannot be read; ask for at most {MOST_DRAWN}")
    height = 4.2 if running else 1.6 + 0.3 * len(rows.value)
    figure, axes = empty_picture(7.2, height, grid="both" if running else "x")
    (_curves if running else _bars)(rows, axes, level, known)
    axes.set_title(figure_text(title or rows.title), loc="left", fontsize=11)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return saved(figure, path)


def _bars(rows: Rows, axes: Any, level: float, truth: Any) -> None:
    low, high = rows.interval(level)
    at = np.arange(len(rows.value))[::-1]
    axes.hlines(at, low, high, color=_COLOURS[0], linewidth=5, alpha=0.35, label=f"{level_text(level)} interval")
    known = np.where(rows.open(level), np.nan, rows.value)
    axes.plot(known, at, "o", color=_COLOURS[0], markersize=5, label="estimate")
    if truth is not None:
        axes.plot(truth, at, "|", color="#c53030", markersize=13, markeredgewidth=2, label="truth")
    axes.set_yticks(at, [", ".join(map(figure_text, label)) or "all" for label in rows.labels()])
    axes.set_ylim(-0.7, len(at) - 0.3)
    if rows.named and not rows.between_places:
        name_places(axes, list(rows.named))
    else:
        mark_thousands(axes, rows.of_years)


def _largest(rows: Rows, groups: list[tuple[Any, ...]], names: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The groups that are drawn: of more than there are colours, those of most records."""
    if len(names) <= len(_COLOURS):
        return names
    answered = rows.beside.get("answered", np.zeros(len(groups)))
    size = dict(zip(groups, answered.tolist(), strict=True))
    kept = sorted(names, key=lambda name: -size[name])[: len(_COLOURS)]
    return [name for name in names if name in kept]


def _curves(rows: Rows, axes: Any, level: float, truth: Any) -> None:
    low, high = rows.interval(level)
    ends = list(dict.fromkeys(rows.keys[rows.running or ""]))
    groups = [label[:-1] for label in rows.labels()]
    numeric = all(isinstance(end, int | float) for end in ends) and ends == sorted(ends)
    x = np.array(ends, dtype=np.float64) if numeric else np.arange(len(ends), dtype=np.float64)
    spans = rows.spans if numeric and rows.spans is not None else (x, x)
    names = list(dict.fromkeys(groups))
    unknown = rows.open(level) | np.isnan(rows.value)
    marks = []
    for number, name in enumerate(_largest(rows, groups, names)):
        own = np.array([group == name for group in groups])
        colour, dashes = _COLOURS[number], _DASHES[number]
        label = ", ".join(map(figure_text, name)) or f"estimate with {level_text(level)} band"
        if unknown[own][:-1].all() and own.sum() > 1:  # the last share is 1 of everybody
            axes.plot([], [], " ", label=f"{label}: not known")
            continue
        axes.fill_between(*band(*spans, low[own], high[own]), step="post", color=colour, alpha=0.2, linewidth=0)
        axes.plot(*line(*spans, rows.value[own]), color=colour, linestyle=dashes, label=label)
        marks += [] if truth is None else [truth[own]]
    for place, mark in enumerate(marks):
        axes.plot(
            x, mark, "x", color="#c53030", markersize=4, label="_" if place else "truth"
        )  # the last in the legend
    axes.set_ylim(-0.02, 1.02)
    if numeric:
        mark_thousands(axes, are_years(ends[0], ends[-1]))
    else:
        name_places(axes, [figure_text(end) for end in ends])
    reached = (rows.running or "").rstrip("_").replace("_", " ")
    axes.set_xlabel(figure_text(f"{reached} this value of {rows.attribute}" if rows.attribute else reached))
    some = f"; {len(_COLOURS)} of {len(names)} groups" if len(names) > len(_COLOURS) else ""
    axes.set_ylabel(f"running share, with {level_text(level)} intervals{some}")
