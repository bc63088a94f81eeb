"""One comparison, and the table of all, which fits 80 columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from rich.table import Table


@dataclass(frozen=True)
class Row:
    """Seconds and error of ours and of one peer at the same task. Errors are comparable within a task only."""

    task: str
    peer: str
    ours: float | None = None
    theirs: float | None = None
    error: float | None = None
    their_error: float | None = None
    their_spread: float | None = None  # one standard error of their error
    note: str = ""

    @property
    def faster(self) -> float | None:
        """How many times as fast ours is."""
        return None if self.ours is None or self.theirs is None else self.theirs / self.ours

    @property
    def error_ratio(self) -> float | None:
        """Our error in parts of theirs: below one is better."""
        return None if self.error is None or not self.their_error else self.error / self.their_error

    def as_dict(self) -> dict[str, object]:
        return {**asdict(self), "faster": self.faster, "error_ratio": self.error_ratio}


def table(rows: Iterable[Row]) -> Table:
    """A block for each task, a line for each peer."""
    shown = Table("peer", title_justify="left", pad_edge=False, box=None)
    for name in ("theirs", "ours", "faster", "their error", "ours"):
        shown.add_column(name, justify="right", no_wrap=True)
    shown.columns[0].no_wrap = True
    task = ""
    for row in rows:
        if row.task != task:
            task = row.task
            shown.add_section()
            shown.add_row(f"[bold]{task}[/]")
        shown.add_row(
            f"  {row.peer}",
            *(_seconds(value) for value in (row.theirs, row.ours)),
            "" if row.faster is None else f"{row.faster:,.1f}x" if row.faster < 100 else f"{row.faster:,.0f}x",
            "" if row.their_error is None else f"{row.their_error:.3g}",
            "" if row.error is None else f"{row.error:.3g}",
        )
        if row.note:
            shown.add_row(f"    [dim]{row.note}[/]")
    return shown


def markdown(rows: Iterable[Row]) -> str:
    """The same for the documentation."""
    heads = ("task", "peer", "theirs, s", "ours, s", "faster", "their error", "ours", "note")
    out = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in rows:
        cells = (row.theirs, row.ours, row.faster, row.their_error, row.error)
        shown = ["" if cell is None else f"{cell:.3g}" for cell in cells]
        out.append(f"| {row.task} | {row.peer} | {' | '.join(shown)} | {row.note} |")
    return "\n".join(out)


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f} s" if value >= 100 else f"{value:.3g} s" if value >= 1 else f"{value * 1e3:.3g} ms"
