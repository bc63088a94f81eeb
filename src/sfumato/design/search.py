"""The smallest gamma that is precise enough."""

from __future__ import annotations

import math
from collections.abc import Callable

LOOSEST = 1e6  # the largest gamma that is still called randomizing
_TIGHTEST = 5e-4  # the smallest gamma - 1 that is looked at
_CLOSE = 1e-5


def least(width: Callable[[float], float], limit: float, wanted: float) -> float | None:
    r"""The smallest gamma up to the limit with width(gamma) <= wanted, or None.

    Half-widths fall almost as 1 / (gamma - 1), so that their logarithm is searched along that of gamma - 1, by secants
    that keep both ends (the Illinois method).

    >>> round(least(lambda gamma: 1 / (gamma - 1), limit=100, wanted=0.25), 4)
    5.0
    """

    def over(t: float) -> float:
        reached = width(1 + math.exp(t))
        return math.log(reached / wanted) if 0 < reached < math.inf else math.copysign(math.inf, reached)

    highest, lowest = math.log(limit - 1), math.log(_TIGHTEST)
    high = min(math.log(2), highest)
    at_high, low, at_low = over(high), high, math.inf
    while at_high > 0 and high < highest:
        low, at_low, high = high, at_high, min(high + 2, highest)
        at_high = over(high)
    if at_high > 0:
        return None
    while at_low == math.inf and low == high and high > lowest:  # precise enough at the start: go down
        low = max(high - 2, lowest)
        at_low = over(low)
        if at_low <= 0:
            high, at_high, low, at_low = low, at_low, low, math.inf
    if low >= high:
        return 1 + math.exp(high)
    return 1 + math.exp(_between(over, low, at_low, high, at_high))


def _between(over: Callable[[float], float], low: float, at_low: float, high: float, at_high: float) -> float:
    """The place where ``over`` falls to 0, from the side where it is below."""
    true_high = at_high
    for _ in range(60):
        if high - low < _CLOSE or true_high > -_CLOSE:
            break
        secant = math.isfinite(at_low) and math.isfinite(at_high) and at_low > at_high
        t = low + (high - low) * (at_low / (at_low - at_high) if secant else 0.5)
        t = min(max(t, low + 1e-3 * (high - low)), high - 1e-3 * (high - low))
        value = over(t)
        if value <= 0:
            high, at_high, true_high = t, value, value
            at_low /= 2
        else:
            low, at_low = t, value
            at_high /= 2
    return high


def needed(n: int, reach: float, wanted: float) -> int:
    """How many records bring a half-width down to the wanted one."""
    return math.ceil(n * (reach / wanted) ** 2)
