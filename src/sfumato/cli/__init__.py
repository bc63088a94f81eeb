"""The command line: the same verbs as the package. Errors are one line and a non-zero exit, never a traceback."""

from __future__ import annotations

import functools
import os
import re
import sys
import warnings
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, NoReturn

import typer

from sfumato import __version__
from sfumato.cli import (
    assess,
    attack,
    audit,
    bench,
    counts,
    demo,
    density,
    design,
    estimate,
    export,
    inspect,
    join,
    learn,
    mgas,
    push,
    randomize,
    reproduce,
    resample,
    sample,
    schema,
    serve,
    study,
)
from sfumato.cli.command import Command
from sfumato.cli.console import emit, error, warn
from sfumato.cli.csv_options import with_csv_options
from sfumato.cli.option_names import in_options
from sfumato.cli.preparation import prepared
from sfumato.cli.signals import Stopped, stoppable
from sfumato.errors import MissingPartError, SfumatoError, SfumatoWarning, quoted

app = typer.Typer(
    name="sfumato",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Mine data that nobody may see in the clear: randomize at the owner, estimate and learn at the miner.",
    epilog="Start with [bold]sfumato demo[/bold]. Every command has worked examples in its --help.",
)
#: Every command, and what it says while it works; those that say nothing have their own way, or are quick.
COMMANDS: dict[Callable[..., Any], str] = {
    demo.demo: "",
    sample.sample: "",
    schema.schema: "looking at the columns",
    design.design: "choosing channels",
    assess.assess: "assessing",
    randomize.randomize: "randomizing",
    resample.resample: "resampling and playing the attacks",
    mgas.mgas: "grouping",
    join.join: "joining",
    join.concat: "putting together",
    counts.counts: "counting",
    counts.split: "splitting",
    counts.add: "adding up",
    export.export: "",
    inspect.inspect: "",
    estimate.estimate: "estimating",
    density.density: "estimating the density",
    attack.attack: "attacking",
    audit.audit: "asking the randomizer",
    reproduce.reproduce: "reproducing",
    bench.bench: "",
    serve.serve: "",
    push.push: "",
}
#: Commands that read raw tables, which may be text files of any format.
READS_TABLES = (
    attack.attack,
    density.density,
    design.design,
    mgas.mgas,
    randomize.randomize,
    resample.resample,
    schema.schema,
)
#: Options that name a folder.
FOLDERS: dict[Callable[..., Any], tuple[str, ...]] = {reproduce.reproduce: ("out",), counts.split: ("out",)}
#: Options whose files are made where they are missing; of a ledger that is missing, more is said.
MADE: dict[Callable[..., Any], tuple[str, ...]] = {
    assess.assess: ("ledger",),
    demo.demo: ("folder",),
    randomize.randomize: ("target", "key_file", "link_key_file", "ledger"),
    sample.sample: ("folder",),
    serve.serve: ("folder",),
}
for command, said in COMMANDS.items():
    ready = prepared(command, said, FOLDERS.get(command, ()), also=("out",), made=MADE.get(command, ()))
    app.command(cls=Command)(with_csv_options(ready) if command in READS_TABLES else ready)
app.add_typer(learn.app, name="learn")
app.add_typer(study.app, name="study")


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", is_eager=True, help="Show the version and stop."),
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the command line; what goes wrong is said in one line."""
    copy_context().run(_main)  # what --show-values allows ends with the run


def _main() -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", SfumatoWarning)
            warnings.showwarning = functools.partial(_show_warning, set())
            with stoppable():
                sys.exit(app(prog_name="sfumato", standalone_mode=False))
    except SfumatoError as problem:
        stop(_kind(problem), str(problem), 1)
    except Stopped as stopped:
        stop("interrupted", f"{stopped.said}; nothing was left half-written", stopped.code)
    except (KeyboardInterrupt, typer.Abort):
        stop("interrupted", "interrupted; nothing was left half-written", 130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
    except OSError as problem:
        stop("file", f"{problem.filename or 'a file'}: {problem.strerror or problem}", 1)
    except MemoryError:
        stop("memory", "out of memory: ask for fewer attributes at a time", 1)
    except ModuleNotFoundError as problem:
        name = (problem.name or "").partition(".")[0]
        if name in ("", "sfumato"):
            _unforeseen(problem)
        stop("missing_part", str(MissingPartError.named("this command", name, "all")), 1)
    except Exception as problem:
        usage = getattr(problem, "format_message", None)  # what the command-line parser has to say
        if usage is not None:
            stop("usage", f"{usage()} (see --help)", 2)
        _unforeseen(problem)


def _unforeseen(problem: Exception) -> NoReturn:
    if os.environ.get("SFUMATO_TRACEBACK"):
        raise problem
    what = type(problem).__name__ + quoted(str(problem))  # a KeyError may name a value of the data
    line = f"this should not happen: {what}; SFUMATO_TRACEBACK=1 shows where, with values of the data"
    stop("internal", line, 70)


def stop(kind: str, line: str, code: int) -> NoReturn:
    """Say what went wrong and leave: in a line, or under --json in a document where the answer would have stood."""
    if "--json" in sys.argv[1:]:
        emit({"error": {"kind": kind, "message": " ".join(in_options(line).split())}})
    else:
        error(line)
    sys.exit(code)


def _kind(problem: SfumatoError) -> str:
    """The class of an error as a word: OutsideDomainError is "outside_domain", any other "request"."""
    name = type(problem).__name__.removesuffix("Error")
    return "request" if name == "Sfumato" else re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _show_warning(said: set[str], message: Any, category: Any = None, *_: Any, **__: Any) -> None:
    """Each warning once in a command; another that differs in its numbers only, and in no name, is the same."""
    text = re.sub(r"'[^']*'|[0-9]+", lambda found: found[0] if found[0][0] == "'" else "0", str(message))
    mark = f"{category}: {text}"
    if mark not in said:
        said.add(mark)
        warn(str(message))
