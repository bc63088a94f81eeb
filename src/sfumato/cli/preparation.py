"""What happens around every command: outputs are checked before the work, and long work shows that it goes on."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from sfumato.cli import console
from sfumato.cli.outputs import check_outputs


def prepared(
    command: Callable[..., Any], said: str = "", folders: tuple[str, ...] = (), also: tuple[str, ...] = ()
) -> Callable[..., Any]:
    """The command with its outputs checked first (see there); ``said`` is what a terminal shows while it works."""
    names = inspect.signature(command)

    @functools.wraps(command)
    def run(*given: Any, **options: Any) -> Any:
        check_outputs(names.bind_partial(*given, **options).arguments, folders, also)
        if not said:
            return command(*given, **options)
        with console.working(said):
            return command(*given, **options)

    return run
