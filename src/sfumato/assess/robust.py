"""Estimates that hold although a given share of the answers is false, whatever the liars sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.assess.poisoning import checked_share
from sfumato.assess.released_counts import channel_and_counts
from sfumato.assess.subject import Attribute
from sfumato.channels import Channel
from sfumato.channels.linear import UniformPlus
from sfumato.errors import EstimationError
from sfumato.pages.display import MOST
from sfumato.pages.shown_table import ShownTable

_MOST_VALUES, _MOST_ENTRIES = 512, 1 << 22
#: Up to so many values, and entries of the matrix, the range is sought by linear programmes.
_PROGRAMME_VALUES, _PROGRAMME_ENTRIES = 64, 1 << 15
_MOST_TARGETS = 64  # values that liars may have wanted to raise: those that look largest
_ONE_WHOLE = 1e3  # how much it counts, in least squares, that shares sum to 1
_AT_RANDOM = 0.9  # how likely it is, before the answers are seen, that liars have no target
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class RobustShares(ShownTable):
    r"""Shares of the values behind answers of which a share s is false.

    The released shares are q = (1 - s) Pᵀθ + s φ with any φ whatever. So θ can be anything with

        (1 - s) (Pᵀθ)_y <= q_y  for every answer y,     θ >= 0,     Σ_x θ_x = 1

    ``low`` and ``high`` are the limits of each share over all such θ, widened for chance. However many answers there
    are, they do not come closer than ``least`` and ``most``, which leave chance out. ``value`` is a best guess: what is
    left when the false answers that explain the counts best are taken out, see ``_explained``.
    """

    share: float
    level: float
    labels: tuple[str, ...]
    value: Array
    low: Array
    high: Array
    least: Array
    most: Array

    @property
    def _title(self) -> str:
        return f"Shares if {100 * self.share:g} % of the answers are false, {100 * self.level:g} % intervals"

    def _shown(self) -> tuple[list[str], list[list[Any]], int]:
        sides = (self.value, self.low, self.high)
        rows: list[list[Any]] = [
            [label, *(float(f"{number:.4g}") for number in row)]
            for label, *row in zip(self.labels[:MOST], *sides, strict=False)
        ]
        return ["value", "estimate", "low", "high"], rows, len(self.labels) - len(rows)


def robust(
    released: Any, share: float, of: Any = None, attribute: Attribute = None, *, level: float = 0.95
) -> RobustShares:
    """Estimate the shares of the values although a ``share`` of the answers is false, with limits that allow for it.

    ``released`` is a release whose ``attribute`` is named, or the counts of the released values with their channel (or
    scheme and attribute) as ``of``.

    >>> from sfumato import channels as c
    >>> found = robust([600, 200, 100, 100], 0.05, c.symmetric(4, gamma=9))
    >>> found.least.round(3), found.most.round(3)
    (array([0.743, 0.112, 0.   , 0.   ]), array([0.822, 0.191, 0.033, 0.033]))
    """
    share = checked_share(share)
    if not 0 < level < 1:
        raise EstimationError(f"level must lie between 0 and 1, got {level!r} instead")
    channel, counts, labels = channel_and_counts(released, of, attribute)
    if channel.k > _MOST_VALUES or channel.k * channel.m > _MOST_ENTRIES:
        raise EstimationError(f"{channel.k:,} values are too many here: ask for an attribute with fewer")
    from scipy.special import ndtri

    n = float(counts.sum())
    q = counts / n
    value, expected = _explained(channel, q, share, n)
    likely = np.maximum(q, expected)  # an answer that few gave by chance is not as rare as it looks
    likely = likely / likely.sum()
    z = float(ndtri((1 + level) / 2))
    limits = []
    for sign in (-1, 1):  # each limit is a weighted sum of the released shares, plus a constant
        weights, constant = _limit(channel, expected, share, n, sign, z)
        plain = weights @ q + constant
        sd = np.sqrt(np.maximum(weights**2 @ likely - (weights @ likely) ** 2, 0.0) / n)
        limits.append((np.clip(plain, 0, 1), np.clip(plain + sign * z * sd, 0, 1)))
    (least, low), (most, high) = limits
    return RobustShares(share, level, labels, np.clip(value, low, high), low, high, np.minimum(least, most), most)


def _limit(channel: Channel, expected: Array, share: float, n: float, sign: int, z: float) -> tuple[Array, Array]:
    """Weights of the released shares and a constant, that bound the share of each value from above (1) or below (-1).

    Those of the linear programme (its dual solution), or those of the moment estimate where they promise a nearer
    limit, chance included. They are chosen by the expected released shares, not by those seen: weights that follow
    chance would find limits that do not hold.
    """
    above = expected + np.sqrt(np.maximum(expected, 1 / n) / n)
    transition = channel.transition
    if isinstance(transition, UniformPlus) and transition.b > 0 and transition.k > 1:
        return _symmetric(transition, above, share, sign)
    weights, constant = _from_moments(channel, share, sign)
    if channel.k > _PROGRAMME_VALUES or channel.k * channel.m > _PROGRAMME_ENTRIES:
        return weights, constant
    from scipy.optimize import linprog

    def far(weight: Array, added: float) -> float:
        return sign * float(weight @ expected + added) + z * float(np.sqrt(weight**2 @ expected / n))

    P = channel.matrix
    for x in np.flatnonzero(P.any(axis=1)):
        found = linprog(
            -sign * np.eye(channel.k)[x], (1 - share) * P.T, above, np.ones((1, channel.k)), [1.0], (0, None)
        )
        if found.status == 0:
            dual = -sign * found.ineqlin.marginals, -sign * float(found.eqlin.marginals[0])
            if far(*dual) < far(weights[x], constant[x]):
                weights[x], constant[x] = dual
    return weights, constant


def _symmetric(transition: UniformPlus, above: Array, share: float, sign: int) -> tuple[Array, Array]:
    """For P = aI + bJ: no share exceeds (q_x / (1 - s) - b) / a, and each is what the others leave of 1."""
    k, a, b = transition.k, transition.a, transition.b
    scale = 1 / (a * (1 - share))
    if sign > 0:
        return scale * np.eye(k), np.full(k, -b / a)
    others: NDArray[np.bool_] = (above * scale > b / a)[None, :] & ~np.eye(k, dtype=bool)
    return -scale * others.astype(np.float64), 1 + b / a * others.sum(axis=1, dtype=np.float64)


def _from_moments(channel: Channel, share: float, sign: int) -> tuple[Array, Array]:
    """The moment estimate, less what false answers can have added at least or at most."""
    A = channel.inverse.dense()
    moved = A.min(axis=1) if sign > 0 else A.max(axis=1)
    return A / (1 - share), -share * moved / (1 - share)


def _explained(channel: Channel, q: Array, share: float, n: float) -> tuple[Array, Array]:
    r"""The shares θ, averaged over what the liars may have sent, and the released shares that they explain.

    Either all answers equally often, or those alone that raise one value most. Each is fitted by least squares,

        D = min over θ of  n Σ_y (q_y - s φ_y - (1 - s) (Pᵀθ)_y)² / w_y,     w the released shares

    and weighs exp(-D / 2) times its weight before: .9 for the first, and .1 evenly for the values. (Set on education of
    Adult, seed 20261; the published table has other draws and another attribute.)
    """
    from scipy.optimize import nnls

    P, A = channel.matrix, channel.inverse.dense()
    targets = np.argsort(-(A @ q), kind="stable")[:_MOST_TARGETS]
    raised = A[targets] >= A[targets].max(axis=1, keepdims=True) - _ROUNDING
    reachable = P.any(axis=0)
    sent = np.vstack([reachable / reachable.sum(), raised / raised.sum(axis=1, keepdims=True)])
    root = np.sqrt(np.maximum(q, 1 / n))
    Q, R = np.linalg.qr((1 - share) * P.T / root[:, None])
    whole = np.vstack([R, np.full((1, channel.k), _ONE_WHOLE)])
    goals = (q - share * sent) / root
    along = goals @ Q
    fits = [nnls(whole, np.append(one, _ONE_WHOLE)) for one in along]
    apart = (goals**2).sum(axis=1) - (along**2).sum(axis=1)
    distance = n * (apart + np.array([rest for _, rest in fits]) ** 2)
    before = np.append(_AT_RANDOM, np.full(len(targets), (1 - _AT_RANDOM) / len(targets)))
    weight = before * np.exp(-(distance - distance.min()) / 2)
    weight /= weight.sum()
    thetas = np.array([theta / theta.sum() for theta, _ in fits])
    return weight @ thetas, (1 - share) * (weight @ thetas) @ P + share * weight @ sent
