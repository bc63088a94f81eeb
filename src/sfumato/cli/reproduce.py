"""sfumato reproduce: published figures and tables beside ours, and the gallery of them."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import console
from sfumato.cli.choices import found_by
from sfumato.errors import ReleaseError
from sfumato.pages.display import settled
from sfumato.papers.figure import PAPERS, Figure, Row
from sfumato.papers.gallery import ORDER, gallery, summary_markdown
from sfumato.papers.registry import figures, selected
from sfumato.papers.run import Result, run

_FEW = 3  # entries whose rows are printed unasked
_PAGE, _SUMMARY, _KEPT = "index.html", "summary.md", "kept"


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID ...]",
            help="Entries, or papers (aa01, zhang04, ma06, tan07).",
            autocompletion=found_by(lambda: (*PAPERS, *figures())),
        ),
    ] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Fewer seeds: all in about three minutes on two cores.")] = False,
    jobs: Annotated[int | None, typer.Option(min=1, help="How many processes (default: one for each core).")] = None,
    out: Annotated[Path, typer.Option(help="The folder for the gallery and for what is kept.")] = Path("gallery"),
    listing: Annotated[bool, typer.Option("--list", help="Only list the entries.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Machine output: every row.")] = False,
) -> None:
    """Run the settings of published figures and tables, and put the printed numbers beside ours.

    Without an ID all entries are run. Finished ones are kept in the folder, so that a second run goes on where the
    first one stopped; they are run again only when the program has changed.

    Examples:

        sfumato reproduce --list

        sfumato reproduce ma06_fig2_2

        sfumato reproduce aa01 zhang04 --fast

        sfumato reproduce --fast --jobs 2 --out gallery
    """
    wanted = selected(names or [])
    if listing:
        _list(wanted, json)
        return
    _check_ours(out)
    results = _run(wanted, out, fast, jobs or _cores())
    (out / _SUMMARY).write_text(summary_markdown(wanted, results), encoding="utf-8")
    (out / _PAGE).write_text(gallery(wanted, results, fast), encoding="utf-8")
    if json:
        console.emit({result.id: result.document() for result in results})
        return
    if len(results) <= _FEW:
        for figure, result in zip(wanted, results, strict=True):
            _show(figure, result)
    else:
        _count(wanted, results)
    console.say(f"The gallery is in {out / _PAGE}")


def _check_ours(out: Path) -> None:
    """Refuse to write over a page that an earlier run did not make."""
    present = [out / name for name in (_PAGE, _SUMMARY) if (out / name).exists()]
    if present and not (out / _KEPT).is_dir():
        raise ReleaseError(f"{present[0]} already exists, and is no gallery of this program: choose another --out")


def _run(wanted: list[Figure], out: Path, fast: bool, jobs: int) -> list[Result]:
    """All results, with a bar on a terminal; a long run elsewhere says which entries are done."""
    told = len(wanted) > _FEW and not console.on_terminal()
    with console.progress("reproducing", len(wanted)) as advance:

        def done(result: Result, kept: bool) -> None:
            advance(1)
            if told:
                console.note(
                    f"{result.id}: {result.verdict or 'not run'}, {'kept' if kept else f'{result.seconds:.0f} s'}"
                )

        return run(wanted, out / _KEPT, fast, jobs, done)


def _list(wanted: list[Figure], json: bool) -> None:
    if json:
        console.emit({figure.id: f"{figure.name}: {figure.title}" for figure in wanted})
    else:
        console.table(["id", "what"], [[figure.id, f"{figure.name}: {figure.title}"] for figure in wanted])


def _show(figure: Figure, result: Result) -> None:
    """One entry in words."""
    console.heading(f"{figure.name}: {figure.title}", f" ({result.verdict or 'not run'})")
    console.say(figure.claim)
    if result.missing:
        console.say(result.missing)
    rows = [
        [row.label, "none printed" if row.paper is None else row.paper, _ours(row), row.error or None, row.verdict]
        for row in result.rows
    ]
    if rows:
        console.table(["number", "paper", "ours", "error", "verdict"], rows)
    for why in dict.fromkeys(row.why for row in result.rows if row.why):
        console.say(f"  {why}")


def _count(wanted: list[Figure], results: list[Result]) -> None:
    """How many entries have each verdict, and which."""
    console.table(
        ["id", "what", "verdict"],
        [[f.id, f"{f.name}: {f.title}", r.verdict or "needs data"] for f, r in zip(wanted, results, strict=True)],
    )
    told = Counter(result.verdict or "needs data" for result in results)
    console.say(", ".join(f"{told[verdict]} {verdict}" for verdict in (*ORDER, "needs data") if told[verdict]))


def _cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _ours(row: Row) -> float | None:
    return None if row.ours is None else settled(row.ours, row.error)
