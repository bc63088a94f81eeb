"""Pictures in files of their own, with one look: no frame above and on the right, a faint grid behind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from sfumato.errors import SfumatoError

ENDINGS = (".svg", ".png", ".pdf")
GRID = "#e2e8f0"
#: Colours that readers tell apart, also colour-blind ones: no more classes than these have one of their own.
COLOURS = ("#2b6cb0", "#c05621", "#2f855a", "#6b46c1", "#b7791f", "#c53030")
#: Of all further ones together.
GREY = "#a0aec0"
_TITLE = 52  # characters of a line that stands above the axes of a picture as wide as a page


def check_picture(path: str | Path) -> None:
    """Refuse what is no name for a picture, or lies in a folder that is not there."""
    target = Path(path)
    if target.suffix.lower() not in ENDINGS:
        raise SfumatoError(f"{path}: a picture must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
    if not target.parent.is_dir():
        raise SfumatoError(f"{path}: the folder {target.parent} does not exist")


def empty_picture(width: float, height: float, grid: str | None = None) -> tuple[Any, Any]:
    """A figure of so many inches and its axes; with a ``grid`` along "x", without the line that it replaces."""
    figure, (axes,) = empty_panels(width, height, 1)
    if grid is not None:
        axes.grid(axis=grid, color=GRID)
    if grid == "x":
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
    return figure, axes


def empty_panels(width: float, height: float, columns: int, rows: int = 1) -> tuple[Any, list[Any]]:
    """A figure of so many inches, and the axes of its panels, row by row."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
    return figure, panels


def mark_thousands(axes: Any, years: bool = False) -> None:
    """Whole numbers along the x axis as people write them, 200,000 and not 0.2 beside a 1e6; years without marks."""
    from matplotlib.ticker import FuncFormatter

    written = "{:.10g}" if years else "{:,.10g}"
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: FuncFormatter.fix_minus(written.format(x))))


def name_places(axes: Any, names: Sequence[str], at: Sequence[float] | None = None) -> None:
    """Names along the x axis, ``at`` their places or else from 0 on, as many as there is room for."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    room = max(2, min(12, 72 // max(len(name) + 2 for name in names)))
    if at is not None:
        some = slice(None, None, -(-len(names) // room))
        axes.set_xticks(at[some], names[some])
        return
    axes.xaxis.set_major_locator(MaxNLocator(room, integer=True, min_n_ticks=1))

    def named(x: float, _: Any) -> str:
        return names[round(x)] if x == round(x) and 0 <= x < len(names) else ""

    axes.xaxis.set_major_formatter(FuncFormatter(named))


def set_title(axes: Any, text: str) -> None:
    """A title from the left end of the axes, in as many lines as it takes not to be cut off."""
    axes.set_title("\n".join(wrap(text, _TITLE)), loc="left", fontsize=11)


def set_legend(figure: Any, labels: Sequence[str], handles: Sequence[Any] | None = None, **more: Any) -> None:
    """A legend below the picture, in as many columns as fit into its width."""
    longest = max((len(label) for label in labels), default=0) + 6
    columns = max(1, min(6, int(13 * figure.get_figwidth()) // longest))
    given = {} if handles is None else {"handles": handles, "labels": labels}
    figure.legend(loc="outside lower center", ncols=columns, frameon=False, **given, **more)


def saved(figure: Any, path: str | Path | None) -> Any:
    """The figure, written if a path is given."""
    if path is not None:
        save_picture(figure, path)
    return figure


def save_picture(figure: Any, path: str | Path) -> None:
    """Write a figure, or say in one line why not."""
    check_picture(path)
    try:
        figure.savefig(str(path), dpi=150)
    except OSError as problem:
        raise SfumatoError(f"{path}: cannot be written: {problem.strerror}") from None
