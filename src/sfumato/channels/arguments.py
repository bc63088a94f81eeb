"""What a caller gives: numbers, a bound on gamma, channels to combine. Anything else gets one clear line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.channels.base import Channel
from sfumato.errors import ChannelError

#: The largest bound on gamma: far beyond what weights of 2^-63 tell apart, and its square is still a double.
MOST_GAMMA = 1e100


def real(name: str, value: Any) -> float:
    """A finite number.

    >>> real("p", np.float32(0.5))
    0.5
    """
    if isinstance(value, bool | str) or not isinstance(value, int | float | np.number):
        raise ChannelError(f"{name} must be a number, got {value!r} instead")
    try:
        number = float(value)
    except OverflowError:  # a whole number beyond the doubles
        number = math.inf
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
    check_bound(gamma)
    return gamma


def check_bound(gamma: Fraction | float) -> None:
    """Raise unless this can bound gamma."""
    if not gamma > 1 or gamma == math.inf:
        raise ChannelError(f"gamma must lie in (1, inf), got {float(gamma):g}: at 1 the output ignores the input")
    if gamma > MOST_GAMMA:
        raise ChannelError(f"gamma must be at most {MOST_GAMMA:g}: no larger one can be told from it")


def check_finite(channels: Sequence[Channel], what: str) -> tuple[Channel, ...]:
    """The channels, if there are some and each is between codes."""
    if (
        not isinstance(channels, Sequence)
        or not channels
        or not all(isinstance(channel, Channel) for channel in channels)
    ):
        raise ChannelError(f"{what} needs at least one channel, and nothing but channels")
    if any(channel.continuous for channel in channels):
        raise ChannelError(f"{what} takes channels between codes: cut noise into intervals with discretize()")
    if any(channel.memoizes for channel in channels):
        raise ChannelError(f"{what} takes no longitudinal channel: give it an attribute of its own")
    return tuple(channels)
