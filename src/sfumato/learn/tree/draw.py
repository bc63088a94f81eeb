"""A tree in words and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.learn.tree.grow import Node

if TYPE_CHECKING:
    from sfumato.learn.tree.classifier import DecisionTree

_COLOURS = ("#2b6cb0", "#c05621", "#2f855a", "#6b46c1", "#b7791f", "#c53030")


def text(tree: DecisionTree, depth: int | None = None) -> str:
    """A line per node: the question, the answer, how many records and how sure."""
    lines: list[str] = []
    total = max(float(tree.root_.counts.sum()), 1e-300)

    def visit(node: Node, indent: int, said: str) -> None:
        if node.attribute is None or (depth is not None and indent >= depth):
            lines.append(f"{'  ' * indent}{said}{_verdict(tree, node, total)}")
            return
        lines.append(f"{'  ' * indent}{said}{tree.features_[node.attribute]}?")
        for code, child in enumerate(node.children):
            visit(child, indent + 1, f"{_label(tree, node.attribute, code)}: ")

    visit(tree.root_, 0, "")
    return "\n".join(lines)


def draw(tree: DecisionTree, path: str | Path | None, depth: int) -> Any:
    """The top levels of a tree, left to right; boxes carry the class shares as a bar."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    rows: dict[int, float] = {}
    shown: list[tuple[Node, int]] = []

    def place(node: Node, level: int) -> float:
        shown.append((node, level))
        if node.attribute is None or level >= depth:
            rows[id(node)] = float(len([n for n, _ in shown if id(n) in rows and _is_end(n, shown, depth)]))
            return rows[id(node)]
        below = [place(child, level + 1) for child in node.children]
        rows[id(node)] = (below[0] + below[-1]) / 2
        return rows[id(node)]

    place(tree.root_, 0)
    ends = sum(_is_end(node, shown, depth) for node, _ in shown)
    levels = max(level for _, level in shown) + 1
    figure = Figure(figsize=(3.1 * levels + 1.0, 0.42 * ends + 1.3), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    width, height = 0.62, 0.62
    total = max(float(tree.root_.counts.sum()), 1e-300)
    for node, level in shown:
        y = rows[id(node)]
        left = 0.0
        for i, share in enumerate(node.probabilities):
            axes.add_patch(
                Rectangle((level + left * width, y - height / 2), share * width, height,
                          color=_COLOURS[i % len(_COLOURS)], alpha=0.28, linewidth=0)
            )  # fmt: skip
            left += float(share)
        leaf = node.attribute is None
        name = str(tree.classes_[int(node.probabilities.argmax())]) if leaf else tree.features_[node.attribute or 0]
        extra = f"{float(node.probabilities.max()):.0%} of {_share(float(node.counts.sum()) / total)}"
        note = extra if leaf or level < depth else f"… {len(node.leaves)} leaves"
        axes.text(level + 0.02, y, f"{name}  {note}" if leaf or level >= depth else f"{name}?", va="center", fontsize=8,
                  fontweight="normal" if leaf else "bold")  # fmt: skip
        if not leaf and level < depth:
            for code, child in enumerate(node.children):
                to = rows[id(child)]
                axes.plot([level + width, level + 1], [y, to], color="#a0aec0", linewidth=1, zorder=0)
                label = _label(tree, node.attribute or 0, code)
                axes.text(level + 0.985, to, label, fontsize=7, ha="right", va="center", color="#4a5568",
                          bbox={"color": "white", "pad": 1})  # fmt: skip
    axes.set_xlim(-0.05, levels - 0.3)
    axes.set_ylim(ends - 0.4, -0.7)
    axes.axis("off")
    legend = [Rectangle((0, 0), 1, 1, color=_COLOURS[i % len(_COLOURS)], alpha=0.28) for i in range(len(tree.classes_))]
    figure.legend(legend, [str(label) for label in tree.classes_], loc="outside lower center", ncols=6, frameon=False,
                  title=tree.target_, fontsize=8, title_fontsize=8)  # fmt: skip
    if path is not None:
        figure.savefig(str(path), dpi=150)
    return figure


def _is_end(node: Node, shown: list[tuple[Node, int]], depth: int) -> bool:
    return node.attribute is None or len(node.path) >= depth


def _verdict(tree: DecisionTree, node: Node, total: float) -> str:
    best = int(node.probabilities.argmax())
    sure = f"{float(node.probabilities[best]):.1%}"
    if node.low is not None and node.high is not None:
        sure += f" ({node.low[best]:.1%} to {node.high[best]:.1%})"
    return f"{tree.classes_[best]}  {sure}, {_share(float(node.counts.sum()) / total)} of records"


def _label(tree: DecisionTree, attribute: int, code: int) -> str:
    return str(tree.schema_[tree.features_[attribute]].labels[code])


def _share(share: float) -> str:
    return f"{share:.1%}" if share < 0.1 else f"{share:.0%}"
