"""Equally spaced numbers as one would write them, and their text."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import OutsideDomainError, SchemaError

_OFF_STEP = 1e-3  # of a step: .3 in single precision is a multiple of .1
#: Significant digits of a number that somebody may have meant to write.
_DIGITS = 12


def evenly(low: float, high: float, count: int) -> NDArray[np.float64]:
    """So many equally spaced numbers, low and high among them: 0.6 where doubles add up to 0.6000000000000001.

    >>> evenly(0, 4, 21)[3].item(), evenly(0, 1, 4)[1].item()
    (0.6, 0.3333333333333333)
    """
    return as_written(np.linspace(low, high, count))


def as_written(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The numbers; one that differs from a short decimal by a rounding error only is that decimal."""
    largest = float(np.abs(numbers).max(initial=0.0))
    decimals = _DIGITS - math.ceil(math.log10(largest)) if largest else 0
    if not 0 < decimals <= 22:  # powers of ten beyond are no doubles
        return numbers
    short = np.round(numbers, decimals)
    return np.where(np.abs(short - numbers) <= 4 * np.spacing(largest), short, numbers)


def edge_texts(edges: Sequence[float]) -> list[str]:
    """Increasing numbers in plain digits: enough to tell neighbours apart, and at least six.

    >>> edge_texts([0, 1_200_000]), edge_texts([1_000_001, 1_000_001.5]), edge_texts([0.1 + 0.2, 1e20])
    (['0', '1200000'], ['1000001', '1000001.5'], ['0.3', '1e+20'])
    """
    decimals = max(0, 2 - math.floor(math.log10(min(b - a for a, b in pairwise(edges)))))
    return [_plain_digits(edge, decimals) for edge in edges]


def _plain_digits(number: float, decimals: int) -> str:
    if number == 0:
        return "0"
    digits = min(max(6, math.floor(math.log10(abs(number))) + 1 + decimals), 17)
    rounded = float(f"{number:.{digits}g}")
    return np.format_float_positional(rounded, trim="-") if 1e-4 <= abs(number) < 1e15 else f"{rounded:.{digits}g}"


def refuse_between_steps(numbers: NDArray[np.float64], step: float, middles: NDArray[np.float64], name: str) -> None:
    """Refuse numbers that are neither multiples of a step nor the mean of the multiples in a bin.

    Such means are what codes decode to: records drawn from a model hold them.
    """
    steps = numbers / step
    between = np.abs(steps - np.rint(steps)) > _OFF_STEP  # of no answer this is false
    between[between] = ~np.isin(numbers[between], middles)
    if between.any():
        allowed = f"multiples of the step {step:g}"
        raise OutsideDomainError(name, "step", float(numbers[between][0]), int(between.sum()), allowed)


def checked_limits(low: Any, high: Any) -> tuple[float, float]:
    """The limits of a range, if they are two numbers in their order."""
    if not all(isinstance(x, int | float | np.number) for x in (low, high) if x is not None):
        raise SchemaError(f"the limits must be numbers, got {low!r} and {high!r} instead")
    if not np.isfinite([0.0 if x is None else x for x in (low, high)]).all():
        raise SchemaError(f"the limits must be finite, got {low} and {high} instead")
    if low is None or high is None or not low < high:
        raise SchemaError(f"low must be less than high, got {low} and {high} instead")
    return float(low), float(high)


def check_step(step: Any, points: int | None, between: Callable[[], NDArray[np.float64]]) -> None:
    """Refuse steps that are none, and bins between whose edges lies no multiple of the step."""
    if isinstance(step, bool) or not isinstance(step, int | float | np.number) or not 0 < step < math.inf:
        raise SchemaError(f"step must be a positive number, such as 1 for whole numbers, got {step!r} instead")
    if points is not None:
        raise SchemaError("give either points or a step, not both: numbers are rounded to the points")
    if (np.diff(between()) < 0.5 * step).any():
        raise SchemaError(f"every bin must hold a multiple of the step {step:g}: use wider bins or a smaller step")
