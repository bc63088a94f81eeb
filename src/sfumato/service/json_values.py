"""Numbers and values as JSON can hold them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any


def number(value: Any) -> float | None:
    """A number; nothing where there is none, or where it is not finite.

    >>> number(1), number(math.inf), number(None)
    (1.0, None, None)
    """
    return float(value) if value is not None and math.isfinite(value) else None


def text(value: Any) -> str | None:
    """A value of an attribute as it stands in a table; None is no answer."""
    return None if value is None else str(value)


def texts(values: Iterable[Any]) -> list[str | None]:
    """Some values, or all of an attribute, as they stand in a table."""
    return [text(value) for value in values]
