"""Can these released answers have come through the channel at all? A test with a p-value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.assess.released_counts import channel_and_counts
from sfumato.assess.subject import Attribute
from sfumato.channels import Channel
from sfumato.errors import EstimationError
from sfumato.randomness import numpy_generator

#: Simulated tables at most; and how many of them must be as far away before the simulation stops (Besag and Clifford).
_DRAWS, _ENOUGH, _AT_A_TIME = 999, 25, 37
#: A value whose share is within this many standard errors of 0 counts as absent in the simulated tables.
_NEAR_ZERO = 2.0
_ROUNDS = 8  # of weighing by the fitted shares; they settle in three or four
_ROUNDING = 1e-6  # distances that differ by less are the same
_MOST_VALUES, _MOST_ENTRIES = 512, 1 << 22


@dataclass(frozen=True, eq=False)
class GoodnessOfFit:
    r"""The distance of the released counts from what the channel can produce.

        X = min over θ >= 0 of  Σ_y (Ñ_y - N q_y)² / (N w_y),     q = Pᵀθ,    w the fitted released shares

    ``p`` is the chance of a distance at least as great when every answer came through the channel.
    """

    statistic: float
    p: float
    shares: Array  # the θ that fits best

    def __str__(self) -> str:
        judged = "could have" if self.p >= 0.01 else "can hardly have"
        return f"the answers {judged} come through the channel (distance {self.statistic:.4g}, p = {self.p:.2g})"


def goodness_of_fit(
    released: Any, of: Any = None, attribute: Attribute = None, *, rng: np.random.Generator | int | None = None
) -> GoodnessOfFit:
    """Test whether released counts can have come through a channel.

    ``released`` is a release whose ``attribute`` is named (one, or a group that is randomized together), or the counts
    of the released values with their channel (or scheme and attribute) as ``of``. A small p says that some answers did
    not go through the channel: false ones, or a client that randomizes wrongly. A large p does not prove that all are
    honest: false answers that look like an honest distribution cannot be told.

    >>> from sfumato import channels as c
    >>> goodness_of_fit([900, 20, 40, 40], c.symmetric(4, gamma=3), rng=1).p < 0.01
    True
    """
    channel, counts, _ = channel_and_counts(released, of, attribute)
    if channel.k > _MOST_VALUES or channel.k * channel.m > _MOST_ENTRIES:
        raise EstimationError(f"{channel.k:,} values are too many for this test: ask for an attribute with fewer")
    P, total = channel.matrix, counts.sum()
    if counts[~P.any(axis=0)].any():  # answers that nobody can have given
        return GoodnessOfFit(np.inf, 0.0, np.full(channel.k, np.nan))
    fitted = _fitted(P, counts / total)
    generator = numpy_generator(rng)
    # dropping rare values makes some answers of a channel with thousands of them far too rare: the fit has its say too
    judged = [_judged(P, theta, counts, generator) for theta in (_least_favourable(channel, fitted, counts), fitted)]
    found, p = judged[0][0], max(p for _, p in judged)
    return GoodnessOfFit(found if found > _ROUNDING else 0.0, p, fitted / fitted.sum())


def _judged(P: Array, theta: Array, counts: Array, generator: np.random.Generator) -> tuple[float, float]:
    """The distance, and the chance of one as great among simulated tables of people with the shares theta."""
    total, q = counts.sum(), theta @ P
    q /= q.sum()
    distances = _Distances(P, np.maximum(q, 0.5 / total), total)
    found = float(distances(counts[None])[0])
    farther = made = 0
    while made < _DRAWS and farther < _ENOUGH:
        tables = generator.multinomial(int(total), q, _AT_A_TIME)
        farther += int((distances(tables) >= found - _ROUNDING).sum())
        made += _AT_A_TIME
    return found, farther / made if farther >= _ENOUGH else (farther + 1) / (made + 1)


class _Distances:
    """Distances of tables of released counts from the cone of all Pᵀθ, θ >= 0, weighed by 1 / w."""

    def __init__(self, P: Array, w: Array, total: float) -> None:
        self.root, self.total = np.sqrt(w), total
        self.Q, self.R = np.linalg.qr(P.T / self.root[:, None])

    def __call__(self, tables: NDArray[Any]) -> Array:
        from scipy.optimize import nnls

        scaled = tables / self.total / self.root
        along = scaled @ self.Q
        apart = np.maximum((scaled**2).sum(axis=1) - (along**2).sum(axis=1), 0.0)
        return np.asarray(self.total * (apart + np.array([nnls(self.R, one)[1] ** 2 for one in along])))


def _fitted(P: Array, shares: Array) -> Array:
    """The θ >= 0 nearest to the released shares, weighed by the released shares that it predicts."""
    from scipy.optimize import nnls

    least = 1e-3 / P.shape[1]
    w = np.maximum(P.mean(axis=0), least)
    for _ in range(_ROUNDS):
        theta = nnls(P.T / np.sqrt(w)[:, None], shares / np.sqrt(w))[0]
        w = np.maximum(theta @ P, least)
    return np.asarray(theta / theta.sum())


def _least_favourable(channel: Channel, fitted: Array, counts: Array) -> Array:
    """The fitted shares, those that may well be zero set to zero: there the distances of honest tables are largest."""
    total = counts.sum()
    if not channel.invertible:
        return fitted
    sd = np.sqrt(np.maximum(channel.inverse.squared().apply(counts) / total, 0.0) / total)
    theta = np.where(fitted < _NEAR_ZERO * sd, 0.0, fitted)
    return theta / theta.sum() if theta.sum() > 0 else fitted
