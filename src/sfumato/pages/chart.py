"""Charts as inline SVG that take their colours and their font from the page around them."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from hashlib import sha256
from html import escape
from typing import Any

from sfumato.printable import printable, printable_lines

#: What charts are drawn in; in the SVG each becomes the stylesheet's variable of that name.
INK, SOFT, FAINT, ACCENT, WARM, PAPER = "#22262b", "#5b636d", "#c3c8cf", "#1f6a9a", "#b4501e", "#fefefe"
_VARIABLES = {INK: "ink", SOFT: "soft", FAINT: "faint", ACCENT: "accent", WARM: "warm", PAPER: "paper"}
_STYLE = {
    "font.size": 9,
    "axes.edgecolor": SOFT,
    "axes.facecolor": "none",
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "svg.fonttype": "none",
}


def svg(draw: Callable[[Any], None], width: float, height: float, name: str, label: str) -> str:
    """One figure as an <svg> element.

    ``draw`` gets the figure; ``name`` keeps the ids of the figures of one page apart; ``label`` is read aloud.
    """
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    body = printable_lines(text.getvalue())
    body = body[body.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.S)
    mark = re.sub(r"\W", "", name)[:20] + sha256(name.encode()).hexdigest()[:6]
    body = re.sub(r'id="([^"]+)"', rf'id="{mark}-\1"', body)
    body = re.sub(r'((?:xlink:)?href="#)', rf"\g<1>{mark}-", body)
    body = re.sub(r"url\(#", f"url(#{mark}-", body)
    body = themed(body)
    head, _, rest = body.partition(">")
    head = re.sub(r' (?:width|height)="[^"]+"', "", head)
    return f'{head} role="img" aria-label="{escape(printable(label))}">{rest}'


def themed(body: str) -> str:
    """Colours become the page's variables, fonts the page's font: in styles only, a label may say what it likes."""

    def follow(style: re.Match[str]) -> str:
        text = style.group()
        for colour, variable in _VARIABLES.items():
            text = re.sub(colour, f"var(--{variable})", text, flags=re.I)
        return re.sub(r"font-family: [^;\"]+", "font-family: var(--sans)", text)

    return re.sub(r'style="[^"]*"', follow, body)
