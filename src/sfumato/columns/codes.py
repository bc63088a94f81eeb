"""Numbers that are no amounts: codes for no answer, and codes of things."""

from __future__ import annotations

from collections import Counter
from math import gcd

from sfumato.columns.spellings import CODED


def coded(numbers: Counter[float]) -> tuple[float, ...]:
    """Numbers that stand apart from the others and that questionnaires use for no answer: 1, 2, 9.

    >>> coded(Counter({1: 50, 2: 40, 9: 3})), coded(Counter({1: 50, 2: 40, 5: 3, 10: 2}))
    ((9,), ())
    """
    if not all(isinstance(value, int) for value in numbers):
        fractions = [v for v in numbers if v not in CODED]
        large = [v for v in CODED if v in numbers and abs(v) >= 99 and numbers[v] > 1]
        top = max((abs(v) for v in fractions), default=0.0)
        return tuple(v for v in large if abs(v) > 2 * top)
    values = sorted(numbers)
    low = min((value for value in values if value >= 0), default=0)
    below = [value for value in values if value in CODED and value < 0]
    if below == [-1] and values[-1] < 2:
        below = []  # -1, 0, 1 is a scale
    above: list[float] = []
    for place in range(len(values) - 1, 0, -1):  # 7, 8 and 9 may all be codes: only the first must stand apart
        value, before = values[place], values[place - 1]
        if value < 7 or value not in CODED:
            break
        if value > before + max(2, (before - low) if value > 9 else 1):
            above = list(values[place:])
    codes = [value for value in (*below, *above) if value not in below or below == values[: len(below)]]
    answers = len(values) - len(codes)
    rare = sum(numbers[code] for code in codes) < 0.5 * sum(numbers.values())
    return tuple(codes) if codes and rare and answers >= 2 else ()


def look_like_codes(numbers: Counter[float]) -> bool:
    """Whether whole numbers may name things, as codes of trades or places do: few of many, each often, in no step.

    >>> look_like_codes(Counter({code: 40 for code in (3111, 3254, 3345, 9999)})), look_like_codes(Counter(range(99)))
    (True, False)
    """
    if not all(isinstance(value, int) for value in numbers) or sum(numbers.values()) < 20 * len(numbers):
        return False
    values = [int(value) for value in numbers]
    wide = max(values) - min(values) + 1
    return min(values) >= 100 and len(values) < 0.1 * wide and gcd(*values) == 1
