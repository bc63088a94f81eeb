"""The command line: the same verbs as the package. Errors are one line and a non-zero exit, never a traceback."""

from __future__ import annotations

import signal
import sys
import warnings
from typing import Any, NoReturn

import typer

from sfumato.cli import (
    assess,
    attack,
    audit,
    bench,
    demo,
    density,
    design,
    estimate,
    inspect,
    learn,
    randomize,
    reproduce,
    resample,
    sample,
)
from sfumato.cli.console import error, warn
from sfumato.errors import SfumatoError, SfumatoWarning

app = typer.Typer(
    name="sfumato",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Mine data that nobody may see in the clear: randomize at the owner, estimate and learn at the miner.",
    epilog="Start with [bold]sfumato demo[/bold]. Every command has worked examples in its --help.",
)
for command in (
    demo.demo,
    sample.sample,
    design.design,
    assess.assess,
    randomize.randomize,
    resample.resample,
    inspect.inspect,
    estimate.estimate,
    density.density,
    attack.attack,
    audit.audit,
    reproduce.reproduce,
    bench.bench,
):
    app.command()(command)
app.add_typer(learn.app, name="learn")


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", is_eager=True, help="Show the version and stop."),
) -> None:
    if version:
        from sfumato import __version__

        typer.echo(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the command line; what goes wrong is said in one line."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that temporary files are removed on the way out
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", SfumatoWarning)
            warnings.showwarning = _show_warning
            sys.exit(app(standalone_mode=False))
    except SfumatoError as problem:
        stop(str(problem), 1)
    except (KeyboardInterrupt, typer.Abort):
        stop("interrupted; nothing was left half-written", 130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except OSError as problem:
        stop(f"{problem.filename or 'a file'}: {problem.strerror or problem}", 1)
    except MemoryError:
        stop("out of memory: ask for fewer attributes at a time", 1)
    except Exception as problem:
        usage = getattr(problem, "format_message", None)  # what the command-line parser has to say
        if usage is None:
            raise
        stop(f"{usage()} (see --help)", 2)


def stop(line: str, code: int) -> NoReturn:
    """Say what went wrong and leave."""
    error(line)
    sys.exit(code)


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    warn(str(message))
