"""All entries of the gallery, in the order of the papers."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Sequence
from functools import cache

from sfumato.errors import SfumatoError
from sfumato.papers.figure import PAPERS, Figure


@cache
def figures() -> dict[str, Figure]:
    """Every entry by its id; the papers are loaded here, because they bring half of the package along."""
    found = [figure for paper in PAPERS for figure in importlib.import_module(f"sfumato.papers.{paper}").FIGURES]
    return {figure.id: figure for figure in found}


def selected(names: Sequence[str]) -> list[Figure]:
    """The entries of these ids, or of these papers; all without a name."""
    known = figures()
    wanted: dict[str, Figure] = {}
    for name in names or list(PAPERS):
        some = [figure for figure in known.values() if name in (figure.id, figure.paper)]
        if not some:
            near = difflib.get_close_matches(name, [*known, *PAPERS], n=1)
            hint = f"did you mean {near[0]!r}?" if near else "sfumato reproduce --list shows what there is"
            raise SfumatoError(f"there is no figure or table called {name!r}: {hint}")
        wanted |= {figure.id: figure for figure in some}
    return list(wanted.values())
