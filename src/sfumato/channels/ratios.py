"""Likelihood ratios of any size: exact fractions, infinity, and the logarithms that never overflow."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

#: An exact ratio of integers, or math.inf.
Ratio = Fraction | float


def as_float(ratio: Ratio) -> float:
    """The ratio as a double; inf where it is too large for one.

    >>> as_float(Fraction(10) ** 400), as_float(Fraction(3, 2))
    (inf, 1.5)
    """
    try:
        return float(ratio)
    except OverflowError:
        return math.inf


def log(ratio: Ratio) -> float:
    """ln of a ratio of any size.

    >>> round(log(Fraction(10) ** 400) / math.log(10))
    400
    """
    if not isinstance(ratio, Fraction):
        return math.log(ratio)
    if ratio < 2:  # the logarithms of the two integers would cancel
        return math.log1p(ratio - 1)
    return math.log(ratio.numerator) - math.log(ratio.denominator)


def product(ratios: Iterable[float]) -> float:
    """The product of doubles of at least 1; inf where it is too large for one.

    >>> product([3.0] * 2), product([3.0] * 700)
    (9.0, inf)
    """
    return math.prod(ratios, start=1.0)


def power(ratio: float, times: int) -> float:
    """The ratio of so many independent answers; inf where it is too large for a double.

    >>> power(3.0, 2), power(3.0, 700)
    (9.0, inf)
    """
    try:
        return float(ratio) ** times
    except OverflowError:
        return math.inf
