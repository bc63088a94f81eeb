"""How many answers it takes until intervals are as narrow as wished."""

from __future__ import annotations

import math

from sfumato.evidence.critical import critical_value

#: More answers than anybody collects.
_MOST = 1e12


def answers_for(half: float, now: float, sd: float, answers: float, level: float) -> int | None:
    r"""The answers at which an interval that now reaches ``now`` to either side reaches ``half``; None beyond 10^12.

    Its reach falls as c(n) / sqrt(n), where c(n) is the critical value of intervals that hold however often one looks.
    Of few answers an interval ends at 0 and 1, and its width says nothing: there ``sd``, the estimate's standard
    deviation, tells how far it would reach.

    >>> answers_for(0.05, 0.1, 0.02, 1000, 0.95), answers_for(0.1, 0.1, 0.02, 1000, 0.95)
    (4267, 1000)
    >>> answers_for(0.02, 0.5, 0.3, 4, 0.95)  # from the width alone it would be 157
    9411
    """
    if now <= half:
        return round(answers)
    unit = math.sqrt(answers) * max(sd, now / critical_value(level, answers))

    def reach(n: float) -> float:
        return unit * critical_value(level, n) / math.sqrt(n)

    low, high = answers, _MOST
    if reach(high) > half:
        return None
    while high - low > 0.5:
        middle = math.sqrt(low * high) if high > 2 * low else (low + high) / 2
        low, high = (middle, high) if reach(middle) > half else (low, middle)
    return math.ceil(high)
