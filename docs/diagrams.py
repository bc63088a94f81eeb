"""Diagrams of the guide: drawn from words and boxes, where a chart of numbers would not say it."""

from __future__ import annotations

import numpy as np

from sfumato.pages.picture import empty_picture

BLUE, ORANGE, RED, GREEN, INK, SOFT = "#2b6cb0", "#c05621", "#c53030", "#2f855a", "#1a202c", "#4a5568"


def _blank(width: float, height: float) -> tuple[object, object]:
    """A figure whose axes count in inches, and are not seen."""
    figure, axes = empty_picture(width, height)
    axes.set(xlim=(0, width), ylim=(0, height))
    axes.axis("off")
    return figure, axes


def _box(axes, x: float, y: float, width: float, height: float, title: str, lines: list[str], colour: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    shape = FancyBboxPatch(
        (x, y), width, height, boxstyle="round,pad=0,rounding_size=0.08", fc="white", ec=colour, lw=1.6
    )
    axes.add_patch(shape)
    axes.text(
        x + width / 2, y + height - 0.12, title, ha="center", va="top", fontsize=10.5, weight="bold", color=colour
    )
    for place, line in enumerate(lines):
        axes.text(x + width / 2, y + height - 0.44 - 0.25 * place, line, ha="center", va="top", fontsize=8.6, color=INK)


def _arrow(axes, start: tuple[float, float], end: tuple[float, float], colour: str = SOFT) -> None:
    style = {"arrowstyle": "-|>", "color": colour, "lw": 1.4, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=style)


def scale() -> object:
    """Pieces of a table, thrown into buckets, become files whose rows come from everywhere."""
    figure, axes = _blank(9.4, 3.5)
    rng = np.random.default_rng(4)
    colours = np.array([BLUE, ORANGE, GREEN])
    of_piece, per_file, size = np.repeat(np.arange(3), 24), 24, 0.17
    buckets = rng.permutation(of_piece)

    def block(x: float, y: float, values: np.ndarray, changed: bool) -> None:
        for place, value in enumerate(values):
            at = (x + (place % 8) * size, y - (place // 8) * size)
            mark = {"marker": "s", "s": 52, "color": colours[value]}
            axes.scatter(*at, alpha=0.35 if changed else 1.0, linewidths=0, **mark)

    titles = ("the table, in pieces", "randomized, piece by piece", "the release, in files")
    for column, title in zip((0.3, 3.7, 7.1), titles, strict=True):
        axes.text(column - 0.1, 3.45, title, fontsize=10.5, weight="bold", color=INK, va="top")
    for row in range(3):
        y = 2.75 - row * 0.95
        part = slice(row * per_file, (row + 1) * per_file)
        block(0.3, y, of_piece[part], False)
        block(3.7, y, of_piece[part], True)
        block(7.1, y, buckets[part], True)
        _arrow(axes, (1.85, y - 0.17), (3.45, y - 0.17))
        for other in range(3):
            _arrow(axes, (5.25, y - 0.17), (6.85, 2.58 - other * 0.95), "#a0aec0")
    for x, said in ((2.65, "each answer is drawn"), (6.05, "rows go anywhere")):
        axes.text(x, 2.7, said, ha="center", va="bottom", fontsize=8.6, color=SOFT)
    said = "A colour is a piece of the table. In the files its rows are everywhere, in an order that says nothing."
    axes.text(0.2, 0.1, said, fontsize=9, color=SOFT)
    return figure


def threat_model() -> object:
    """The road of an answer, and what is seen at every place."""
    figure, axes = _blank(10.4, 3.6)
    places = [
        (0.1, "your device", ["your true answer", "a key for this study", "the changed answer"], BLUE),
        (2.85, "the network", ["that you took part", "when", "how many bytes"], SOFT),
        (5.6, "the server", ["the changed answer", "your address, for a moment", "the hour"], ORANGE),
        (8.35, "the miner", ["estimates", "rows without ids,", "times and order"], GREEN),
    ]
    for x, title, lines, colour in places:
        _box(axes, x, 1.55, 1.95, 1.35, title, lines, colour)
    for x in (2.05, 4.8, 7.55):
        _arrow(axes, (x + 0.06, 2.2), (x + 0.74, 2.2))
    axes.plot([2.42, 2.42], [0.2, 3.3], ls="--", lw=1.6, color=RED)
    crosses = "what crosses was drawn by chance: it shifts nobody's odds by more than gamma"
    axes.text(2.5, 3.3, crosses, color=RED, fontsize=9.5, va="center")
    below = (
        (0.1, "Trusted with the truth", BLUE, "the page, the device, and you,\nif you answer once"),
        (
            2.85,
            "Not trusted with it, one by one or all together",
            SOFT,
            "The bound needs no crowd, no honest server and no secret of others.\n"
            "But a dishonest server can send a page that does not randomize.",
        ),
    )
    for x, title, colour, said in below:
        axes.text(x, 1.1, title, fontsize=9.5, weight="bold", color=colour)
        axes.text(x, 0.98, said, fontsize=8.8, color=INK, va="top")
    return figure
