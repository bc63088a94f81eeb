"""What the commands print with: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from textwrap import fill
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sfumato.cli.busy import Busy
from sfumato.cli.option_names import in_options
from sfumato.pages.display import Precise
from sfumato.printable import json_text, printable, printable_lines, readable_bins

_NARROW = 12  # characters that a column of words needs at least
_out = Console(highlight=False, emoji=False)
_err = Console(stderr=True, highlight=False, emoji=False)
_busy = Busy(_err)
working, step = _busy.working, _busy.step


def error(text: str) -> None:
    """One line that says what went wrong."""
    _busy.clear()
    _err.print(f"[bold red]error:[/] {_fitted(_one_line(in_options(text)), _err, 7)}", soft_wrap=True)


def warn(text: str) -> None:
    _busy.clear()
    _err.print(f"[yellow]warning:[/] {_fitted(_one_line(readable_bins(in_options(text))), _err, 9)}", soft_wrap=True)


def note(text: str) -> None:
    """Something for the person at the terminal, not for the pipe."""
    _busy.clear()
    _err.print(_fitted(_safe(text), _err), soft_wrap=True)


def on_terminal() -> bool:
    """Whether somebody sees the notes as they come."""
    return _err.is_terminal


def width() -> int:
    """How many characters a line of output holds."""
    return _out.width


def say(text: str = "") -> None:
    """A result in words; names in it are shown as they are."""
    _busy.clear()
    _out.print(_fitted(_safe(text), _out), soft_wrap=True)


def heading(title: str, text: str) -> None:
    """A line that begins in bold."""
    _busy.clear()
    _out.print(f"\n[bold]{_safe(title)}[/]{_safe(text)}", soft_wrap=True)


def _safe(text: str) -> str:
    """Text that neither the terminal nor rich takes for an instruction."""
    return escape(readable_bins(printable_lines(text)))


def _fitted(text: str, console: Console, taken: int = 0) -> str:
    """On a terminal, lines broken between words and indented as they begin. A pipe gets them whole."""
    if not console.is_terminal:
        return text
    lines = []
    for line in text.split("\n"):
        inset = " " * (len(line) - len(line.lstrip()) + 2 * line.startswith(" "))
        lines.append(
            fill(
                " " * taken + line,
                console.width,
                subsequent_indent=inset,
                break_long_words=False,
                break_on_hyphens=False,
                replace_whitespace=False,
            )[taken:]
        )
    return "\n".join(lines)


def _one_line(text: str) -> str:
    return escape(printable(" ".join(text.split())))


def emit(document: Any) -> None:
    """Machine output."""
    _busy.clear()
    print(json_text(json.dumps(_plain(document), indent=1, ensure_ascii=False)))  # noqa: T201


def table(headings: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None) -> None:
    """Rows under headings; numbers to the right. Names in the first column stay whole if they leave enough room.

    What is too wide even so becomes two tables with the same first column, a number of the row where that tells no
    rows apart; an error (±) stays beside its number.
    """
    numeric = [bool(rows) and all(isinstance(row[i], int | float) for row in rows) for i in range(len(headings))]
    widths, cut = _widths(headings, rows, numeric), len(headings) // 2 + 1
    cut += cut < len(headings) and headings[cut] == "±"
    if None in widths and 2 < len(headings) > cut:
        if len({str(row[0]) for row in rows}) < len(rows):
            table(["row", *headings], [[place, *row] for place, row in enumerate(rows, 1)], title)
            return
        table(headings[:cut], [row[:cut] for row in rows], title)
        say("")
        table([headings[0], *headings[cut:]], [[row[0], *row[cut:]] for row in rows])
        return
    grid = Table(title=title and _one_line(title), title_justify="left", header_style="bold", box=None, pad_edge=False)
    for heading, told, wide in zip(headings, numeric, widths, strict=True):
        grid.add_column(_cell(heading), justify="right" if told else "left", overflow="fold", width=wide)
    for row in rows:
        grid.add_row(*(_cell(number(cell)) for cell in row))
    _busy.clear()
    _out.print(grid)


def _widths(headings: Sequence[str], rows: Sequence[Sequence[Any]], numeric: Sequence[bool]) -> list[int | None]:
    """How wide columns are. For want of room headings of numbers break first, then words, the first column last.

    None leaves it to the table, where even that does not suffice.
    """
    cells = [max((len(_cell(number(row[i]))) for row in rows), default=0) for i in range(len(headings))]
    widths = [max(len(heading), cell) for heading, cell in zip(headings, cells, strict=True)]
    words = [max(map(len, heading.split()), default=0) for heading in headings]
    least = [max(w, c if told else min(c, _NARROW)) for w, c, told in zip(words, cells, numeric, strict=True)]
    names = (word for row in rows for word in _cell(number(row[0])).split())
    least[0] = max(least[0], min(max(map(len, names), default=0), _out.width // 2))  # no name is broken in two
    room = _out.width - 2 * (len(widths) - 1)
    for some in (numeric, [i > 0 for i in range(len(widths))], [True] * len(widths)):
        while sum(widths) > room:
            wider = [i for i, may in enumerate(some) if may and widths[i] > least[i]]
            if not wider:
                break
            widths[max(wider, key=lambda i: widths[i])] -= 1
    return list(widths) if sum(widths) <= room else [None] * len(widths)


def _cell(text: str) -> str:
    return escape(readable_bins(printable(text)))


def number(value: Any) -> str:
    """A number as people read it; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "" if value is None else str(value)
    if math.isnan(value):
        return "unknown"
    if isinstance(value, int) or not math.isfinite(value):
        return str(value).replace("inf", "∞")
    if isinstance(value, Precise):
        return str(value)
    if 100 <= abs(value) < 1e12:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "inf" if value > 0 else str(value)
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return value


@contextmanager
def progress(title: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A progress bar on a terminal, with the time that is left where the length is known; in a pipe a line at times."""
    if not _busy.lively:
        with _busy.counted(_one_line(title), total) as counted:
            yield counted
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        *((TextColumn("left"), TimeRemainingColumn()) if total is not None else ()),
        console=_err,
        transient=True,
    )
    with _busy.giving_way(), bar:
        task = bar.add_task(_one_line(title), total=total)
        yield lambda rows: bar.update(task, advance=rows)


def some(words: Sequence[str], most: int = 6) -> str:
    """The first few of them.

    >>> some(["a", "b", "c"], 2)
    'a, b ...'
    """
    return ", ".join(words[:most]) + " ..." * (len(words) > most)
