"""Numbers under additive noise: between which limits a released one lies."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from sfumato.channels.noise import Noise
from sfumato.scheme import Scheme

_RARE = 2.0**-53  # of all draws of noise, so many lie beyond half the way to either limit
_LARGEST = 1e100  # of noise without limits: a number whose powers can still be computed


def reach(scheme: Scheme, name: str) -> tuple[float, float]:
    """The limits of an attribute's numbers once noise is added. One far beyond them would spoil all estimates."""
    domain: Any = scheme.schema[name]
    edges = getattr(domain, "edge_array", (0, domain.size - 1))  # values without numbers count from 0
    noise = cast(Noise, scheme.noises[name])
    low, high = np.nan_to_num(noise.quantile([_RARE, 1 - _RARE]), nan=0.0, posinf=_LARGEST, neginf=-_LARGEST)
    return float(edges[0] + 2 * min(low, 0.0)), float(edges[-1] + 2 * max(high, 0.0))
