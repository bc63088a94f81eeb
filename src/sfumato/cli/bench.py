"""sfumato bench: speed as ratios, measured in one run."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Annotated

import typer

from sfumato.errors import SfumatoError


def bench(
    names: Annotated[list[str] | None, typer.Argument(help="Which benchmarks; all of them by default.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Machine output.")] = False,
) -> None:
    """Measure speed and memory against a yardstick in the same run, and show the ratios beside their goals.

    Examples:

        sfumato bench

        sfumato bench randomize counting
    """
    folder = _folder()
    spec = importlib.util.spec_from_file_location("sfumato_benchmarks", folder / "harness.py")
    if spec is None or spec.loader is None:
        raise SfumatoError("the benchmarks are not part of this installation")
    harness = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = harness
    spec.loader.exec_module(harness)
    harness.main(folder, names or [], as_json=json)


def _folder() -> Path:
    package = Path(__file__).parents[1]
    for folder in (package.parents[1] / "benchmarks", package / "_benchmarks"):
        if (folder / "harness.py").exists():
            return folder
    raise SfumatoError("the benchmarks are not part of this installation: run from a source checkout")
