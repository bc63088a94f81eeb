"""What the shell completes: the values of options that take one of a fixed list."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def one_of(*values: str) -> Callable[[str], list[str]]:
    """The completion of an option or argument that takes one of these."""
    return found_by(lambda: values)


def found_by(values: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """The same for values that have to be looked up, which is done when the shell asks."""

    def complete(incomplete: str) -> list[str]:
        return [value for value in values() if value.startswith(incomplete)]

    return complete
