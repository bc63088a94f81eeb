"""--delimiter, --decimal, --encoding, --no-header and --skip for every command that reads raw tables."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

import typer

from sfumato.cli.choices import one_of
from sfumato.reading.csv_format import reading

_PANEL = "How the text file is written (told by its first block if not said)"
_OPTIONS: dict[str, Any] = {
    "delimiter": Annotated[
        str | None, typer.Option(help="Between fields: a sign such as ; or the word tab.", rich_help_panel=_PANEL)
    ],
    "decimal": Annotated[
        str | None,
        typer.Option(help="In numbers: . or a comma.", rich_help_panel=_PANEL, autocompletion=one_of(".", ",")),
    ],
    "encoding": Annotated[
        str | None, typer.Option(help="Of letters: utf-8, cp1252, utf-16 ...", rich_help_panel=_PANEL)
    ],
    "header": Annotated[
        bool | None,
        typer.Option("--header/--no-header", help="Whether the first line names the columns.", rich_help_panel=_PANEL),
    ],
    "skip": Annotated[
        int | None, typer.Option(min=0, help="Lines of a title above the header.", rich_help_panel=_PANEL)
    ],
}


def with_csv_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with five more options, which hold for every text file that it reads."""
    hints = get_type_hints(command, include_extras=True)
    signature = inspect.signature(command)

    @functools.wraps(command)
    def run(**given: Any) -> None:
        said = {name: given.pop(name) for name in _OPTIONS}
        with reading(**said):
            command(**given)

    own = [parameter.replace(annotation=hints[name]) for name, parameter in signature.parameters.items()]
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in _OPTIONS.items()
    ]
    run.__signature__ = signature.replace(parameters=[*own, *more])  # type: ignore[attr-defined]
    run.__annotations__ = {**hints, **_OPTIONS}
    del run.__wrapped__
    return run
