"""Numbers that a caller gives: what is no number gets one clear line."""

from __future__ import annotations

from typing import Any

from sfumato.channels import arguments
from sfumato.errors import ChannelError, EstimationError


def real(name: str, value: Any) -> float:
    """A finite number.

    >>> real("eta", 1)
    1.0
    """
    try:
        return arguments.real(name, value)
    except ChannelError as problem:
        raise EstimationError(str(problem)) from None


def whole(name: str, value: Any, least: int) -> int:
    """A whole number of at least ``least``; 3.0 is one too."""
    number = real(name, value)
    try:
        return arguments.whole(name, int(number) if number == int(number) else value, least)
    except ChannelError as problem:
        raise EstimationError(str(problem)) from None
