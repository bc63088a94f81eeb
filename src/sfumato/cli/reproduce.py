"""sfumato reproduce: published figures and tables, beside ours."""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato import papers
from sfumato.cli import console
from sfumato.errors import SfumatoError


def reproduce(
    names: Annotated[list[str] | None, typer.Argument(help="Which figures or tables; none lists them all.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the pictures into this folder, as name.png, instead.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="How many processes, for those that repeat over many seeds.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Run the settings of a published figure or table and print the paper's value beside ours.

    Examples:

        sfumato reproduce

        sfumato reproduce ma06_fig2_2

        sfumato reproduce ma06_fig5_10 ma06_fig7_8 --plot figures

        sfumato reproduce tan07_fig3 --jobs 4
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
    figures = {name: getattr(known[name], "FIGURES", (name,)) for name in names}
    if plot is not None:
        _draw({one: known[one] for name in names for one in figures[name]}, plot, jobs)
        return
    reports = {}
    for name in names:
        console.step(f"reproducing {name}")
        work = [known[one].report for one in figures[name]]
        reports[name] = "\n\n".join(report(**_jobs(report, jobs)) for report in work)
    if json:
        console.emit(reports)
    else:
        console.say("\n\n".join(reports.values()))


def _draw(wanted: dict[str, Any], folder: Path, jobs: int) -> None:
    without = [name for name, module in wanted.items() if not hasattr(module, "draw")]
    if without:
        raise SfumatoError(f"there is no picture of {', '.join(without)}: leave --plot away to see the numbers")
    folder.mkdir(parents=True, exist_ok=True)
    for name, module in wanted.items():
        console.step(f"drawing {name}")
        module.draw(folder / f"{name}.png", **_jobs(module.draw, jobs))
        console.say(f"{folder / name}.png")


def _jobs(work: Callable[..., Any], jobs: int) -> dict[str, int]:
    return {"jobs": jobs} if "jobs" in inspect.signature(work).parameters else {}


def _known() -> dict[str, Any]:
    """Every module of sfumato.papers that reports something, or names the figures that report it."""
    modules = {info.name: f"{papers.__name__}.{info.name}" for info in pkgutil.iter_modules(papers.__path__)}
    loaded = {name: importlib.import_module(full) for name, full in modules.items()}
    return {name: module for name, module in loaded.items() if hasattr(module, "report") or hasattr(module, "FIGURES")}


def _title(module: Any) -> str:
    return str(module.__doc__).strip().splitlines()[0]
