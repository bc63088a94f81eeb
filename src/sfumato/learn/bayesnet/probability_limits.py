"""Limits for conditional probabilities that hold at rare parents and near 0 and 1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence.estimate import Estimate
from sfumato.evidence.questions.forms import reach_inside
from sfumato.learn.bayesnet.count_moments import Triple, apart, own_moments, squares

Variance = Callable[[Array], Array]


def score_limits(estimate: Estimate, second: Triple, level: float, population: bool) -> tuple[Array, Array]:
    r"""All probabilities that the counts do not contradict.

        { θ in [0, 1] : (N̂_jk - θ N̂_j)² <= z² Var_θ(N̂_jk - θ N̂_j) }

    Fieller's set, with the variance at the probability in question instead of at the estimate, as in Wilson's interval,
    which this is where nothing was randomized. Of a table that only a model tells it is Fieller's set itself.
    An estimate outside [0, 1] would leave a point, or less: there limits reach inside as Feldman and Cousins have it.
    """
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    z2 = z * z
    top = estimate.judged
    bottom = np.broadcast_to(top.sum(-1, keepdims=True), top.shape)
    variance = _variance(estimate, second, population)

    def outside(theta: Array) -> Array:
        return np.asarray((top - theta * bottom) ** 2 - z2 * np.maximum(variance(theta), 1e-9))

    grid = np.linspace(0.0, 1.0, 65)
    accepted = np.stack([outside(np.full(top.shape, theta)) <= 0 for theta in grid])
    with np.errstate(invalid="ignore", divide="ignore"):
        guess = np.clip(np.nan_to_num(np.where(bottom > 0, top / bottom, 0.5), nan=0.5), 0.0, 1.0)
    some = accepted.any(0)
    first = np.where(some, grid[accepted.argmax(0)], guess)
    last = np.where(some, grid[len(grid) - 1 - accepted[::-1].argmax(0)], guess)
    inner = np.where(outside(guess) <= 0, guess, np.nan)
    first, last = np.fmin(first, inner), np.fmax(last, inner)
    low = _edge(outside, np.maximum(first - grid[1], 0.0), first)
    high = _edge(outside, np.minimum(last + grid[1], 1.0), last)
    return np.minimum(low, 1 - _inside(bottom - top, bottom, variance(np.ones(top.shape)), z)), np.maximum(
        high, _inside(top, bottom, variance(np.zeros(top.shape)), z)
    )


def _inside(top: Array, bottom: Array, variance: Array, z: float) -> Array:
    """How far from 0 a ratio reaches whose estimate lies below 0, with the variance of its top there; otherwise 0."""
    below = (top < 0) & (bottom > 0) & (variance > 0)
    sd = np.sqrt(np.where(below, variance, 1.0))
    reach = sd * reach_inside(np.where(below, top / sd, 0.0), z) / np.where(below, bottom, 1.0)
    return np.where(below, np.minimum(reach, 1.0), 0.0)


def _variance(estimate: Estimate, second: Triple, population: bool) -> Variance:
    """Var(N̂_jk - θ N̂_j) as if the probability were θ and the other values of the node kept their proportions."""
    if estimate.within() is not None:
        m11, m12, m22 = second
        return lambda theta: np.asarray(m11 - 2 * theta * m12 + theta**2 * m22)
    shape = estimate.shape
    k = shape[-1]
    counts = estimate.judged.reshape(-1, k)
    weight = np.maximum(counts.sum(1), 0.0)
    others = np.maximum(counts, 0.0)[:, None, :] * (1 - np.eye(k))[None]  # configuration, value, other value
    total = others.sum(2, keepdims=True)
    share = np.where(total > 0, others / np.maximum(total, 1e-300), (1 - np.eye(k))[None] / max(k - 1, 1))
    own = own_moments(estimate)
    seen = estimate.unbiased.reshape(-1, k)
    m11, m12, m22 = (moment + more for moment, more in zip(second, squares(apart(estimate)), strict=True))

    def variance(theta: Array) -> Array:
        flat = theta.reshape(-1, k)[:, :, None]
        assumed = weight[:, None, None] * (flat * np.eye(k)[None] + (1 - flat) * share)
        slope = own[0] - 2 * flat * own[1] + flat**2 * own[2]
        moved = ((assumed - seen[:, None, :]) * slope).sum(2).reshape(shape)
        out = np.asarray(m11 - 2 * theta * m12 + theta**2 * m22 + moved)
        return out if population else out - theta * (1 - theta) * weight.reshape(*shape[:-1], 1)

    return variance


def _edge(outside: Variance, out: Array, inside: Array) -> Array:
    """The point between a refused and an accepted value where the one becomes the other."""
    refused = outside(out) > 0
    low, high = out.copy(), inside.copy()
    for _ in range(36):
        middle = (low + high) / 2
        ok = outside(middle) <= 0
        low, high = np.where(ok, low, middle), np.where(ok, middle, high)
    return np.where(refused, high, out)
