"""What the records of one scheme say of some sums. Parts of few records do not tell how they vary: they are one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Array

#: So many records tell how much they vary. One alone seems not to vary at all, and would outweigh all others.
FEW = 30


@dataclass(frozen=True, eq=False)
class PartSums:
    """What the records of one scheme say: n, S, G diag(Ñ) Gᵀ and the estimate of W diag(N) Wᵀ."""

    n: float
    total: Array
    second: Array
    own: Array

    @property
    def per_record(self) -> Array:
        """The covariance of one record's scores."""
        mean = self.total / self.n
        return np.asarray(self.second / self.n - np.outer(mean, mean))


def together(parts: Sequence[PartSums]) -> PartSums:
    """Parts as one."""
    total, second, own = (np.sum([getattr(p, field) for p in parts], axis=0) for field in ("total", "second", "own"))
    return PartSums(sum(part.n for part in parts), total, second, own)


def many_each(parts: Iterable[PartSums]) -> tuple[PartSums, ...]:
    """The parts, the smallest put together until each has many records, or one is left."""
    held = sorted(parts, key=lambda part: part.n)
    while len(held) > 1 and held[0].n < FEW:
        held = sorted([together(held[:2]), *held[2:]], key=lambda part: part.n)
    return tuple(held)
