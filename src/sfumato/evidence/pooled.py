r"""Shares of the population from parts of different precision: each part counts by how much it tells.

With n_p records of part p, and v_p the variance that one of them has in a share, summed over the cells,

    θ̂ = Σ_p w_p θ̂_p,     w_p ∝ n_p / v_p,     Var θ̂ = Σ_p w_p² v_p / n_p

This is the variance of a sample of N' = 1 / Σ_p (w_p² / n_p) records, the share N' w_p² / n_p of which comes from part
p. So the limits are those of such a sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence import mle
from sfumato.evidence.seen import Seen
from sfumato.evidence.simplex import project


@dataclass(frozen=True, eq=False)
class Pooled:
    """Shares from several parts, and the parts scaled to the sample that tells as much as all of them."""

    value: Array  # as the method has them
    shares: Array  # unbiased
    seen: tuple[Seen, ...]
    rows: float
    weights: Array  # of the parts
    sizes: Array  # how many records each part has


def pooled(seen: Sequence[Seen], method: str) -> Pooled:
    """The shares behind several parts."""
    weights = precision_weights(seen)
    sizes = np.array([piece.total for piece in seen])
    sample = 1 / float((weights**2 / sizes).sum())
    scaled = tuple(
        piece.holding(piece.counts * (sample * w / n) ** 2) for piece, w, n in zip(seen, weights, sizes, strict=True)
    )
    shares = _weighed([piece.centre / piece.total for piece in seen], weights)
    if method == "mle":
        value = _weighed([_most_likely(piece) for piece in seen], weights)
    else:
        value = project(shares, 1.0) if method == "project" else shares
    return Pooled(value, shares, scaled, float(sizes.sum()), weights, sizes)


def precision_weights(seen: Sequence[Seen]) -> Array:
    """The weight of each part; they sum to 1."""
    sizes = np.array([piece.total for piece in seen])
    plain = _weighed([piece.centre / piece.total for piece in seen], sizes / sizes.sum())
    possible = np.clip(plain, 0.0, 1.0)
    taken = float(possible @ possible) / max(float(possible.sum()), 1.0)
    variance = [max(float(piece.spread.sum()) / piece.total - taken, 1e-9) for piece in seen]
    weights = sizes / np.array(variance)
    return np.asarray(weights / weights.sum())


def _weighed(values: Sequence[Array], weights: Array) -> Array:
    return np.asarray(sum(w * value for w, value in zip(weights, values, strict=True)))


def _most_likely(piece: Seen) -> Array:
    theta = mle.fit(piece.full if piece.partial else piece.transition, piece.counts).theta
    return piece.placed(piece.summed(theta) if piece.partial else theta)
