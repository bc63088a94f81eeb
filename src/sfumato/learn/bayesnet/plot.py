"""A drawing of a network: parents above children, links as strong as their evidence, tables on demand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np

from sfumato.learn.bayesnet.layout import Place, routed
from sfumato.learn.bayesnet.learned import LearnedNetwork
from sfumato.learn.bayesnet.parameters import CPT
from sfumato.learn.bayesnet.structure import Parents
from sfumato.pages.picture import save_picture
from sfumato.printable import figure_text

Ways = dict[tuple[str, str], list[Place]]

_INK, _FILL, _LINE, _FAINT = "#1a365d", "#ebf4ff", "#2b6cb0", "#a0aec0"
_UNKNOWN = "unknown"  # in place of a probability that the records tell nothing about
_MOST_ROWS, _MOST_COLUMNS = 16, 10
_UNTESTED = 1e-10  # the p-value that a link without one is drawn as
#: The width of a picture in inches, unless a single table or very many links take more.
PAGE = 11.0
#: Of the boxes of nodes: the size of their letters, half their height, and how far apart rows stand, in inches.
_SIZE, _HALF_HEIGHT, _PITCH = 10, 0.135, 1.1
#: How far above and below a row a passing link is upright, and how far above its box an arrow ends.
_CLEAR, _HEAD = 0.06, 0.02


def plot(
    net: LearnedNetwork,
    path: str | Path | None = None,
    *,
    cpts: bool | Sequence[str] = False,
    title: str | None = None,
    truth: Parents | None = None,
) -> Any:
    """Draw the network and, given a path, write it.

    ``cpts`` adds the tables of all nodes or of the named ones. With ``truth``, the parents as they really are, links
    too many are drawn red and missing ones dashed.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shown = list(net.parents_) if cpts is True else [cpts] if isinstance(cpts, str) else list(cpts or ())
    for node in shown:
        net.cpt(node)
    step = max(1.15, 2 * max(map(_half_width, net.parents_)) + 0.35)  # one unit of the drawing is one inch
    spots, ways = _on_a_page(net.parents_, step)
    left, right, down = _extent(spots, ways)
    width, height = max(3.6, right - left + 1.2 * step), down + 1.1 + (0.35 if title else 0.1)
    tables = [_Table(net, node) for node in shown]
    shelves = _shelves(tables, max(PAGE, width))
    total_w = max([width, *(sum(table.width for table in shelf) for shelf in shelves)])
    total_h = height + sum(max(table.height for table in shelf) for shelf in shelves)
    figure = Figure(figsize=(total_w, total_h))
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.0, 1 - height / total_h, 1.0, height / total_h))
    middle, top = (left + right) / 2, 0.55 + (0.3 if title else 0.0)
    axes.set_xlim(middle - total_w / 2, middle + total_w / 2)
    axes.set_ylim(top - height, top)
    axes.axis("off")
    if title:
        axes.text(middle - total_w / 2 + 0.12, 0.68, figure_text(title), fontsize=11, color=_INK, va="center")
    _links(axes, net, spots, ways, truth)
    for node, (x, y) in spots.items():
        axes.text(
            x, y, figure_text(node), ha="center", va="center", fontsize=_SIZE, color=_INK, zorder=3,
            bbox={"boxstyle": "round,pad=0.45", "facecolor": _FILL, "edgecolor": _LINE, "linewidth": 1.2},
        )  # fmt: skip
    under = total_h - height
    for shelf in shelves:
        begin, under = 0.0, under - max(table.height for table in shelf)
        for table in shelf:
            gap = max(other.height for other in shelf) - table.height
            box = (begin / total_w, (under + gap) / total_h, table.width / total_w, table.height / total_h)
            table.draw(figure.add_axes(box))
            begin += table.width
    if path is not None:
        save_picture(figure, path)
    return figure


def _links(
    axes: Any,
    net: LearnedNetwork,
    spots: dict[str, Place],
    ways: Ways,
    truth: Parents | None,
) -> None:
    from matplotlib.patches import FancyArrowPatch

    sureness = {(edge.parent, edge.child): edge.p_value for edge in net.edges_ if not math.isnan(edge.p_value)}
    real = {(p, c) for c, held in truth.items() for p in held} if truth is not None else None
    found = {(p, c) for c, held in net.parents_.items() for p in held}
    for parent, child in sorted(found | (real or set())):
        missing = (parent, child) not in found
        if missing and (child, parent) in found:
            continue
        wrong = real is not None and (parent, child) not in real and (child, parent) not in real
        color = "#c53030" if wrong else _FAINT if missing else _LINE
        width = 1.2 if missing else _thickness(sureness.get((parent, child), _UNTESTED))
        if missing:
            way = _arc(spots[parent], spots[child])
            _stop_at_box(way, child)
        else:
            way = _way(spots[parent], ways.get((parent, child), []), spots[child])
        patch = FancyArrowPatch(path=way, arrowstyle="-|>", mutation_scale=13)
        patch.set(color=color, linewidth=width, linestyle="--" if missing else "-", zorder=1)
        axes.add_patch(patch)


def _thickness(p_value: float) -> float:
    """The smaller the p-value the thicker, whatever test it comes from: statistics of many directions are large by
    nature."""
    return 0.8 + math.log10(1 - math.log10(max(p_value, 1e-300)))


def _stop_at_box(way: Any, node: str) -> None:
    """Pull the end of a path back to the edge of the box it points at."""
    ahead = way.vertices[-1] - way.vertices[-2]
    ahead = ahead / np.linalg.norm(ahead)
    half = np.array([_half_width(node), _HALF_HEIGHT])
    with np.errstate(divide="ignore"):
        back = float((half / np.abs(ahead)).min()) + 0.03
    way.vertices[-1] -= back * ahead
    if len(way.vertices) > 2:
        way.vertices[-2] -= 0.5 * back * ahead


def _half_width(node: str) -> float:
    """Half the width of a node's box, in inches: that of its text, and what stands around it."""
    from matplotlib.textpath import TextPath

    return float(TextPath((0, 0), figure_text(node), size=_SIZE).get_extents().width) / 144 + 0.1


def _arc(start: Place, end: Place) -> Any:
    """A bow that passes beside the straight line."""
    from matplotlib.path import Path as Curve

    (x0, y0), (x1, y1) = start, end
    away = ((x0 + x1) / 2 + 0.18 * (y1 - y0), (y0 + y1) / 2 - 0.18 * (x1 - x0))
    return Curve(np.array([start, away, end]), [Curve.MOVETO, Curve.CURVE3, Curve.CURVE3])


def _way(start: Place, stops: Sequence[Place], end: Place) -> Any:
    """A path from the foot of one box to the head of another: upright beside the boxes that it passes, else bent."""
    from matplotlib.path import Path as Curve

    (x, y), steps, codes = (start[0], start[1] - _HALF_HEIGHT), [], [Curve.MOVETO]
    steps.append((x, y))
    for i, (across, down) in enumerate([*stops, end]):
        above = down + _HALF_HEIGHT + (_CLEAR if i < len(stops) else _HEAD)
        steps += [(x, (y + above) / 2), (across, (y + above) / 2), (across, above)]
        codes += [Curve.CURVE4] * 3
        x, y = across, above
        if i < len(stops):
            y = down - _HALF_HEIGHT - _CLEAR
            steps.append((x, y))
            codes.append(Curve.LINETO)
    return Curve(np.array(steps), codes)


def _on_a_page(parents: Parents, step: float) -> tuple[dict[str, Place], Ways]:
    """Places in inches: with as many nodes side by side as a page holds; the narrowest, where it holds none."""
    drawings = []
    for across in range(max(int(PAGE / step), 1), 0, -1):
        places, stops = routed(parents, across)
        spots = {node: (x * step, -y * _PITCH) for node, (x, y) in places.items()}
        ways = {link: [(x * step, -y * _PITCH) for x, y in way] for link, way in stops.items()}
        left, right, _ = _extent(spots, ways)
        drawings.append((right - left, spots, ways))
        if right - left + 1.2 * step <= PAGE:
            break
    _, spots, ways = min(drawings, key=lambda drawing: drawing[0])
    return spots, ways


def _extent(spots: Mapping[str, Place], ways: Ways) -> tuple[float, float, float]:
    """How far nodes and links reach to the left, to the right and down."""
    across = [x for place in (list(spots.values()), *ways.values()) for x, _ in place]
    return min(across), max(across), -min(y for _, y in spots.values())


def _shelves(tables: Sequence[_Table], width: float) -> list[list[_Table]]:
    """The tables in rows no wider than the page."""
    out: list[list[_Table]] = []
    for table in tables:
        if not out or sum(other.width for other in out[-1]) + table.width > width:
            out.append([])
        out[-1].append(table)
    return out


def _commonest(cpt: CPT) -> tuple[list[int], list[int]]:
    """The rows and columns of a table that are shown: those of most records, in the order of the values."""
    counts = (cpt.counts if cpt.estimate is not None else cpt.values).reshape(-1, cpt.shape[-1])
    rows = np.argsort(-counts.sum(1), kind="stable")[:_MOST_ROWS]
    columns = np.argsort(-counts.sum(0), kind="stable")[:_MOST_COLUMNS]
    return np.sort(rows).tolist(), np.sort(columns).tolist()


def _cut(label: str) -> str:
    """As much of a label as fits above a column: two that begin with the same word stay apart, bins stay whole."""
    most = 26 if label.startswith("[") else 18
    return label if len(label) <= most else label[: most - 1].rstrip() + "…"


class _Table:
    """One conditional probability table as a grid, darker where more probable."""

    def __init__(self, net: LearnedNetwork, node: str) -> None:
        cpt = net.cpts_[node]
        self.node, self.parents = node, cpt.parents
        kept_rows, kept_columns = _commonest(cpt)
        self.values = cpt.values.reshape(-1, cpt.shape[-1])[np.ix_(kept_rows, kept_columns)]
        labels = [[figure_text(label) for label in net.schema_[name].labels] for name in cpt.parents]
        places = np.ndindex(*cpt.shape[:-1])
        rows = [", ".join(label[code] for label, code in zip(labels, place, strict=True)) for place in places]
        self.rows = [shorten(rows[i], 44, placeholder=" …") for i in kept_rows]
        self.hidden = len(rows) - len(self.rows)
        own = net.schema_[node].labels
        self.columns = [_cut(figure_text(own[i])) for i in kept_columns]
        self.cut = len(own) - len(self.columns)
        sds = cpt.sd().reshape(-1, cpt.shape[-1]) if cpt.estimate is not None else None
        self.sds = sds[np.ix_(kept_rows, kept_columns)] if sds is not None else None
        known = cpt.known.reshape(-1, cpt.shape[-1]) if cpt.estimate is not None else None
        self.known = known[np.ix_(kept_rows, kept_columns)] if known is not None else None
        self.margin = 0.075 * max((len(row) for row in self.rows), default=0) + 0.35
        self.cell = max(0.78, 0.075 * max(len(column) for column in self.columns) + 0.2)
        self.width = self.margin + self.cell * len(self.columns) + 0.3
        self.height = 0.24 * len(self.rows) + 0.75 + (0.2 if self.hidden or self.cut else 0.0)

    def draw(self, axes: Any) -> None:
        axes.set_xlim(0, self.width)
        axes.set_ylim(self.height, 0)
        axes.axis("off")
        given = f" | {', '.join(self.parents)}" if self.parents else ""
        axes.text(0.1, 0.22, figure_text(f"{self.node}{given}"), fontsize=9, color=_INK, weight="bold", va="center")
        for i, column in enumerate(self.columns):
            axes.text(self.margin + self.cell * (i + 0.5), 0.45, column, fontsize=7.5, ha="center", va="center")
        for j, row in enumerate(self.rows):
            y = 0.58 + 0.24 * j
            axes.text(self.margin - 0.1, y + 0.12, row, fontsize=7.5, ha="right", va="center")
            for i, value in enumerate(self.values[j, : len(self.columns)]):
                x = self.margin + self.cell * i
                said = self._said(j, i)
                shade = 0.0 if said == _UNKNOWN else 0.08 + 0.5 * value
                axes.fill_between([x, x + self.cell - 0.03], y, y + 0.21, color=_LINE, alpha=shade, lw=0)
                axes.text(x + self.cell / 2, y + 0.115, said, fontsize=7, ha="center", va="center")
        left = [f"{many} rarer {what}" for many, what in ((self.hidden, "rows"), (self.cut, "values")) if many]
        if left:
            said, y = f"and {' and '.join(left)}", 0.7 + 0.24 * len(self.rows)
            axes.text(self.margin, y, said, fontsize=7.5, va="center")

    def _said(self, j: int, i: int) -> str:
        """What a cell says; parents that hardly any record is estimated to hold tell nothing of it."""
        if self.sds is None or self.known is None:
            return f"{self.values[j, i]:.2f}"
        if not self.known[j, i]:
            return _UNKNOWN
        sd = float(self.sds[j, i])
        digits = 2 if sd == 0 or sd >= 0.005 else 3 if sd >= 0.0005 else 4  # no error of an estimate is 0
        return f"{self.values[j, i]:.{digits}f} ±{sd:.{digits}f}".replace("±0.", "±.")
