"""A drawing of a network: parents above children, links as strong as their evidence, tables on demand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.errors import EstimationError
from sfumato.learn.bayesnet.structure import Parents, topological

if TYPE_CHECKING:
    from sfumato.learn.bayesnet.network import BayesianNetwork

_INK, _FILL, _LINE, _FAINT = "#1a365d", "#ebf4ff", "#2b6cb0", "#a0aec0"
_MOST_ROWS = 32


def plot(
    net: BayesianNetwork,
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

    shown = list(net.parents_) if cpts is True else list(cpts or ())
    for node in shown:
        net.cpt(node)
    places = layout(net.parents_)
    across = max((x for x, _ in places.values()), default=0.0) - min((x for x, _ in places.values()), default=0.0)
    down = max(y for _, y in places.values())
    wide = max(len(node) for node in places)
    step = max(1.15, 0.105 * wide + 0.55)
    width, height = max(4.2, step * (across + 1.2)), max(2.2, 1.15 * (down + 1) + 0.6)
    tables = [_Table(net, node) for node in shown]
    side = max((table.width for table in tables), default=0.0)
    tall = sum(table.height for table in tables)
    figure = Figure(figsize=(width + side, max(height, tall)), layout=None)
    FigureCanvasAgg(figure)
    total_w, total_h = width + side, max(height, tall)
    axes = figure.add_axes((0.0, 0.0, width / total_w, 1.0))
    left = min((x for x, _ in places.values()), default=0.0)
    axes.set_xlim((left - 0.6) * step, (left + across + 0.6) * step)
    axes.set_ylim(-(down + 0.55) * 1.15, 0.75 if title else 0.6)
    axes.axis("off")
    if title:
        axes.set_title(title, loc="left", x=0.03, y=1.0, pad=-14, fontsize=11, color=_INK)
    spots = {node: (x * step, -y * 1.15) for node, (x, y) in places.items()}
    _links(axes, net, spots, truth)
    for node, (x, y) in spots.items():
        axes.text(
            x, y, node, ha="center", va="center", fontsize=10, color=_INK, zorder=3,
            bbox={"boxstyle": "round,pad=0.45", "facecolor": _FILL, "edgecolor": _LINE, "linewidth": 1.2},
        )  # fmt: skip
    top = 1.0
    for table in tables:
        top -= table.height / total_h
        table.draw(figure.add_axes((width / total_w, top, side / total_w, table.height / total_h)))
    if path is not None:
        try:
            figure.savefig(str(path), dpi=150)
        except (OSError, ValueError) as problem:
            raise EstimationError(f"{path}: the picture cannot be written: {problem}") from None
    return figure


def layout(parents: Parents) -> dict[str, tuple[float, float]]:
    """A place (across, down) for each node: below its parents, near the middle of them, links crossing little.

    >>> layout({"a": (), "b": ("a",)})
    {'a': (0.0, 0), 'b': (0.0, 1)}
    """
    order = topological(parents)
    children: dict[str, list[str]] = {node: [] for node in order}
    for node in order:
        for parent in parents[node]:
            children[parent].append(node)
    row: dict[str, int] = {}
    for node in order:
        row[node] = 1 + max((row[parent] for parent in parents[node]), default=-1)
    for node in reversed(order):  # a root moves down to just above its first child
        if not parents[node] and children[node]:
            row[node] = min(row[child] for child in children[node]) - 1
    rows = [[node for node in order if row[node] == level] for level in range(max(row.values()) + 1)]
    across = {node: float(i - (len(nodes) - 1) / 2) for nodes in rows for i, node in enumerate(nodes)}
    for sweep in range(24):
        for nodes in rows if sweep % 2 else rows[::-1]:
            wish = {}
            for node in nodes:
                near = [across[other] for other in (*parents[node], *children[node])]
                wish[node] = float(np.mean(near)) if near else across[node]
            nodes.sort(key=lambda node: wish[node])
            _spread(nodes, wish, across)
    middle = (max(across.values()) + min(across.values())) / 2
    return {node: (round(across[node] - middle, 6) + 0.0, row[node]) for node in order}


def _spread(nodes: list[str], wish: dict[str, float], across: dict[str, float]) -> None:
    """As near to the wished places as a distance of 1 between neighbours allows."""
    at: list[float] = []
    for node in nodes:
        at.append(max(wish[node], at[-1] + 1.0) if at else wish[node])
    shift = float(np.mean([wish[node] for node in nodes])) - float(np.mean(at))
    for node, place in zip(nodes, at, strict=True):
        across[node] = place + shift


def _links(axes: Any, net: BayesianNetwork, spots: dict[str, tuple[float, float]], truth: Parents | None) -> None:
    from matplotlib.patches import FancyArrowPatch

    strength = {(edge.parent, edge.child): edge.statistic for edge in net.edges_}
    real = {(p, c) for c, held in truth.items() for p in held} if truth is not None else None
    found = {(p, c) for c, held in net.parents_.items() for p in held}
    for parent, child in sorted(found | (real or set())):
        missing = (parent, child) not in found
        if missing and (child, parent) in found:
            continue
        wrong = real is not None and (parent, child) not in real and (child, parent) not in real
        weight = strength.get((parent, child), 60.0)
        (x0, y0), (x1, y1) = spots[parent], spots[child]
        far = abs(y1 - y0) > 1.5 or abs(y1 - y0) < 0.5
        axes.add_patch(
            FancyArrowPatch(
                (x0, y0), (x1, y1), arrowstyle="-|>", mutation_scale=13, shrinkA=15, shrinkB=15, zorder=1,
                connectionstyle=f"arc3,rad={0.16 if far else 0.0}",
                color="#c53030" if wrong else _FAINT if missing else _LINE,
                linestyle="--" if missing else "-",
                linewidth=1.2 if missing else 0.9 + 0.5 * np.log10(1 + max(weight, 0.0)),
            )
        )  # fmt: skip


class _Table:
    """One conditional probability table as a grid, darker where more probable."""

    def __init__(self, net: BayesianNetwork, node: str) -> None:
        cpt = net.cpts_[node]
        self.node, self.parents = node, cpt.parents
        self.values = cpt.values.reshape(-1, cpt.shape[-1])
        if len(self.values) > _MOST_ROWS:
            raise EstimationError(f"the table of {node} has {len(self.values)} rows: too many to draw")
        labels = [[str(label) for label in net.schema_[name].labels] for name in cpt.parents]
        places = np.ndindex(*cpt.shape[:-1])
        self.rows = [", ".join(label[code] for label, code in zip(labels, place, strict=True)) for place in places]
        self.columns = [str(label) for label in net.schema_[node].labels]
        self.sds = cpt.sd().reshape(self.values.shape) if cpt.family is not None else None
        self.margin = 0.075 * max((len(row) for row in self.rows), default=0) + 0.35
        self.cell = max(0.72, 0.075 * max(len(column) for column in self.columns) + 0.2)
        self.width = self.margin + self.cell * len(self.columns) + 0.3
        self.height = 0.24 * len(self.rows) + 0.75

    def draw(self, axes: Any) -> None:
        axes.set_xlim(0, self.width)
        axes.set_ylim(self.height, 0)
        axes.axis("off")
        given = f" | {', '.join(self.parents)}" if self.parents else ""
        axes.text(0.1, 0.22, f"{self.node}{given}", fontsize=9, color=_INK, weight="bold", va="center")
        for i, column in enumerate(self.columns):
            axes.text(self.margin + self.cell * (i + 0.5), 0.45, column, fontsize=7.5, ha="center", va="center")
        for j, row in enumerate(self.rows):
            y = 0.58 + 0.24 * j
            axes.text(self.margin - 0.1, y + 0.12, row, fontsize=7.5, ha="right", va="center")
            for i, value in enumerate(self.values[j]):
                x = self.margin + self.cell * i
                axes.fill_between([x, x + self.cell - 0.03], y, y + 0.21, color=_LINE, alpha=0.08 + 0.5 * value, lw=0)
                said = f"{value:.2f}"
                if self.sds is not None and np.isfinite(self.sds[j, i]):
                    said += f" ±{min(self.sds[j, i], 9.99):.2f}".replace("±0.", "±.")
                axes.text(x + self.cell / 2, y + 0.115, said, fontsize=7, ha="center", va="center")
