"""One comparison, and the table of all, which fits 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from textwrap import wrap

from rich.markup import escape


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


def lines(rows: Iterable[Row]) -> Iterator[str]:
    """A block for each task, a line for each peer and one for its note, in 80 columns."""
    task, note = "", ""
    for row in rows:
        if row.task != task:
            task, note = row.task, ""
            yield f"\n[bold]{task}[/]"
            yield f"  {'':<26}{'theirs':>9}{'ours':>9}{'faster':>9}{'their error':>13}{'ours':>9}"
        shown = (
            _seconds(row.theirs),
            _seconds(row.ours),
            _times(row.faster),
        )
        wrong = ["" if error is None else f"{error:.3g}" for error in (row.their_error, row.error)]
        yield f"  {row.peer:<26}{shown[0]:>9}{shown[1]:>9}{shown[2]:>9}{wrong[0]:>13}{wrong[1]:>9}".rstrip()
        if row.note and row.note != note:
            note = row.note
            yield from (f"    [dim]{escape(line)}[/]" for line in wrap(note, 74))


def markdown(rows: Iterable[Row]) -> str:
    """The same as a Markdown table."""
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


def _times(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}x" if value >= 100 else f"{value:.1f}x" if value >= 1 else f"{value:.2g}x"
