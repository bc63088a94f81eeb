"""Can these released answers have come through the channel at all? A test with a p-value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array
from sfumato.assess.subject import Attribute, channel_of
from sfumato.channels import Channel
from sfumato.channels.linear import Operator
from sfumato.errors import EstimationError
from sfumato.evidence import evidence, mle
from sfumato.release import Release

#: Simulated tables at most; and how many of them must be as far away before the simulation stops (Besag and Clifford).
_DRAWS, _ENOUGH = 999, 25
#: A value whose share is within this many standard errors of 0 counts as absent in the simulated tables.
_NEAR_ZERO = 2.0
_NEGLIGIBLE = 0.01  # an error of the distance that does not matter; distances are compared with chi-squared variables


@dataclass(frozen=True)
class GoodnessOfFit:
    r"""The distance of the released counts from what the channel can produce.

        G = 2 Σ_y Ñ_y log(Ñ_y / (N q_y)),     q = Pᵀθ with the θ that makes the counts most likely

    ``p`` is the chance of a distance at least as great when every answer came through the channel.
    """

    statistic: float
    p: float
    shares: Array  # the most likely θ

    def __str__(self) -> str:
        judged = "could have" if self.p >= 0.01 else "can hardly have"
        return f"the answers {judged} come through the channel (distance {self.statistic:.4g}, p = {self.p:.2g})"


def goodness_of_fit(
    released: Any, of: Any = None, attribute: Attribute = None, *, rng: np.random.Generator | int | None = None
) -> GoodnessOfFit:
    """Test whether released counts can have come through a channel.

    ``released`` is a release whose ``attribute`` is named, or the counts of the released values, with their channel
    (or scheme and attribute) as ``of``. A small p says that some answers did not go through the channel: false ones,
    or a client that randomizes wrongly. A large p does not prove that all are honest: false answers that look like an
    honest distribution cannot be told.

    >>> from sfumato import channels as c
    >>> goodness_of_fit([900, 20, 40, 40], c.symmetric(4, gamma=3), rng=1).p < 0.01
    True
    """
    channel, counts = _asked(released, of, attribute)
    total = float(counts.sum())
    transition = channel.transition
    if not mle.feasible(transition):
        raise EstimationError(f"{channel.k:,} values are too many for this test: ask for an attribute with fewer")
    fitted, distance = _fitted(transition, counts)
    q = transition.T.apply(_least_favourable(channel, fitted, counts))
    q = q / q.sum()
    generator = np.random.default_rng(rng)
    farther = made = 0
    while made < _DRAWS and farther < _ENOUGH:
        table = generator.multinomial(int(total), q).astype(np.float64)
        farther += _fitted(transition, table)[1] >= distance - _NEGLIGIBLE
        made += 1
    p = farther / made if farther >= _ENOUGH else (farther + 1) / (made + 1)
    return GoodnessOfFit(distance, p, fitted)


def _asked(released: Any, of: Any, attribute: Attribute) -> tuple[Channel, Array]:
    if isinstance(released, Release):
        if of is not None and attribute is None:
            of, attribute = None, of
        if attribute is None:
            raise EstimationError(f"name an attribute: the release has {', '.join(released.schema.names)}")
        names = [attribute] if isinstance(attribute, str) else list(attribute)
        counts = evidence(released).released_counts(names)
        return channel_of(released.scheme, attribute), counts.reshape(-1).astype(np.float64)
    if of is None:
        raise EstimationError("give the channel that the counts came through, or a release instead of counts")
    channel = channel_of(of, attribute)
    return channel, _counts(released, channel.m)


def _counts(given: ArrayLike, m: int) -> Array:
    try:
        counts = np.asarray(given, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise EstimationError("the released counts must be numbers") from None
    if len(counts) != m:
        raise EstimationError(f"the channel releases {m} different values, got {len(counts)} counts instead")
    if not np.isfinite(counts).all() or (counts < 0).any() or (counts != np.floor(counts)).any() or counts.sum() < 1:
        raise EstimationError("the released counts must be whole numbers, none below 0 and not all 0")
    return counts


def _fitted(transition: Operator, counts: Array) -> tuple[Array, float]:
    """The most likely shares, and the distance of the counts from what they predict."""
    theta = mle.fit(transition, counts, tolerance=_NEGLIGIBLE / (2 * counts.sum())).theta
    seen = counts > 0
    q = transition.T.apply(theta)[seen]
    return theta, float(2 * (counts[seen] @ np.log(counts[seen] / (counts.sum() * q))))


def _least_favourable(channel: Channel, fitted: Array, counts: Array) -> Array:
    """The fitted shares, those that may well be zero set to zero: there the distances of honest tables are largest."""
    total = counts.sum()
    if channel.k * channel.m > 1 << 24 or not channel.invertible:
        return fitted
    sd = np.sqrt(np.maximum(channel.inverse.squared().apply(counts) / total, 0.0) / total)
    theta = np.where(fitted < _NEAR_ZERO * sd, 0.0, fitted)
    return theta / theta.sum() if theta.sum() > 0 else fitted
