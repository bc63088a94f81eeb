"""Every command takes --show-values: without it, no error message quotes a value of the data."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand

from sfumato.errors import showing


class Command(TyperCommand):
    """A command that also takes --show-values."""

    def __init__(self, *args: Any, params: list[Any] | None = None, **more: Any) -> None:
        super().__init__(*args, params=[*(params or []), _show_values_option()], **more)


def _show_values_option() -> Any:
    def allow(_: Any, __: Any, given: bool) -> None:
        if given:
            showing.set(True)  # for the rest of this run

    sketch = typer.Typer(add_completion=False)

    @sketch.command()
    def _command(
        shown: bool = typer.Option(
            False,
            "--show-values",
            help="Let error messages quote values of the data; without it they name column, kind and count.",
        ),
    ) -> None: ...

    option = next(p for p in typer.main.get_command(sketch).params if "--show-values" in p.opts)
    option.expose_value, option.callback, option.is_eager = False, allow, True
    return option
