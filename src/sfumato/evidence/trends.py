r"""Contrasts that use the order of values: does one attribute rise with the other, or bend with it?

Of two ordered attributes with scores u and v one contrast is enough, and of an ordered and an unordered one the
differences between the means of the groups:

    T = Σ_j Σ_ab (w[a] - w̄_j) (z[b] - z̄_j) N̂[j, a, b]

where j runs over the configurations of what is given and w̄_j, z̄_j are the means in each. Agresti (2013), section 2.4.

The weights w are not the scores themselves but what the channel lets through of them,

    w[x] = Σ_y P[x, y] E[u | y],        E[u | y] = Σ_x p[x] P[x, y] u[x] / Σ_x p[x] P[x, y]

so that values too rare to be told from noise count little. Without randomization w = u. With as many released values
as true ones this is the score test of u in the released table, which no other test beats against a weak trend; with
more it comes within a few percent. Whatever the weights, T has mean zero where the attributes are independent.

A bend is the same with the distance from the middle in place of one side's scores: those in the middle have more (or
less) of the other than those at the ends.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.domains import Domain
from sfumato.evidence.contrast_covariances import contrast_covariances
from sfumato.evidence.contrasts import NO_CONTRASTS, Contrasts, clear_configurations, independent, value_rows
from sfumato.evidence.estimate import Estimate
from sfumato.evidence.questions.values import numbers


def scores(domain: Domain) -> Array | None:
    """What each value counts as in a trend; None where there is no order, or none that matters.

    Those who gave no answer have no place in the order: see ``centred``.
    """
    return numbers(domain) if domain.ordered and domain.size - domain.nullable > 1 else None


def trend_and_bend(estimate: Estimate) -> tuple[Contrasts, Contrasts]:
    """Those of the two last attributes given the others, added up over the configurations; none without order."""
    estimate = estimate.of_asked
    domains = list(estimate.schema.values())[-2:]
    scored = [scores(domain) for domain in domains]
    if all(u is None for u in scored) or all(domain.size <= 2 for domain in domains) or min(estimate.shape[-2:]) < 2:
        return NO_CONTRASTS, NO_CONTRASTS
    table = estimate.judged.reshape(-1, *estimate.shape[-2:])
    shares_x, shares_y, weight = independent(table)
    sides, squared = [], []
    for place, (domain, u, p) in enumerate(zip(domains, scored, (shares_x, shares_y), strict=True)):
        if u is None:
            rows = value_rows(p, weight)
            squared.append(np.zeros(rows.shape[1], dtype=bool))
        else:
            channels = _channels(estimate, estimate.names[place - 2])
            whole = weight @ p / max(weight.sum(), 1e-300)
            both = [_let_through(own, whole, channels) for own in straight_and_bent(u, domain.nullable, whole)]
            rows = np.stack([w[None, :] - p @ w[:, None] for w in both], axis=1)
            squared.append(np.arange(len(both)) == 1)
        sides.append(rows)
    left, right = sides
    clear = clear_configurations(estimate, table, weight)
    found, told = _added(estimate, table, (shares_x, shares_y), weight * clear, left, right)
    squares = np.add.outer(squared[0].astype(int), squared[1]).reshape(-1)
    return found.where(told & (squares == 0)), found.where(told & (squares == 1))


def _added(
    estimate: Estimate, table: Array, shares: tuple[Array, Array], weight: Array, left: Array, right: Array
) -> tuple[Contrasts, NDArray[np.bool_]]:
    """The contrasts of some rows by some columns, added up over the configurations that have a weight; which vary."""
    px, py = shares
    J, size = len(table), left.shape[1] * right.shape[1]
    used = weight > 0
    expected = weight[:, None, None] * px[:, :, None] * py[:, None, :]
    sums = None if J == 1 else np.tile(np.eye(size)[:, None, :], (1, J, 1)) * used[None, :, None]
    V, null = np.zeros((size, size)), np.zeros((size, size))
    for part in estimate.seen:
        share = part.total / estimate.n
        seen, assumed = contrast_covariances(
            part, left, right, None if sums is None else sums.reshape(size, -1), share * expected
        )
        V += 0.5 * seen + 0.5 * assumed
        null += assumed
    T = ((left @ table @ right.transpose(0, 2, 1)).reshape(J, size) * used[:, None]).sum(axis=0)
    own_x, own_y = (rows * p[:, None, :] @ rows.transpose(0, 2, 1) for rows, p in ((left, px), (right, py)))
    each = (own_x[:, :, None, :, None] * own_y[:, None, :, None, :]).reshape(J, size, size)
    raw = (weight[:, None, None] * each).sum(axis=0)
    told = (V.diagonal() > 1e-12 * estimate.n) & (raw.diagonal() > 0)
    return Contrasts(T, V, null, raw, raw * weight.sum()), np.asarray(told)


def _channels(estimate: Estimate, name: str) -> list[tuple[float, Array]]:
    """P of one attribute with the records it holds for, part by part; nothing where others are randomized with it."""
    blocks = [(part.total, next(b for b in part.blocks if name in b.names)) for part in estimate.seen]
    return [(total, block.P) for total, block in blocks if block.names == (name,) and block.whole is None]


def _let_through(u: Array, whole: Array, channels: list[tuple[float, Array]]) -> Array:
    """w of the module's formula for scores of mean 0; averaged over channels where there are several."""
    if not channels:
        return u
    out = np.zeros_like(u)
    for total, P in channels:
        q = whole @ P
        out += total * (P @ ((whole * u) @ P / np.maximum(q, 1e-300)))
    return out / sum(total for total, _ in channels)


def straight_and_bent(u: Array, nullable: bool, p: Array) -> list[Array]:
    """Scores of mean 0, and how far from the middle each value lies in the order, less what is straight in that.

    The middle is that of the records: a value's place is the share below it and half its own, whatever its number. Of
    two values there is no bend.

    >>> [one.round(3).tolist() for one in straight_and_bent(np.arange(3.0), False, np.full(3, 1 / 3))]
    [[-1.0, 0.0, 1.0], [0.037, -0.074, 0.037]]
    """
    first, answered = centred(u, nullable, p), len(u) - nullable
    spread, own = float(p @ first**2), p[:answered] / max(float(p[:answered].sum()), 1e-300)
    if answered <= 2 or spread <= 0:
        return [first]
    place = np.append(np.cumsum(own) - own / 2, np.zeros(int(nullable)))
    second = centred((place - 0.5) ** 2, nullable, p)
    second = second - float(p @ (first * second)) / spread * first
    return [first, second] if float(p @ second**2) > 1e-9 else [first]


def centred(u: Array, nullable: bool, p: Array) -> Array:
    """Scores of mean 0; those who gave no answer count as the mean of those who did.

    >>> centred(np.array([1.0, 2.0, 3.0, 0.0]), True, np.array([0.25, 0.25, 0.25, 0.25]))
    array([-1.,  0.,  1.,  0.])
    """
    answered = len(u) - nullable
    own = p[:answered] / max(float(p[:answered].sum()), 1e-300)
    return np.append(u[:answered] - own @ u[:answered], np.zeros(int(nullable)))
