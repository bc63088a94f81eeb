"""Docstrings as this project writes them, for Sphinx: prose, indented formulas, doctests.

An indented block becomes a literal one, so that a formula keeps its columns. Signs that would be markup in prose are
escaped.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

LITERAL = re.compile(r"(``.+?``|`[^`]+`)")


def _prose(line: str) -> str:
    parts = LITERAL.split(line)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"([*|])", r"\\\1", parts[i])
        parts[i] = re.sub(r"(?<=\w)_(?=\W|$)", r"\\_", parts[i])
    return "".join(parts)


def plain(lines: list[str]) -> list[str]:
    """The same text as valid reStructuredText."""
    out: list[str] = []
    before, mode = "", "prose"
    for line in lines:
        indented = line.startswith((" ", "\t"))
        if not line.strip():
            mode = "prose" if mode == "doctest" else mode
            out.append("")
        elif line.lstrip().startswith(">>>") or mode == "doctest":
            if mode == "literal" and not indented:
                mode = "prose"
            mode = "doctest" if mode != "literal" else mode
            out.append(line)
        elif indented and (mode == "literal" or (mode == "prose" and not before.strip())):
            if mode == "prose":
                out += ["::", ""]
            mode = "literal"
            out.append(line)
        else:
            mode = "list" if line.lstrip().startswith(("- ", "* ")) or (mode == "list" and indented) else "prose"
            marker = re.match(r"\s*[-*] ", line)
            out.append(line[: marker.end()] + _prose(line[marker.end() :]) if marker else _prose(line))
        before = line
    return out


def _on_docstring(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = plain(lines)


def _on_signature(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str, str | None] | None:
    """Errors are caught and evidence is asked for: nobody makes either, so how they are made would only distract."""
    made_by_us = what == "exception" or getattr(thing, "_is_protocol", False)
    return ("", returns) if made_by_us else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", _on_docstring)
    app.connect("autodoc-process-signature", _on_signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
