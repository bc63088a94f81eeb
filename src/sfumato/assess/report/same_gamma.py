"""What another channel would tell at the gamma of an attribute: precision that costs no privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sfumato.assess.precision import MANY
from sfumato.assess.report.measures import widest
from sfumato.assess.report.unit import Unit
from sfumato.channels.average import Average
from sfumato.channels.families import families
from sfumato.errors import ChannelError, EstimationError

_WORTH = 1.1  # times the records that another channel must be worth to be named


@dataclass(frozen=True)
class Better:
    """A family of channels, and the widest half-width under the best of its channels."""

    family: str
    half_width: float


def better(unit: Unit, n: int) -> Better | None:
    """The family that tells clearly more at the same gamma, if one does."""
    channel, target = unit.channel, "cdf" if "half_width_cdf" in unit.measures else "shares"
    if len(unit.names) > 1 or channel.k > MANY or not 1 < channel.gamma < math.inf or isinstance(channel, Average):
        return None
    own, found = widest(unit, channel, n, target), []
    for family, make in families(channel.k, unit.ordered, unit.nullable).items():
        for other in make(channel.gamma):
            try:
                found.append(Better(family, widest(unit, other, n, target)))
            except (EstimationError, ChannelError):  # answers that say nothing
                continue
    best = min(found, key=lambda one: one.half_width, default=None)
    return best if best is not None and (own / best.half_width) ** 2 >= _WORTH else None
