"""What the commands print with: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from sfumato.cli.busy import Busy
from sfumato.errors import SchemaError, SfumatoError
from sfumato.schema import Schema
from sfumato.scheme import Scheme

_out = Console(highlight=False)
_err = Console(stderr=True, highlight=False)
_busy = Busy(_err)
working, step = _busy.working, _busy.step


def error(text: str) -> None:
    """One line that says what went wrong."""
    _busy.clear()
    _err.print(f"[bold red]error:[/] {escape(' '.join(in_options(text).split()))}", soft_wrap=True)


def warn(text: str) -> None:
    _busy.clear()
    _err.print(f"[yellow]warning:[/] {escape(' '.join(in_options(text).split()))}", soft_wrap=True)


def in_options(text: str) -> str:
    """What a message says in Python's words, in those of the command line.

    >>> in_options("ask for it with again=True, or begin one with new=True")
    'ask for it with --again, or begin one with --new-ledger'
    """
    text = re.sub(r"ledger\.same\('(.*?)', '(.*?)'\)", r"--same \1=\2", text).replace("new=True", "--new-ledger")
    return re.sub(r"\b([a-z_]+)=True\b", lambda found: "--" + found[1].replace("_", "-"), text)


def note(text: str) -> None:
    """Something for the person at the terminal, not for the pipe."""
    _busy.clear()
    _err.print(escape(text), soft_wrap=True)


def width() -> int:
    """How many characters a line of output holds."""
    return _out.width


def say(text: str = "") -> None:
    _busy.clear()
    _out.print(text, soft_wrap=True)


def emit(document: Any) -> None:
    """Machine output."""
    _busy.clear()
    print(json.dumps(_plain(document), indent=1, ensure_ascii=False))  # noqa: T201


def table(headings: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None) -> None:
    """Rows under headings; numbers to the right."""
    grid = Table(title=title, title_justify="left", header_style="bold", box=None, pad_edge=False)
    for i, heading in enumerate(headings):
        numeric = bool(rows) and all(isinstance(row[i], int | float) for row in rows)
        grid.add_column(heading, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(escape(number(cell)) for cell in row))
    _busy.clear()
    _out.print(grid)


def number(value: Any) -> str:
    """A number as people read it; anything else as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "" if value is None else str(value)
    if isinstance(value, int) or not math.isfinite(value):
        return str(value).replace("inf", "∞")
    if abs(value) >= 100:
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


class Advance(Protocol):
    def __call__(self, rows: int) -> None: ...


@contextmanager
def progress(title: str, total: int | None) -> Iterator[Advance]:
    """A progress bar on a terminal, nothing in a pipe."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=_err,
        transient=True,
        disable=not _err.is_terminal,
    )
    with _busy.giving_way(), bar:
        task = bar.add_task(title, total=total)
        yield lambda rows: bar.update(task, advance=rows)


def listed(names: str) -> list[str]:
    """Names from the comma-separated form."""
    return [name.strip() for name in names.split(",") if name.strip()]


def read_schema(path: Path) -> Schema:
    """The schema in a file, which may also be a scheme."""
    text = read_text(path)
    try:
        document = json.loads(text)
        if isinstance(document, dict) and document.get("format") == "sfumato scheme":
            return Scheme.from_dict(document).schema
        return Schema.from_json(text)
    except (json.JSONDecodeError, RecursionError) as problem:
        raise SchemaError(f"{path}: is not JSON: {problem}") from None
    except SfumatoError as problem:
        raise SchemaError(f"{path}: {problem}") from None


def read_text(path: Path) -> str:
    """A text file, or one clear line."""
    try:
        return path.read_text()
    except OSError as problem:
        raise SfumatoError(f"{path}: cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError:
        raise SfumatoError(f"{path}: is not text") from None
