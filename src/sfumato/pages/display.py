"""Objects as people meet them in a terminal or a notebook: small tables, cut short."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any, Self

from sfumato.printable import printable, readable_bins

#: The most rows that are shown unasked.
MOST = 12
_WIDEST = 40  # characters of a cell


def text_table(headings: Sequence[str], rows: Sequence[Sequence[Any]], hidden: int = 0) -> str:
    """Rows under headings, aligned, numbers to the right.

    >>> print(text_table(["sex", "estimate"], [["F", 1234.5], ["M", 9.25]], hidden=3))
    sex  estimate
    F       1,234
    M        9.25
    ... 3 more
    """
    headings, cells = [shown(heading) for heading in headings], [[shown(cell) for cell in row] for row in rows]
    right = [bool(rows) and all(_is_number(row[i]) for row in rows) for i in range(len(headings))]
    widths = [max(len(line[i]) for line in [list(headings), *cells]) for i in range(len(headings))]
    columns = list(zip(widths, right, strict=True))
    lines = [
        "  ".join(cell.rjust(w) if at else cell.ljust(w) for cell, (w, at) in zip(line, columns, strict=True))
        for line in [list(headings), *cells]
    ]
    return "\n".join([line.rstrip() for line in lines] + ([f"... {hidden:,} more"] if hidden else []))


def html_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[Any]], hidden: int = 0) -> str:
    """The same for a notebook, which has a style of its own for tables."""
    head = "".join(f"<th>{escape(shown(heading))}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    more = f"<p>and {hidden:,} more</p>" if hidden else ""
    grid = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div><p>{escape(printable(title))}</p>{grid}{more}</div>"


def _cell(value: Any) -> str:
    side = "right" if _is_number(value) else "left"
    return f'<td style="text-align:{side}">{escape(shown(value))}</td>'


def shown(value: Any) -> str:
    """A cell: numbers with four digits, text on one line and cut short."""
    if not _is_number(value):
        text = "" if value is None else printable(" ".join(str(value).split()))
        return readable_bins(text) if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
    if isinstance(value, int) or not math.isfinite(value):
        return f"{value:,}".replace("inf", "∞")
    if isinstance(value, Precise):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.4g}"


def settled(value: float, sd: float) -> float:
    """A number without digits that its error makes meaningless: 0 where it is far below.

    >>> settled(5.3e-6, 0.006), settled(0.4, 0.006)
    (0.0, 0.4)
    """
    return 0.0 if abs(value) < 1e-3 * sd else value


class Precise(float):
    """A number that is printed with as many decimals as it was given, and with thousands marked unless it is a year."""

    decimals: int
    year: bool

    def __new__(cls, value: float, decimals: int, year: bool = False) -> Self:
        out = super().__new__(cls, value)
        out.decimals, out.year = decimals, year
        return out

    def __str__(self) -> str:
        return f"{float(self):.{self.decimals}f}" if self.year else f"{float(self):,.{self.decimals}f}"


def told_apart(value: float, sd: float, years: bool = False) -> float:
    """A number with two digits of its error, where four digits would hide them.

    >>> shown(told_apart(1011.83, 0.117)), shown(told_apart(34320.4, 890)), shown(told_apart(0.4281, 0.013))
    ('1,011.83', '34,320', '0.4281')
    >>> shown(told_apart(2011.83, 0.117, years=True)), shown(told_apart(2011.83, 20, years=True))
    ('2011.83', '2012')
    >>> shown(told_apart(2011.0, 0.117, years=True))
    '2011'
    """
    if years and math.isfinite(value):
        told = 0 < sd < math.inf
        decimals = max(0, 1 - math.floor(math.log10(sd))) if told else 2
        return Precise(value, decimals * (value % 1 != 0), year=True)  # no estimate between years has none
    if not (math.isfinite(value) and 1e-6 * abs(value) < sd < math.inf):
        return value
    wanted = 1 - math.floor(math.log10(sd))
    if value == round(value, max(wanted - 1, 0)):  # no estimate between values: 109, as 79 is beside it
        return value
    there = 0 if abs(value) >= 100 else 3 - math.floor(math.log10(abs(value))) if value else wanted
    return Precise(value, wanted) if wanted > there else value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
