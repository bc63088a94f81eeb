"""What every command does: it takes --show-values, and refuses an option that is given twice where one counts.

Without --show-values no error message quotes a value of the data.
"""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperOption

from sfumato.errors import showing


class Command(TyperCommand):
    """A command that also takes --show-values, and each option with one value only once."""

    def __init__(self, *args: Any, params: list[Any] | None = None, **more: Any) -> None:
        super().__init__(*args, params=[*(params or []), _show_values_option()], **more)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """As ever, but ``--drop a --drop b`` is an error: the first would count for nothing, and nobody would know."""
        if not ctx.resilient_parsing:
            _, _, given = self.make_parser(ctx).parse_args(args=list(args))
            single = [p for p in given if isinstance(p, TyperOption) and not (p.multiple or p.is_flag or p.count)]
            twice = next((p.opts[0] for p in single if single.count(p) > 1), None)
            if twice is not None:
                ctx.fail(f"Option {twice!r} is given more than once; give it once, several names between commas.")
        return super().parse_args(ctx, args)


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
