"""A tree in words and as a picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten, wrap
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.questions.answer import ALL_POSSIBLE
from sfumato.learn.tree.grow import Node, ShownTree
from sfumato.pages.picture import COLOURS, GREY, empty_picture, saved, set_legend
from sfumato.printable import figure_text, is_bin, label_text, many, percentage, printable, readable_bins, stretch

#: The most ends of a picture that can still be read, and the shares of records tried to keep to it.
MOST_ENDS = 40
SHARES = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
_LETTERS = 13  # of a title that fit into an inch


@dataclass(frozen=True, eq=False)
class Branch:
    """A node as it is shown: leaves side by side that say the same are one branch."""

    values: str  # of the question above
    node: Node
    codes: tuple[int, ...] = ()  # of these values


@dataclass(frozen=True, eq=False)
class Limits:
    """The limits of a branch: of the class shares among its records, and of its share of all; None if untold."""

    classes: Callable[[Branch], tuple[Array, Array] | None]
    held: Callable[[Branch], tuple[float, float] | None]


def branches(tree: ShownTree, node: Node, together: bool = True) -> list[Branch]:
    """What follows a node; ``together`` takes leaves of one answer as one."""
    names = tree.branch_labels(node)
    grouped: dict[int, list[int]] = {}
    for code, child in enumerate(node.children):
        alone = child.attribute is not None or not together
        grouped.setdefault(-1 - code if alone else int(child.counts.argmax()), []).append(code)
    out = []
    for codes in grouped.values():
        first = node.children[codes[0]]
        counts = np.sum([node.children[code].counts for code in codes], axis=0)
        shown = first if len(codes) == 1 else Node(first.path, counts)
        values = _values([printable(name) for name in names], codes, tree.in_order(node))
        out.append(Branch(values, shown, tuple(codes)))
    return out


def _values(names: list[str], codes: list[int], in_order: int) -> str:
    """The values of a branch; neighbours among the first, ordered ones as a stretch, if they are three or bins.

    >>> _values(["a", "b", "c", "d", "no answer"], [0, 1, 2, 4], 4), _values(["a", "b", "c"], [0, 1, 2], 0)
    ('a to c, no answer', 'a, b, c')
    >>> _values(["[0, 5)", "[5, 9)", "[9, 12]"], [0, 1], 3), _values(["a", "b", "c"], [0, 1], 3)
    ('[0, 9)', 'a, b')
    """
    runs: list[list[int]] = []
    for code in codes:
        if code < in_order and runs and code == runs[-1][-1] + 1:
            runs[-1].append(code)
        else:
            runs.append([code])
    parts = [
        [stretch(names[run[0]], names[run[-1]])]
        if len(run) > 2 or (len(run) == 2 and all(is_bin(names[x]) for x in run))
        else [names[x] for x in run]
        for run in runs
    ]
    return ", ".join(part for run in parts for part in run)


def _cut(values: str, letters: int) -> str:
    """Values in so many letters, cut after a whole one if there is room for it.

    >>> _cut("[0, 50000), [70000, 90000)", 20), _cut("a, b", 20)
    ('[0 to 50,000), …', 'a, b')
    """
    shown = readable_bins(values)
    if len(shown) <= letters:
        return shown
    end = shown.rfind(", ", 0, letters - 1)
    return f"{shown[:end]}, …" if end > 0 else shorten(shown, letters, placeholder=" …")


def text(
    tree: ShownTree,
    depth: int | None = None,
    least: float = 0.0,
    width: int | None = None,
    limits: Limits | None = None,
) -> str:
    """A line per branch: the question, the answer, how many records and how sure, with ``limits`` where there are."""
    lines: list[str] = []
    total = max(float(tree.root_.counts.sum()), 1e-300)

    def visit(branch: Branch, indent: int, said: str) -> None:
        node, below = branch.node, list[Branch]()
        if node.attribute is not None and (depth is None or indent < depth):
            together = bool(least) or all(child.low is None for child in node.children)
            below = _large(branches(tree, node, together), least * total)
        if node.attribute is None or not below:
            known = (node.low, node.high) if node.low is not None and node.high is not None else None
            told = known if known is not None or limits is None else limits.classes(branch)
            sure = _sure(node, told, limits is not None)
            held = _held(node, total, None if limits is None else limits.held(branch))
            best = printable(label_text(tree.classes_[int(node.probabilities.argmax())]))
            lines.append(f"{'  ' * indent}{said}{best}  {sure}, {held} of records{_closed(tree, node)}")
            return
        lines.append(f"{'  ' * indent}{said}{printable(tree.features_[node.attribute])}?")
        for one in below:
            values = one.values if width is None else _cut(one.values, width)
            visit(one, indent + 1, f"{values}: ")

    visit(Branch("", tree.root_), 0, "")
    return "\n".join(lines)


def least_share(tree: ShownTree, depth: int, most: int = MOST_ENDS) -> float:
    """The smallest share of the records that a branch must hold, so that at most so many ends are drawn."""
    total = max(float(tree.root_.counts.sum()), 1e-300)
    for least in SHARES:
        if _ends(tree, tree.root_, depth, least * total) <= most:
            return least
    return SHARES[-1]


def _ends(tree: ShownTree, node: Node, depth: int, least: float) -> int:
    below = _large(branches(tree, node), least) if node.attribute is not None and depth > 0 else []
    return sum(_ends(tree, one.node, depth - 1, least) for one in below) if below else 1


def _large(found: list[Branch], least: float) -> list[Branch]:
    """Branches of at least so many records; the small ones are taken as one, and where all are small none is left."""
    small = [one for one in found if float(one.node.counts.sum()) < least]
    if len(small) < 2 or len(small) == len(found):
        return [] if len(small) == len(found) else found
    counts = np.sum([one.node.counts for one in small], axis=0)
    kept = [one for one in found if not any(one is other for other in small)]
    codes = tuple(code for one in small for code in one.codes)
    return [*kept, Branch(f"{len(small)} small branches", Node(small[0].node.path, counts), codes)]


def draw(tree: ShownTree, path: str | Path | None, depth: int, limits: Limits | None = None) -> Any:
    """The top levels of a tree, left to right; boxes carry the class shares as a bar.

    Of a big tree the branches that hold few records are drawn together, and the picture says so.
    """
    from matplotlib.patches import Rectangle

    places: list[tuple[Branch, int, float]] = []  # branch, level, height
    lines: list[tuple[int, float, float]] = []  # level, from, to
    closed: set[int] = set()  # branches that are not followed further
    ends = 0

    def place(branch: Branch, level: int) -> float:
        nonlocal ends
        node = branch.node
        opened = _large(branches(tree, node), least * total) if node.attribute is not None and level < depth else []
        if not opened:
            ends += 1
            at = float(ends - 1)
            closed.add(id(branch))
        else:
            below = [place(one, level + 1) for one in opened]
            at = (below[0] + below[-1]) / 2
            lines.extend((level, at, to) for to in below)
        places.append((branch, level, at))
        return at

    least, total = least_share(tree, depth), max(float(tree.root_.counts.sum()), 1e-300)
    place(Branch("", tree.root_), 0)
    levels = max(level for _, level, _ in places) + 1
    figure, axes = empty_picture(3.4 * levels + 1.0, 0.42 * ends + 1.3)
    width, height = 0.56, 0.62
    order = np.argsort(-tree.root_.counts, kind="stable").tolist()  # the commonest classes have colours of their own
    own = len(COLOURS) if len(order) <= len(COLOURS) else len(COLOURS) - 1
    colours = {i: COLOURS[rank] if rank < own else GREY for rank, i in enumerate(order)}
    for level, start, to in lines:
        axes.plot([level + width, level + 1], [start, to], color="#a0aec0", linewidth=1, zorder=0)
    for branch, level, y in places:
        node = branch.node
        left = 0.0
        for i in order:
            share = float(node.probabilities[i])
            axes.add_patch(
                Rectangle((level + left * width, y - height / 2), share * width, height,
                          color=colours[i], alpha=0.28, linewidth=0)
            )  # fmt: skip
            left += share
        words = _words(tree, branch, id(branch) not in closed, total, limits)
        weight = "normal" if node.attribute is None else "bold"
        axes.text(level + 0.02, y, figure_text(words), va="center", fontsize=8, fontweight=weight)
        axes.text(level - 0.015, y, figure_text(_cut(branch.values, 26)), fontsize=7, ha="right",
                  va="center", color="#4a5568", bbox={"color": "white", "pad": 1})  # fmt: skip
    axes.set_xlim(-0.05, levels - 0.3)
    axes.set_ylim(ends - 0.4, -0.7)
    axes.axis("off")
    hidden = [f"the first {many(depth, 'level')} of {tree.root_.depth}"] if tree.root_.depth > depth else []
    if least:
        hidden.append(f"several branches of less than {percentage(least, 1)} of the records are drawn together")
    sure = "its share" if limits is None else "its share with the 95 % interval"
    title = f"How to tell {tree.target_}: in each box the answer, {sure}, and about how many of the records are there"
    leaves = f"{many(len(tree.root_.leaves), 'leaf', 'leaves')}: {'; '.join(hidden)}" if hidden else ""
    room = int(_LETTERS * figure.get_figwidth())
    heading = [figure_text(line) for text in (title, leaves) for line in wrap(text, room)]
    figure.suptitle("\n".join(heading), x=0.01, ha="left", fontsize=9)
    names = {figure_text(tree.classes_[i]): colours[i] for i in order[:own]}
    if len(order) > own:
        names[f"{len(order) - own} rarer ones"] = GREY
    legend = [Rectangle((0, 0), 1, 1, color=colour, alpha=0.28) for colour in names.values()]
    set_legend(figure, list(names), legend, title=figure_text(tree.target_), fontsize=8, title_fontsize=8)
    return saved(figure, path)


def _words(tree: ShownTree, branch: Branch, opened: bool, total: float, limits: Limits | None) -> str:
    """What a box says."""
    node = branch.node
    if node.attribute is not None:
        name = tree.features_[node.attribute]
        return f"{name}?" if opened else f"{name} … {many(len(node.leaves), 'leaf', 'leaves')}"
    best = int(node.probabilities.argmax())
    said, share = label_text(tree.classes_[best]), _share(float(node.counts.sum()) / total)
    if limits is None:
        return f"{said}: {percentage(node.probabilities[best])} of {share}"
    low, high = _ends_of(node, limits.classes(branch))
    sure = f"{100 * low:.0f}–{percentage(high)}" if high - low < ALL_POSSIBLE else "not told"
    return f"{said}: {percentage(node.probabilities[best])} ({sure}) of {share}"


def _held(node: Node, total: float, limits: tuple[float, float] | None) -> str:
    """The share of the records that a branch leads to, with its limits, which hold it."""
    share = float(node.counts.sum()) / total
    if limits is None or not node.path:
        return _share(share)
    low, high = min(limits[0], share), max(limits[1], share)
    return f"{_share(share)} ({percentage(low, 1)} to {percentage(high, 1)})"


def _sure(node: Node, limits: tuple[Array, Array] | None, asked: bool) -> str:
    """The share of the commonest class with its limits; those that leave nearly all open tell nothing."""
    share = float(node.probabilities.max())
    low, high = _ends_of(node, limits)
    if high - low < ALL_POSSIBLE:
        return f"{percentage(share, 1)} ({percentage(low, 1)} to {percentage(high, 1)})"
    return percentage(share, 1) + (" (not told)" if asked or limits is not None else "")


def _ends_of(node: Node, limits: tuple[Array, Array] | None) -> tuple[float, float]:
    """The limits of the commonest class, which hold its share."""
    best = int(node.probabilities.argmax())
    share = float(node.probabilities[best])
    low, high = (0.0, 1.0) if limits is None else (float(limits[0][best]), float(limits[1][best]))
    return min(low, share), max(high, share)


def _closed(tree: ShownTree, node: Node) -> str:
    """What follows a node that is not opened."""
    if node.attribute is None:
        return ""
    return f"; then {printable(tree.features_[node.attribute])}? ... {many(len(node.leaves), 'leaf', 'leaves')}"


def _share(share: float) -> str:
    """A share of the records; a few of them are not 0.0 %.

    >>> _share(0.00004), _share(0.0312), _share(0.31)
    ('under 0.1 %', '3.1 %', '31 %')
    """
    if share < 0.0005:
        return "under 0.1 %"
    return percentage(share, 1 if share < 0.1 else 0)
