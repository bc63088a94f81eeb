"""What a resampled release really discloses: linkage, closeness and dependence, also for outliers.

Read these beside DAPL, never DAPL alone: it measures how well a kernel estimate fits, not what can be learned of a
person (it is U-shaped in the bandwidth, rises with the number of sites and is near 1 in eight dimensions).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Array, Index
from sfumato.assess.distances import sample_distance
from sfumato.errors import EstimationError
from sfumato.membership import loneliest
from sfumato.owner.resample import Resampled
from sfumato.owner.resample.kernel import deviation
from sfumato.owner.resample.paper import Kernel
from sfumato.randomness import Rng, integers, permutation, source

#: Rows of each side that are compared pair by pair; more are sampled.
_MOST = 4000


@dataclass(frozen=True)
class Disclosure:
    """How released rows relate to the records behind them; distances in deviations of each column.

    ``linked`` is the share of released rows whose nearest record is the one they came from (blind: ``chance``), the
    same for outliers beside it. ``closest`` is the median distance of a released row to its closest record, ``usual``
    that of a record to the closest other one. ``ratio`` is the median of nearest to second-nearest distance: near 0 a
    row points at one record. ``ind`` is a lower bound on the dependence of a row on its centre. Rows that were drawn
    from a model have no record behind them: ``linked``, ``linked_outliers`` and ``ind`` are NaN.
    """

    linked: float
    linked_outliers: float
    chance: float
    closest: float
    usual: float
    ratio: float
    ind: float


def disclosure(
    X: ArrayLike, released: Resampled | Array, own: ArrayLike | None = None, *, rng: Rng = None
) -> Disclosure:
    """Measure a release at its owner, who alone knows the record behind each row (``own``, or the result's centres).

    >>> rows = np.random.default_rng(0).normal(size=(200, 2))
    >>> disclosure(rows, rows + 1e-6, np.arange(200)).linked
    1.0
    """
    data = np.asarray(X, dtype=np.float64)
    rows = released.X if isinstance(released, Resampled) else np.asarray(released, dtype=np.float64)
    if own is None and not isinstance(released, Resampled):
        raise EstimationError("own must name the record behind each released row, or give the result of resample")
    if own is None and isinstance(released, Resampled):
        own = released.centres
    centre = None if own is None else np.asarray(own, dtype=np.int64)
    if rows.shape[1:] != data.shape[1:] or (centre is not None and len(centre) != len(rows)):
        shape = None if centre is None else centre.shape
        raise EstimationError(f"records, rows and own do not fit: {data.shape}, {rows.shape}, {shape}")
    src = source(rng)
    if len(rows) > _MOST:
        some = permutation(src, len(rows))[:_MOST]
        rows, centre = rows[some], None if centre is None else centre[some]
    sd = deviation(data)
    unit = np.where(sd > 0, sd, 1.0)
    near, place = _nearest(data / unit, rows / unit, 2)
    usual = _nearest(data / unit, (data / unit)[:_MOST], 2)[0][:, 1]
    linked = linked_outliers = dependence = float("nan")
    if centre is not None:
        right = _same(data, place[:, 0], centre)
        lonely = loneliest(data, np.zeros(len(data), dtype=np.int64))[centre]
        linked, dependence = float(right.mean()), ind(data, rows, centre, rng=src)
        linked_outliers = float(right[lonely].mean()) if lonely.any() else float("nan")
    return Disclosure(
        linked=linked,
        linked_outliers=linked_outliers,
        chance=1 / len(data),
        closest=float(np.median(near[:, 0])),
        usual=float(np.median(usual)),
        ratio=float(np.median(near[:, 0] / np.maximum(near[:, 1], 1e-300))),
        ind=dependence,
    )


def ind(X: ArrayLike, released: ArrayLike, own: ArrayLike, confidence: float = 0.999, *, rng: Rng = None) -> float:
    r"""A lower bound on the dependence between a released row and its centre (the paper's eq. 14, in total variation).

        IND = 1/2 int |f(x, y) - f(x) f(y)|  >=  KS(distance to the own centre, distance to another record) - slack

    0 would be independence, as the paper's asymptotics promise; the slack is that of Dvoretzky, Kiefer and Wolfowitz.
    """
    data, rows, centre = np.asarray(X, dtype=np.float64), np.asarray(released, dtype=np.float64), np.asarray(own)
    sd = deviation(data)
    unit = np.where(sd > 0, sd, 1.0)
    other = integers(source(rng), len(data), len(rows))
    mine = np.sqrt((((rows - data[centre]) / unit) ** 2).sum(axis=1))
    theirs = np.sqrt((((rows - data[other]) / unit) ** 2).sum(axis=1))
    return max(sample_distance(mine, theirs) - 2 * _slack(len(rows), (1 - confidence) / 2), 0.0)


def dapl_scores(
    train: ArrayLike, holdout: ArrayLike, confidence: float = 0.999, draws: int = 4000, *, rng: Rng = None
) -> float:
    """A sound lower bound on DAPL from data: how far draws from the kernel estimate score from fresh records.

    No event tells two distributions apart by more than half their l1 distance; the events here are "the kernel
    density is at most t", t chosen freely, so the Kolmogorov-Smirnov distance less its slack is a bound.
    """
    X, fresh = np.asarray(train, dtype=np.float64), np.asarray(holdout, dtype=np.float64)
    if X.ndim != 2 or fresh.ndim != 2 or X.shape[1] != fresh.shape[1] or len(X) < 2 or not len(fresh):
        raise EstimationError(f"train and holdout must be tables of the same columns, got {X.shape}, {fresh.shape}")
    kernel = Kernel.fit(X)
    src = source(rng)
    sampled = kernel.around(X, integers(src, len(X), draws), src)
    level = 1 - confidence
    gap = sample_distance(_score(kernel, X, sampled), _score(kernel, X, fresh))
    return max(gap - _slack(draws, level / 2) - _slack(len(fresh), level / 2), 0.0)


def _nearest(X: Array, Q: Array, k: int) -> tuple[Array, Index]:
    from scipy.spatial import cKDTree

    distance, place = cKDTree(X).query(Q, k=k)
    return np.asarray(distance), np.asarray(place)


def _same(X: Array, a: Index, b: Index) -> NDArray[np.bool_]:
    """The same record, or a copy of it."""
    return np.asarray((a == b) | (X[a] == X[b]).all(axis=1))


def _score(kernel: Kernel, X: Array, Q: Array) -> Array:
    """The kernel density at each row, up to a constant."""
    varying = np.flatnonzero(kernel.bandwidth > 0)
    out = np.empty(len(Q))
    for i, row in enumerate(Q[:, varying]):
        u = (X[:, varying] - row) / kernel.bandwidth[varying]
        out[i] = np.maximum(1 - u**2, 0).prod(axis=1).sum()
    return out


def _slack(n: int, level: float) -> float:
    return float(np.sqrt(np.log(2 / level) / (2 * n)))
