"""What happens around every command: files are checked before the work, and long work shows that it goes on."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from sfumato.cli import console
from sfumato.cli.inputs import check_inputs
from sfumato.cli.outputs import OUTPUTS, check_outputs


def prepared(
    command: Callable[..., Any],
    said: str = "",
    folders: tuple[str, ...] = (),
    also: tuple[str, ...] = (),
    made: tuple[str, ...] = (),
) -> Callable[..., Any]:
    """The command with its files checked first: ``folders`` and ``also`` as in ``check_outputs``.

    ``made`` names options whose files the command makes where they are missing, or says more about. ``said`` is what a
    terminal shows while it works.
    """
    names = inspect.signature(command)

    @functools.wraps(command)
    def run(*given: Any, **options: Any) -> Any:
        arguments = names.bind_partial(*given, **options).arguments
        check_outputs(arguments, folders, also)
        check_inputs(arguments, (*OUTPUTS, *also, *folders, *made))
        if not said:
            return command(*given, **options)
        with console.working(said):
            return command(*given, **options)

    return run
