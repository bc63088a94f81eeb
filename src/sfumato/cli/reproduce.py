"""sfumato reproduce: published figures and tables, beside ours."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from typing import Annotated, Any

import typer

from sfumato import papers
from sfumato.cli import console
from sfumato.errors import SfumatoError


def reproduce(
    names: Annotated[list[str] | None, typer.Argument(help="Which figures or tables; none lists them all.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Run the settings of a published figure or table and print the paper's value beside ours.

    Examples:

        sfumato reproduce

        sfumato reproduce ma06_fig2_2
    """
    known = _known()
    if not names:
        if json:
            console.emit({name: _title(module) for name, module in known.items()})
        else:
            console.table(["name", "what"], [[name, _title(module)] for name, module in known.items()])
        return
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "sfumato reproduce lists what there is"
            raise SfumatoError(f"there is no figure or table called {name!r}: {hint}")
    reports = {name: known[name].report() for name in names}
    if json:
        console.emit(reports)
    else:
        console.say("\n\n".join(reports.values()))


def _known() -> dict[str, Any]:
    """Every module of sfumato.papers that reports something."""
    modules = {info.name: f"{papers.__name__}.{info.name}" for info in pkgutil.iter_modules(papers.__path__)}
    loaded = {name: importlib.import_module(full) for name, full in modules.items()}
    return {name: module for name, module in loaded.items() if hasattr(module, "report")}


def _title(module: Any) -> str:
    return str(module.__doc__).strip().splitlines()[0]
