"""Numbers that a caller gives to a learner: what is no number, or out of its range, gets one clear line."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.channels import arguments
from sfumato.errors import ChannelError, EstimationError


def check_number(
    name: str, value: Any, least: float | None = None, above: float | None = None, below: float | None = None
) -> None:
    """Refuse what is not a number, or not in its range.

    >>> check_number("min_support", 0.05, above=0, below=1)
    """
    ends = [f"at least {least:g}"] if least is not None else []
    if above is not None:
        ends = [f"in ({above:g}, {below:g})" if below is not None else "positive" if above == 0 else f"above {above:g}"]
    good = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    good = good and (least is None or value >= least) and (above is None or value > above)
    if not (good and (below is None or value < below)):
        verb = "lie" if below is not None else "be"
        raise EstimationError(f"{name} must {verb} {' and '.join(ends)}, got {value!r} instead")


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
