"""What can be told of an attribute with very many values, and what would serve."""

from __future__ import annotations

from sfumato.assess.precision import only_common


def caution(values: int, half_width: float) -> str | None:
    """What the precision means for so many values; None where most of them can be told.

    >>> caution(20_000, 0.04)[:64]
    '20,000 values: only those that more than 4 % of the records hold'
    """
    if half_width >= 1:
        return f"{values:,} values: no share can be told from none; group the values, or collect more records"
    if not only_common(values, half_width):
        return None
    return (
        f"{values:,} values: only those that more than {100 * half_width:.3g} % of the records hold can be told from "
        f"none; group the rare ones (sfumato schema --most-values keeps the commonest)"
    )
