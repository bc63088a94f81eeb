"""The gallery as one HTML file: every published figure beside ours, with rows, verdicts and reasons."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from html import escape

from sfumato.pages.parts import badge, callout, scrolling, table
from sfumato.pages.shell import Section, page
from sfumato.papers.figure import DIFFERS, LOST, MISPRINT, PAPERS, REPRODUCED, VERDICTS, Figure, Row
from sfumato.papers.run import Result

#: How a verdict looks.
_KINDS = {REPRODUCED: "good", DIFFERS: "poor", MISPRINT: "fair", LOST: "plain", "": "plain"}
#: The order in which people read them.
ORDER = (REPRODUCED, DIFFERS, MISPRINT, LOST)
_PER_INCH = 6  # rem of the page for an inch of a picture: letters of 9 points are 12 pixels high
_FOLDED = 14  # longer tables are folded away


def gallery(wanted: Sequence[Figure], results: Sequence[Result], fast: bool) -> str:
    """The whole page."""
    entries = Counter(result.verdict for result in results)
    waiting = sum(bool(result.missing) for result in results)
    said = ", ".join(f"{entries[verdict]} {verdict}" for verdict in ORDER if entries[verdict])
    late = f" {waiting} wait for data that may not be bundled." if waiting else ""
    verdict = f"<p>{len(results)} published figures, tables and statements: {escape(said) or 'none run'}.{late}</p>"
    verdict += table(["paper", *ORDER, "not run"], [list(map(str, row)) for row in counts(wanted, results)],
                     "Verdicts by paper", numeric=range(1, 6))  # fmt: skip
    verdict += (
        "<p>An entry is a misprint if one of its rows is, else it differs if one does, else it is reproduced. It is "
        "not recoverable where nothing is left to compare. A printed number is reproduced if it lies within two "
        "standard deviations of ours.</p>"
    )
    if fast:
        verdict += "<p>This is a fast run: fewer seeds than the full one, and so wider errors.</p>"
    sections = []
    for paper, full in PAPERS.items():
        some = [pair for pair in zip(wanted, results, strict=True) if pair[0].paper == paper]
        if some:
            sections.append(Section(full, _overview(some)))
            sections += [_entry(figure, result) for figure, result in some]
    return page("Every published figure beside ours", verdict, sections, "The gallery of sfumato reproduce")


def counts(wanted: Sequence[Figure], results: Sequence[Result]) -> list[list[str | int]]:
    """One line for each paper and one for all: how many entries have each verdict, and how many were not run."""
    out: list[list[str | int]] = []
    for paper, full in [*PAPERS.items(), ("", "all")]:
        some = [r for f, r in zip(wanted, results, strict=True) if paper in ("", f.paper)]
        if some:
            told = Counter(result.verdict for result in some)
            out.append([full, *(told[verdict] for verdict in ORDER), told[""]])
    return out


def summary_markdown(wanted: Sequence[Figure], results: Sequence[Result]) -> str:
    """The counts as a Markdown table."""
    heads = ["paper", *ORDER, "not run"]
    lines: list[Sequence[str | int]] = [heads, ["---", *["---:"] * (len(heads) - 1)], *counts(wanted, results)]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def _overview(some: Sequence[tuple[Figure, Result]]) -> str:
    rows = [
        [
            f"{escape(f'{figure.where}: {figure.title}')}<br><code>{figure.id}</code>",
            _badge(result.verdict, result.missing),
        ]
        for figure, result in some
    ]
    return table(["entry, and the name to run it alone", "verdict"], rows, "Entries of this paper", markup=True)


def _badge(verdict: str, missing: str = "") -> str:
    return badge("needs data" if missing else verdict or "beside the paper", _KINDS[verdict])


def _entry(figure: Figure, result: Result) -> Section:
    body = f"<p><b>The paper says:</b> {escape(figure.claim)}</p>"
    if result.missing:
        body += callout("Not run", f"{result.missing}.")
    if result.picture:
        drawn = f'<div style="width: {_PER_INCH * figure.size[0]:.1f}rem">{result.picture}</div>'
        body += f'<figure class="picture">{scrolling(drawn, f"Picture of {figure.name}")}</figure>'
    if result.rows:
        body += _rows(figure, result.rows)
    body += _reasons(result.rows)
    runs = f"{result.runs} runs." if result.runs > 1 else "One run." if result.runs else "Nothing is drawn at random."
    if figure.settings:
        rows = [[s.what, s.paper, s.ours or "the same"] for s in figure.settings]
        body += table(["setting", "the paper's", "ours"], rows, f"Settings of {figure.name}")
    if result.rows:
        body += f'<p class="about">{runs}</p>'
    return Section(f"{figure.name}: {figure.title}", body, 3, _badge(result.verdict, result.missing))


def _rows(figure: Figure, rows: Sequence[Row]) -> str:
    cells = [
        [
            f"{escape(row.label)}<br>{_badge(row.verdict)}"
            + (f"<br><small>differs: {escape(row.differs)}</small>" if row.differs else ""),
            "none<br>printed" if row.paper is None else shown(row.paper),
            _ours(row),
        ]
        for row in rows
    ]
    heads = ["number and verdict", "paper", "ours ± standard error"]
    inside = table(heads, cells, f"Numbers of {figure.name}", numeric=(1, 2), markup=True)
    if len(rows) <= _FOLDED:
        return inside
    told = Counter(row.verdict for row in rows)
    said = ", ".join(f"{told[v]} {v}" for v in VERDICTS if told[v])
    head = f"All {len(rows)} numbers ({escape(said or 'beside the paper')})"
    return f'<details class="rows"><summary>{head}</summary>{inside}</details>'


def _ours(row: Row) -> str:
    if row.ours is None:
        return "not measured"
    return shown(row.ours) + (f" ± {error_shown(row.error)}" if row.error else "")


def _reasons(rows: Sequence[Row]) -> str:
    """Why, each reason once, with the rows that it belongs to."""
    grouped: dict[str, list[Row]] = {}
    for row in rows:
        if row.why:
            grouped.setdefault(row.why, []).append(row)
    lines = []
    for why, some in grouped.items():
        names = "; ".join(row.label for row in some[:3]) + (f"; and {len(some) - 3} more" if len(some) > 3 else "")
        lines.append(f"<p>{_badge(some[0].verdict)} <b>{escape(names)}:</b> {escape(why)}</p>")
    return "".join(lines)


def shown(value: float) -> str:
    """Four digits, or fewer where they are zero.

    >>> shown(0.61060), shown(26.5), shown(168395.06), shown(float("inf"))
    ('0.6106', '26.5', '168,395', '∞')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if abs(value) < 1e-12:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.4g}"


def error_shown(error: float) -> str:
    """An error has two digits that mean something.

    >>> error_shown(0.41058), error_shown(12.3)
    ('0.41', '12')
    """
    return f"{error:.2g}" if error < 100 else f"{error:,.0f}"
