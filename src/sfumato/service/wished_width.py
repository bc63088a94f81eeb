"""How many answers it takes until intervals are as narrow as wished."""

from __future__ import annotations

import math

from sfumato.evidence.critical import critical_value

#: More answers than anybody collects.
_MOST = 1e12


def answers_for(half: float, now: float, answers: float, level: float) -> int | None:
    r"""The answers at which an interval that now reaches ``now`` to either side reaches ``half``; None beyond 10^12.

    Its reach falls as c(n) / sqrt(n), where c(n) is the critical value of intervals that hold however often one looks.

    >>> answers_for(0.05, 0.1, 1000, 0.95), answers_for(0.1, 0.1, 1000, 0.95)
    (4267, 1000)
    """
    if now <= half:
        return round(answers)
    unit = now * math.sqrt(answers) / critical_value(level, answers)

    def reach(n: float) -> float:
        return unit * critical_value(level, n) / math.sqrt(n)

    low, high = answers, _MOST
    if reach(high) > half:
        return None
    while high - low > 0.5:
        middle = math.sqrt(low * high) if high > 2 * low else (low + high) / 2
        low, high = (middle, high) if reach(middle) > half else (low, middle)
    return math.ceil(high)
