"""The command line: the same verbs as the package. Errors are one line and a non-zero exit, never a traceback."""

from __future__ import annotations

import signal
import sys
import warnings
from typing import Any

import typer

from sfumato.cli import bench, demo, estimate, inspect, learn, randomize
from sfumato.cli.console import error
from sfumato.errors import SfumatoError, SfumatoWarning

app = typer.Typer(
    name="sfumato",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Mine data that nobody may see in the clear: randomize at the owner, estimate and learn at the miner.",
    epilog="Start with [bold]sfumato demo[/bold]. Every command has worked examples in its --help.",
)
app.command()(demo.demo)
app.command()(randomize.randomize)
app.command()(inspect.inspect)
app.command()(estimate.estimate)
app.add_typer(learn.app, name="learn")
app.command()(bench.bench)


@app.callback()
def _version(
    version: bool = typer.Option(False, "--version", is_eager=True, help="Show the version and stop."),
) -> None:
    if version:
        from sfumato import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line; what goes wrong is said in one line."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that temporary files are removed on the way out
    warnings.showwarning = _show_warning
    try:
        app()
    except SfumatoError as problem:
        error(str(problem))
        sys.exit(1)
    except KeyboardInterrupt:
        error("interrupted; nothing was left half-written")
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except MemoryError:
        error("out of memory: ask for fewer attributes at a time")
        sys.exit(1)


def _show_warning(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
    if issubclass(category, SfumatoWarning):
        from sfumato.cli.console import warn

        warn(str(message))
