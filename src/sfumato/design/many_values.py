"""What can be told of an attribute with very many values, and what would serve."""

from __future__ import annotations

from sfumato.assess.precision import only_common
from sfumato.channels import Channel
from sfumato.channels.prefixes import Prefixes
from sfumato.channels.text_noise import rarest


def caution(channel: Channel, half_width: float, n: int) -> str | None:
    """What the precision means for so many values; None where most of them can be told.

    >>> from sfumato.channels import symmetric
    >>> caution(symmetric(20_000, gamma=3), 0.04, 1000)[:64]
    '20,000 values: only those that more than 4 % of the records hold'
    """
    if isinstance(channel, Prefixes):
        share = rarest(channel, n)
        found = f"that more than about {100 * share:.2g} % of the records hold" if share < 1 else "of nearly everybody"
        return f"free text: only texts {found} are found; more records, or shorter texts, find rarer ones"
    values = channel.k
    if half_width >= 1:
        return f"{values:,} values: no share can be told from none; group the values, or collect more records"
    if not only_common(values, half_width):
        return None
    return (
        f"{values:,} values: only those that more than {100 * half_width:.3g} % of the records hold can be told from "
        f"none; group the rare ones (sfumato schema --most-values keeps the commonest)"
    )
