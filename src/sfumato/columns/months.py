"""Months that are written as numbers, 199009."""

from __future__ import annotations

from collections.abc import Collection, Iterable


def look_like_months(numbers: Iterable[float]) -> bool:
    """Whether all numbers can be a year and a month, as 199009."""
    return all(190001 <= value <= 210012 and value % 100 in range(1, 13) for value in numbers)


def as_months(numbers: Collection[float]) -> str:
    """How numbers that look like months become dates."""
    first, last = (f"{int(end) // 100}-{int(end) % 100:02d}" for end in (min(numbers), max(numbers)))
    return (
        f"its numbers look like years and months: if they are, write its domain as "
        f'{{"kind": "date", "first": "{first}", "last": "{last}", "by": "month", "formats": ["%Y%m"]}}'
    )
