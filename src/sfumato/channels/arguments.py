"""Numbers that a caller gives: a real one, a whole one, a bound on gamma. Anything else gets one clear line."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sfumato.errors import ChannelError


def real(name: str, value: Any) -> float:
    """A finite number.

    >>> real("p", np.float32(0.5))
    0.5
    """
    if isinstance(value, bool | str) or not isinstance(value, int | float | np.number):
        raise ChannelError(f"{name} must be a number, got {value!r} instead")
    number = float(value)
    if not math.isfinite(number):
        raise ChannelError(f"{name} must be a finite number, got {number} instead")
    return number


def whole(name: str, value: Any, least: int) -> int:
    """A whole number of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ChannelError(f"{name} must be a whole number, got {value!r} instead")
    if value < least:
        raise ChannelError(f"{name} must be at least {least}, got {value} instead")
    return int(value)


def bound(value: Any) -> float:
    """A finite bound on gamma, above 1."""
    gamma = math.inf if value == math.inf else real("gamma", value)
    if not 1 < gamma < math.inf:
        raise ChannelError(f"gamma must lie in (1, inf), got {gamma:g}: at 1 the output ignores the input")
    return gamma
