"""Pieces that pages are made of: badges, tables, callouts, bars. All text is escaped here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape

from sfumato.printable import percentage

#: How good a badge looks, best first; its word says the same.
KINDS = ("good", "fair", "poor", "bad", "worst", "plain")


def badge(word: str, kind: str = "plain") -> str:
    """A word on a coloured ground; the colour never says more than the word."""
    return f'<span class="badge {kind}">{escape(word)}</span>'


def breakable(name: str) -> str:
    """A name that a narrow column may break after its signs, and where a capital follows a small letter.

    >>> breakable("income_net/a<b"), breakable("YearsAtIBM")
    ('income_<wbr>net/<wbr>a&lt;b', 'Years<wbr>At<wbr>IBM')
    """
    return re.sub(r"([_/.\-])(?=.)|([a-z])(?=[A-Z])", r"\1\2<wbr>", escape(name, quote=False))


def paragraphs(lines: Iterable[str]) -> str:
    return "".join(f"<p>{escape(line)}</p>" for line in lines)


def callout(title: str, text: str, kind: str = "note") -> str:
    """Something to watch: ``note``, ``alarm`` or ``calm``."""
    return f'<div class="callout {kind}"><b>{escape(title)}</b>{escape(text)}</div>'


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], label: str, numeric: Sequence[int] = (), markup: bool = False
) -> str:
    """A table in a box of its own that scrolls where the page is too narrow.

    The first cell of a row names it; ``label`` is read aloud; columns in ``numeric`` stand to the right. With
    ``markup`` the cells are HTML already.
    """
    right = set(numeric)

    def cell(i: int, text: str) -> str:
        inside = text if markup else escape(text) if i else breakable(text)
        kind = ' class="num"' if i in right else ""
        return f'<th scope="row"{kind}>{inside}</th>' if i == 0 else f"<td{kind}>{inside}</td>"

    head = ""
    if any(heads):
        shown = "".join(
            f'<th scope="col"{" class=num" if i in right else ""}>{escape(text)}</th>' for i, text in enumerate(heads)
        )
        head = f"<thead><tr>{shown}</tr></thead>"
    body = "".join("<tr>" + "".join(cell(i, text) for i, text in enumerate(row)) + "</tr>" for row in rows)
    return scrolling(f"<table>{head}<tbody>{body}</tbody></table>", label)


def scrolling(inside: str, label: str) -> str:
    """A box that scrolls sideways, by keyboard too."""
    return f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(label)}">{inside}</div>'


def folded(title: str, inside: str) -> str:
    """What opens on a click on its title; ``inside`` is HTML."""
    return f'<details class="rows"><summary>{escape(title)}</summary>{inside}</details>'


def bars(
    title: str,
    rows: Sequence[tuple[str, float, float]],
    before: str,
    after: str,
    written: Callable[[float], str] = percentage,
) -> str:
    """Two bars per row, shares in [0, 1]: ``before`` in outline, ``after`` filled, each with its share as written."""
    key = f'<p class="key"><span class="before"><i></i>{escape(before)}</span><span><i></i>{escape(after)}</span></p>'
    lines = "".join(
        f"<b>{breakable(name)}</b><div>{_bar(old, before, 'before', written)}{_bar(new, after, '', written)}</div>"
        for name, old, new in rows
    )
    return f'<figure><figcaption>{escape(title)}</figcaption>{key}<div class="bars">{lines}</div></figure>'


def _bar(share: float, what: str, kind: str, written: Callable[[float], str]) -> str:
    shown = escape(written(share)).replace(" ", "&nbsp;")
    width = f"calc((100% - 4.5rem) * {share:.4f})"  # the number stands behind the bar
    return f'<span class="{kind}" title="{escape(what)}"><i style="width:{width}"></i>{shown}</span>'


def terms(rows: Iterable[tuple[str, str]]) -> str:
    """Words and what they mean."""
    inside = "".join(f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>" for term, text in rows)
    return f'<dl class="terms">{inside}</dl>'
