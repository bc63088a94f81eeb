"""Evasive answers: some say no whatever the device tells them. Two groups with different devices show how many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array
from sfumato.channels import Channel
from sfumato.errors import EstimationError
from sfumato.evidence.seen import seen
from sfumato.release import Release

_PRECISION = 1e-9
_EDGE = 1e-12
_ALIKE = 1e-9  # ratios of probabilities that differ by less cannot be told apart


@dataclass(frozen=True, eq=False)
class Evasive:
    r"""The sensitive share π among those who follow the device, and the share c of those who do not.

        Pr(not the safe answer, group g)  =  (1 - c) (π P_g[1, y] + (1 - π) P_g[0, y])

    ``cov`` is the covariance of (π, c), the inverse of Fisher's information; the intervals hold all values that a
    likelihood ratio test does not refuse.
    """

    share: float
    cheating: float
    cov: Array
    share_interval: tuple[float, float]
    cheating_interval: tuple[float, float]
    level: float

    @property
    def everybody(self) -> tuple[float, float]:
        """The sensitive share among all people: if nobody who evades holds the trait, and if all of them do."""
        held = self.share * (1 - self.cheating)
        return held, held + self.cheating

    def __str__(self) -> str:
        def told(value: float, limits: tuple[float, float]) -> str:
            return f"{value:.3f} ({limits[0]:.3f} to {limits[1]:.3f})"

        low, high = self.everybody
        return (
            f"yes: {told(self.share, self.share_interval)} of those who follow the device; evasive: "
            f"{told(self.cheating, self.cheating_interval)}; yes among everybody: between {low:.3f} and {high:.3f}"
        )


def evasive(
    counts: ArrayLike | Release,
    channels: Sequence[Channel] | None = None,
    *,
    attribute: str | None = None,
    safe: int | Sequence[int] = 0,
    level: float = 0.95,
) -> Evasive:
    """The sensitive share and the share of evasive answers, from two or more groups whose devices differ.

    ``counts`` has a row per group: how many gave the released code 0 (no) and 1 (yes), with the ``channels`` of the
    groups. Or it is a release of groups under different schemes, and ``attribute`` is named. ``safe`` is the code that
    evasive people give whatever the device says: one for all groups, or one for each. Clark and Desharnais (1998).

    >>> from sfumato import channels as c
    >>> found = evasive([[590, 410], [736, 264]], [c.unrelated(0.5, 0.7), c.unrelated(0.7, 0.5)])
    >>> round(found.share, 3), round(found.cheating, 3)
    (0.199, 0.088)
    """
    if not 0 < level < 1:
        raise EstimationError(f"level must lie between 0 and 1, got {level!r} instead")
    table, matrices = _groups(counts, channels, attribute)
    fits = np.ndim(safe) <= 1 and np.size(safe) in (1, len(table)) and np.isin(safe, (0, 1)).all()
    if not fits:
        raise EstimationError(f"safe must be 0 or 1, or one of these for each of the {len(table)} groups, got {safe!r}")
    at, places = np.arange(len(table)), np.broadcast_to(np.asarray(safe, dtype=np.int64), len(table))
    told, n = table[at, 1 - places], table.sum(axis=1)  # answers that are not the safe one
    no, yes = matrices[at, 0, 1 - places], matrices[at, 1, 1 - places]
    if np.ptp(np.arctan2(yes, no)) < _ALIKE:
        raise EstimationError("all groups have the same device: evasive answers show only where the devices differ")
    likelihood = _Likelihood(told, n, no, yes)
    share, follow = likelihood.best()
    from scipy.stats import chi2

    within = likelihood.at(share, follow) - float(chi2.ppf(level, 1)) / 2
    by_share = _limits(share, lambda value: likelihood.at(value, likelihood.follow(value)) - within)
    by_follow = _limits(follow, lambda value: likelihood.at(likelihood.share(value), value) - within)
    cheating = (1 - by_follow[1], 1 - by_follow[0])
    return Evasive(share, 1 - follow, likelihood.covariance(share, follow), by_share, cheating, level)


@dataclass(frozen=True)
class _Likelihood:
    """Of π and of t = 1 - c, who follow the device. It is concave in (t π, t (1 - π)): its profiles have one summit."""

    told: Array
    n: Array
    no: Array
    yes: Array

    def at(self, share: float, follow: float) -> float:
        chance = np.clip(follow * (share * self.yes + (1 - share) * self.no), _EDGE, 1 - _EDGE)
        return float(self.told @ np.log(chance) + (self.n - self.told) @ np.log1p(-chance))

    def slope(self, share: float, follow: float) -> Array:
        """The derivatives by π and by t."""
        mixed = share * self.yes + (1 - share) * self.no
        chance = np.clip(follow * mixed, _EDGE, 1 - _EDGE)
        score = self.told / chance - (self.n - self.told) / (1 - chance)
        return np.array([follow * score @ (self.yes - self.no), score @ mixed])

    def follow(self, share: float) -> float:
        """The most likely t, π given."""
        return _root(lambda value: float(self.slope(share, value)[1]))

    def share(self, follow: float) -> float:
        """The most likely π, t given."""
        return _root(lambda value: float(self.slope(value, follow)[0]))

    def best(self) -> tuple[float, float]:
        """The most likely of both: two groups are solved where that gives shares, otherwise the profile's summit."""
        if len(self.n) == 2:
            yes, no = np.linalg.solve(np.column_stack([self.yes, self.no]), self.told / self.n)
            if min(yes, no) >= 0 and 0 < yes + no <= 1:
                return float(yes / (yes + no)), float(yes + no)
        share = _root(lambda value: float(self.slope(value, self.follow(value))[0]))
        return share, self.follow(share)

    def covariance(self, share: float, follow: float) -> Array:
        mixed = share * self.yes + (1 - share) * self.no
        chance = np.clip(follow * mixed, _EDGE, 1 - _EDGE)
        slopes = np.array([follow * (self.yes - self.no), -mixed])
        return np.asarray(np.linalg.pinv((slopes * self.n / (chance * (1 - chance))) @ slopes.T))


def _groups(counts: Any, channels: Sequence[Channel] | None, attribute: str | None) -> tuple[Array, Array]:
    """Counts, a row per group, and the groups' matrices."""
    if isinstance(counts, Release):
        if attribute is None:
            raise EstimationError(f"name an attribute: the release has {', '.join(counts.schema.names)}")
        pieces = seen(counts, (attribute,))
        matrices = [piece.transition.dense() for piece in pieces]
        tables = [piece.counts for piece in pieces]
    elif channels is None:
        raise EstimationError("give the channel of each group")
    else:
        matrices = [channel.matrix for channel in channels]
        try:
            tables = list(np.asarray(counts, dtype=np.float64))
        except (TypeError, ValueError):
            raise EstimationError("counts must be numbers, a row of two for each group") from None
    if any(P.shape != (2, 2) for P in matrices):
        raise EstimationError("evasive answers are told for questions with two values and two answers")
    if len(tables) != len(matrices) or any(np.shape(one) != (2,) for one in tables):
        raise EstimationError(f"counts must have two numbers for each of the {len(matrices)} channels")
    if len(tables) < 2:
        raise EstimationError("evasive answers show only between two groups with different devices, got one group")
    table = np.array(tables)
    if not np.isfinite(table).all() or (table < 0).any() or (table.sum(axis=1) < 1).any():
        raise EstimationError("counts must not be below 0, and every group needs answers")
    return table, np.array(matrices)


def _root(slope: Callable[[float], float]) -> float:
    """Where a falling function on [0, 1] passes 0; the end where it does not."""
    from scipy.optimize import brentq

    if slope(1.0) >= 0:
        return 1.0
    return 0.0 if slope(0.0) <= 0 else float(brentq(slope, 0.0, 1.0, xtol=_PRECISION))


def _limits(best: float, above: Callable[[float], float]) -> tuple[float, float]:
    """The ends of the interval around the best value in which a function is above 0."""
    from scipy.optimize import brentq

    low, high = (end if above(end) >= 0 else float(brentq(above, end, best, xtol=_PRECISION)) for end in (0.0, 1.0))
    return low, high
