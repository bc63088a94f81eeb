"""A page as one HTML file: style and pictures inside it, no script and no network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files

from sfumato.printable import printable_lines

#: What a page may load: nothing but its own styles and pictures.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
#: About three screens of text; longer pages begin with contents.
_LONG = 5000
#: Contents of more entries are folded: on a phone they would be several screens by themselves.
_MANY = 24


@dataclass(frozen=True)
class Section:
    """A part of a page under its heading. ``title`` is text, ``body`` and ``beside`` (in the heading) are HTML."""

    title: str
    body: str
    level: int = 2  # 3 stands below the last section of level 2
    beside: str = ""


@cache
def stylesheet() -> str:
    """The one stylesheet of all pages."""
    return files("sfumato.pages").joinpath("style.css").read_text(encoding="utf-8")


def page(title: str, verdict: str, sections: Sequence[Section], about: str = "", footer: str = "") -> str:
    """The whole document: title, verdict, contents where the page is long, then the sections.

    ``verdict`` and ``about`` are HTML: the verdict is a sentence first, and whatever supports it.
    """
    kept = [section for section in sections if section.body or section.level == 2]
    parts = [f"<h1>{escape(title)}</h1>"]
    if about:
        parts.append(f'<p class="about">{about}</p>')
    parts.append(f'<div class="verdict">{verdict}</div>')
    if len(kept) > 2 and sum(_words(section.body) for section in kept) > _LONG:
        parts.append(_contents(kept))
    for i, section in enumerate(kept):
        tag = f"h{section.level}"
        parts.append(f'<{tag} id="s{i}">{escape(section.title)}{section.beside}</{tag}>\n{section.body}')
    end = footer or "One file, without scripts: it loads nothing from the network."
    return printable_lines(
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{stylesheet()}</style></head>\n"
        '<body><a class="skip" href="#text">Skip to the text</a><main id="text">\n'
        + "\n".join(parts)
        + f"\n<footer>{end}</footer>\n</main></body></html>\n"
    )


def _words(body: str) -> int:
    """How much there is to read, roughly: pictures count as a paragraph."""
    return sum(len(part.partition(">")[2].strip()) for part in body.split("<")) + 600 * body.count("<svg")


def _contents(sections: Sequence[Section]) -> str:
    lines, deeper = [], False
    for i, section in enumerate(sections):
        if (section.level > 2) != deeper:
            lines.append("</ol></li>" if deeper else "<ol>")
            deeper = not deeper
        elif lines and not deeper:
            lines.append("</li>")
        link = f'<li><a href="#s{i}">{escape(section.title)}</a>'
        lines.append(f"{link}</li>" if deeper else link)
    lines.append("</ol></li>" if deeper else "</li>")
    opened = " open" if len(sections) <= _MANY else ""
    inside = f"<details{opened}><summary>Contents</summary><ol>{''.join(lines)}</ol></details>"
    return f'<nav class="contents" aria-label="Contents">{inside}</nav>'
