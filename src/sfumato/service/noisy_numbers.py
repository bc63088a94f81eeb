"""Numbers under additive noise: between which limits a released one lies."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from sfumato.channels.noise import Noise
from sfumato.scheme import Scheme

_RARE = 2.0**-53  # of all draws of noise, so many lie beyond half the way to either limit
_LARGEST = 1e100  # of noise without limits: a number whose powers can still be computed


def reach(scheme: Scheme, name: str) -> tuple[float, float]:
    """The limits of an attribute's numbers once noise is added. One number far beyond them would spoil all estimates.

    >>> from sfumato import channels as c
    >>> from sfumato.schema import Numeric, Schema
    >>> scheme = Scheme(Schema({"x": Numeric(0, 10, bins=5)}), {"x": c.uniform(1)})
    >>> [round(end, 6) for end in reach(scheme, "x")]
    [-2.0, 12.0]
    """
    domain: Any = scheme.schema[name]
    edges = getattr(domain, "edge_array", (0, domain.size - 1))  # values without numbers count from 0
    noise = cast(Noise, scheme.noises[name])
    low, high = np.nan_to_num(noise.quantile([_RARE, 1 - _RARE]), nan=0.0, posinf=_LARGEST, neginf=-_LARGEST)
    return float(edges[0] + 2 * min(low, 0.0)), float(edges[-1] + 2 * max(high, 0.0))
