"""sfumato bench: speed as ratios, measured in one run."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.choices import found_by
from sfumato.errors import SfumatoError


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Which benchmarks; all of them by default.", autocompletion=found_by(_names)),
    ] = None,
    peers: Annotated[
        bool, typer.Option("--peers", help="Other packages beside ours; the first run installs each by itself.")
    ] = False,
    fast: Annotated[bool, typer.Option("--fast", help="With --peers: fewer mechanisms and repetitions.")] = False,
    compare: Annotated[
        bool, typer.Option("--compare", help="Name what is a fifth slower than the stored ratios.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Measure speed and memory against a yardstick in the same run, and show the ratios beside their goals.

    Examples:

        sfumato bench

        sfumato bench randomizing counting

        sfumato bench --peers
    """
    folder = _folder()
    sys.path.insert(0, str(folder.parent))
    if peers:
        found = importlib.import_module(f"{folder.name}.peers.__main__")
        raise typer.Exit(found.main([*(["--fast"] if fast else []), *(["--json"] if json else [])]))
    harness = importlib.import_module(f"{folder.name}.harness")
    try:
        harness.choose(names or [], harness.discover())
    except ValueError as problem:
        raise SfumatoError(str(problem)) from None
    options = [*(["--json"] if json else []), *(["--compare"] if compare else [])]
    raise typer.Exit(harness.main([*(names or []), *options]))


def _names() -> list[str]:
    """All benchmarks, read off the files: to import them takes seconds, and packages that are for tests."""
    found = []
    for path in sorted(_folder().glob("*.py")):
        own = re.findall(r"^@benchmark\ndef (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        found += [path.stem, *(f"{path.stem}.{name}" for name in own)] if own else []
    return found


def _folder() -> Path:
    """Beside the sources in a checkout, inside the package when installed."""
    package = Path(__file__).parents[1]
    for folder in (package.parents[1] / "benchmarks", package / "_benchmarks"):
        if (folder / "harness.py").exists():
            return folder
    raise SfumatoError("the benchmarks are not part of this installation: run from a source checkout")
