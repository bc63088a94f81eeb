r"""Shares of the population from parts of different precision: each part counts by how much it tells.

With n_p records of part p, and v_p the variance that one of them has in a share, summed over the cells,

    θ̂ = Σ_p w_p θ̂_p,     w_p ∝ n_p / v_p,     Var θ̂ = Σ_p w_p² v_p / n_p

This is the variance of a sample of N' = 1 / Σ_p (w_p² / n_p) records, the share N' w_p² / n_p of which comes from part
p. So the limits are those of such a sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.evidence import mle
from sfumato.evidence.critical import wider_level
from sfumato.evidence.estimate import Estimate
from sfumato.evidence.limits import limits
from sfumato.evidence.record_moments import records
from sfumato.evidence.seen import Seen
from sfumato.evidence.simplex import project


@dataclass(frozen=True, eq=False, repr=False)
class PooledEstimate(Estimate):
    """Shares from several parts. ``seen`` are the parts, scaled to the sample that tells as much as all of them."""

    weighed: Array = field(default_factory=lambda: np.zeros(0))  # the unbiased shares
    rows: float = 0.0

    @property
    def n(self) -> float:
        return self.rows

    @property
    def unbiased(self) -> Array:
        return self.weighed

    @property
    def _scale(self) -> float:
        return sum(piece.total for piece in self.seen)

    def interval(
        self, level: float = 0.95, cells: NDArray[np.int64] | None = None, *, anytime: bool = False
    ) -> tuple[Array, Array]:
        level = wider_level(level, self.n) if anytime else level
        centre = self.weighed * self._scale
        sides = [replace(side.flat(), estimate=centre) for side in records(self.seen, True)]
        if cells is not None:
            sides = [side.at(cells) for side in sides]
        low, high = limits(sides[0], sides[1], level, True)
        value = self.value if cells is None else self.value[cells]
        return np.minimum(low / self._scale, value), np.maximum(high / self._scale, value)


def pooled(found: Estimate) -> PooledEstimate:
    """The shares behind an estimate from several parts."""
    weights = precision_weights(found.seen)
    sizes = np.array([piece.total for piece in found.seen])
    sample = 1 / float((weights**2 / sizes).sum())
    scaled = tuple(
        piece.holding(piece.counts * (sample * w / n) ** 2)
        for piece, w, n in zip(found.seen, weights, sizes, strict=True)
    )
    shares = _weighed([piece.centre / piece.total for piece in found.seen], weights)
    if found.method == "mle":
        value = _weighed([_most_likely(piece) for piece in found.seen], weights)
    else:
        value = project(shares, 1.0) if found.method == "project" else shares
    rows = float(sizes.sum())
    return PooledEstimate(found.schema, value, scaled, found.method, True, found.codes, weighed=shares, rows=rows)


def precision_weights(seen: Sequence[Seen]) -> Array:
    """The weight of each part; they sum to 1."""
    sizes = np.array([piece.total for piece in seen])
    plain = _weighed([piece.centre / piece.total for piece in seen], sizes / sizes.sum())
    taken = float((np.clip(plain, 0.0, 1.0) / max(float(np.clip(plain, 0.0, 1.0).sum()), 1.0)) @ np.clip(plain, 0, 1))
    variance = [max(float(piece.spread.sum()) / piece.total - taken, 1e-9) for piece in seen]
    weights = sizes / np.array(variance)
    return np.asarray(weights / weights.sum())


def _weighed(values: Sequence[Array], weights: Array) -> Array:
    return np.asarray(sum(w * value for w, value in zip(weights, values, strict=True)))


def _most_likely(piece: Seen) -> Array:
    theta = mle.fit(piece.full if piece.partial else piece.transition, piece.counts).theta
    return piece.placed(piece.summed(theta) if piece.partial else theta)
