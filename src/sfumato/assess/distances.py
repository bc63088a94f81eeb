"""How far an estimated distribution is from the true one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import sfumato.assess.continuous as continuous
from sfumato.arrays import Array
from sfumato.assess.subject import is_noise
from sfumato.errors import SfumatoError
from sfumato.input_checks import check_numbers

_SUM = 1e-6


def information_loss(true: Any, estimate: Any) -> float:
    r"""Half the area between two densities, 1/2 int |f - f^|: 0 is perfect, 1 is disjoint (AA01, section 2.2).

    Two lists of shares, or two densities (noise, an estimated Density, a frozen scipy.stats distribution).

    >>> round(information_loss([0.5, 0.5], [0.6, 0.4]), 9)
    0.1
    """
    if _is_density(true) or _is_density(estimate):
        return float(continuous.information_loss(true, estimate))
    return total_variation(true, estimate)


def total_variation(p: ArrayLike, q: ArrayLike) -> float:
    """The largest difference of probability over all events: half the sum of |p - q|.

    >>> total_variation([1, 0], [0, 1])
    1.0
    """
    a, b = _pair(p, q)
    return float(np.abs(a - b).sum() / 2)


def kolmogorov(p: ArrayLike, q: ArrayLike) -> float:
    """The largest difference between the two running sums, for ordered values.

    >>> kolmogorov([0.5, 0.5, 0], [0, 0.5, 0.5])
    0.5
    """
    a, b = _pair(p, q)
    return float(RUNNING["kolmogorov"](a, b))


def sample_distance(one: ArrayLike, two: ArrayLike) -> float:
    """The largest difference between the shares of two samples that lie below any number (Kolmogorov and Smirnov).

    >>> sample_distance([1, 2, 3, 4], [3, 4, 5, 6])
    0.5
    """
    a, b = (np.sort(np.asarray(sample, dtype=np.float64)) for sample in (one, two))
    at = np.concatenate([a, b])
    below = (np.searchsorted(sample, at, side="right") / len(sample) for sample in (a, b))
    return float(np.abs(np.subtract(*below)).max())


def kuiper(p: ArrayLike, q: ArrayLike) -> float:
    """The largest difference between the two running sums in each direction, added: it does not mind where one begins.

    >>> kuiper([0.5, 0, 0.5], [0.25, 0.5, 0.25])
    0.5
    """
    a, b = _pair(p, q)
    return float(RUNNING["kuiper"](a, b))


def anderson_darling(estimate: ArrayLike, true: ArrayLike) -> float:
    r"""The squared difference of the running sums, weighted so that the tails count.

        sum_j f_j (F^_j - F_j)² / (F_j (1 - F_j))

    F is the running sum of the true shares f. Anderson and Darling (1952), for ordered values.

    >>> round(anderson_darling([0.6, 0.4], [0.5, 0.5]), 9)
    0.02
    """
    a, b = _pair(estimate, true)
    return float(RUNNING["anderson_darling"](a, b))


def _anderson_darling(estimate: Array, true: Array) -> Array:
    level = np.cumsum(true)[:-1]
    inside = (level > 0) & (level < 1)
    weight = np.where(inside, true[:-1] / np.where(inside, level * (1 - level), 1.0), 0.0)
    return np.asarray(np.cumsum(estimate - true, axis=-1)[..., :-1] ** 2 @ weight)


def _kuiper(estimate: Array, true: Array) -> Array:
    gap = np.cumsum(estimate - true, axis=-1)
    return np.asarray(np.maximum(gap.max(axis=-1), 0) + np.maximum(-gap.min(axis=-1), 0))


#: Distances between running sums, for rows of estimated shares against the true ones.
RUNNING: dict[str, Callable[[Array, Array], Array]] = {
    "kolmogorov": lambda estimate, true: np.asarray(np.abs(np.cumsum(estimate - true, axis=-1)).max(axis=-1)),
    "kuiper": _kuiper,
    "anderson_darling": _anderson_darling,
}


def kl(p: ArrayLike, q: ArrayLike) -> float:
    """The Kullback-Leibler distance from p to q in bits; infinite where q rules out what p allows.

    >>> round(kl([0.5, 0.5], [0.25, 0.75]), 6)
    0.207519
    """
    a, b = _pair(p, q)
    return _kl(a, b)


def conditional_kl(p: ArrayLike, q: ArrayLike, weights: ArrayLike | None = None) -> float:
    r"""The distance between two conditional tables in bits: sum_j w_j KL(p(. | j) || q(. | j)).

    Rows are the configurations j of the parents, and ``weights`` their probabilities (default: equal). Ma (2006),
    section 5.4.

    >>> conditional_kl([[1, 0], [0.5, 0.5]], [[1, 0], [0.5, 0.5]])
    0.0
    """
    a, b = np.atleast_2d(np.asarray(p, dtype=np.float64)), np.atleast_2d(np.asarray(q, dtype=np.float64))
    if a.shape != b.shape or a.ndim != 2:
        raise SfumatoError(f"the two tables must have the same shape, got {a.shape} and {b.shape} instead")
    w = np.full(len(a), 1 / len(a)) if weights is None else _distribution(weights, "weights")
    if w.shape != (len(a),):
        raise SfumatoError(f"weights must have {len(a)} entries, one for each row, got {w.shape} instead")
    rows = [_kl(*_pair(one, two)) if weight > 0 else 0.0 for one, two, weight in zip(a, b, w, strict=True)]
    return float(sum(weight * row for weight, row in zip(w, rows, strict=True) if weight > 0))


def _kl(p: Array, q: Array) -> float:
    held = p > 0
    if (q[held] <= 0).any():
        return float("inf")
    return max(float(p[held] @ np.log2(p[held] / q[held])), 0.0)


def _pair(p: ArrayLike, q: ArrayLike) -> tuple[Array, Array]:
    a, b = _distribution(p, "the first"), _distribution(q, "the second")
    if a.shape != b.shape:
        raise SfumatoError(f"the two distributions must have the same length, got {a.size} and {b.size} instead")
    return a, b


def _distribution(values: ArrayLike, name: str) -> Array:
    out = check_numbers(SfumatoError, f"{name} distribution", values).reshape(-1)
    if not out.size or not np.isfinite(out).all() or (out < 0).any():
        raise SfumatoError(f"{name} distribution must hold probabilities, got {out[:5]} instead")
    if abs(out.sum() - 1) > _SUM:
        raise SfumatoError(f"{name} distribution must sum to 1, got {out.sum():.9g} instead")
    return out


def _is_density(of: Any) -> bool:
    return is_noise(of) or (hasattr(of, "edges") and hasattr(of, "mass"))
