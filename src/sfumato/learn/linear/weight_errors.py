"""The errors of the weights of a linear classifier: from records left out in turn, and from unbiased counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.errors import without_warnings
from sfumato.evidence import Evidence
from sfumato.evidence.seen import Seen
from sfumato.evidence.splits import leave_out
from sfumato.learn.arguments import check_number
from sfumato.learn.linear.told_by_pairs import PairScores
from sfumato.learn.linear.told_errors import LEAST_KEPT, LogisticCells, listed_records, records, told_sum
from sfumato.learn.weighted_cells import WeightedCells, weighted_cells

#: What standard errors of weights that a penalty draws to 0 leave open.
DRAWN = "of noise and of a part of what the penalty draws weights to 0 by: weights may be larger still"
#: What those leave open that unbiased counts have no say in.
UNASKED = (
    "of noise and of a part of what the penalty draws weights to 0 by: they tell too little where features are alike "
    "or values rare, and loss logistic has errors that hold more"
)
#: What those of the weights of a search leave open.
SEARCHED = "of noise alone: other weights may be right as often, and loss logistic has errors that hold more"
#: Where unbiased counts of the features are not told together.
UNCOUNTED = (
    "of noise and of a part of what the penalty draws weights to 0 by: they tell too little where features are alike "
    "or values rare, since no records answered all of them"
)
#: Of Newton's method, towards the weights that unbiased counts ask for.
_STEPS = 2


def standard_errors(model: Any, source: Evidence, groups: int, progress: Callable[[int], None] | None) -> Array:
    """See ``LinearClassifier.standard_errors``."""
    check_number("groups", groups, least=2)
    model._check_fitted()
    told = told_by_counts(model, source) if model.loss_ == "logistic" else None
    model.counted_ = told is not None
    if told is not None and model.only_class is not None:
        return np.asarray(np.hypot(told[1], told[0]))
    noise = jackknife(model, source, groups, progress)
    return noise if told is None else np.asarray(np.hypot(np.maximum(noise, told[1]), told[0]))


def told_by_counts(model: Any, source: Evidence) -> tuple[Array, Array] | None:
    """How far unbiased counts show the weights to be off, and the noise of that; None where they do not tell."""
    names = [*model.features_, model.target_]
    kept = np.flatnonzero(model.told_ & (model.scale_ > 0))
    with without_warnings():  # they were given when these cells were fitted to
        cells = weighted_cells(source, model.features_, model.target_, model.counts)
    parts = listed_records(source, names)
    told = by_pairs if parts is None else by_cells
    parts = records(source, names) if parts is None else parts
    return None if parts is None else told(model, cells, kept, parts)


def by_cells(model: Any, cells: WeightedCells, kept: NDArray[np.int64], parts: Sequence[Seen]) -> tuple[Array, Array]:
    """From all combinations of values of the features, one by one."""
    sizes = model.schema_.sizes(model.features_)
    weights = np.zeros(prod(sizes))
    np.add.at(weights, np.ravel_multi_index(tuple(cells.codes.T), sizes), cells.weights)
    codes = list(np.indices(sizes).reshape(len(sizes), -1))
    X, _, penalty = _features(model, codes, weights, kept)
    held = LogisticCells(X, model._matrix(codes) @ model.coef_.T, weights, penalty)
    off, noise = np.zeros_like(model.weights_), np.zeros_like(model.weights_)
    for at, i in enumerate(kept):
        for j, contrast in enumerate(model._contrasts):
            moved = held.moved(at, contrast, model.weights_[i, j])
            off[i, j], noise[i, j] = told_sum(parts, moved.reshape(-1))
    return off, noise


def by_pairs(model: Any, cells: WeightedCells, kept: NDArray[np.int64], parts: Sequence[Seen]) -> tuple[Array, Array]:
    """From pairs of attributes, where the combinations of all are too many to list.

    Far from the weights that unbiased counts ask for, one step of Newton's method is too short. All but the last go as
    far as they are clear of noise (James and Stein), or noise alone would lead away from where curves are steep.
    """
    X, mean, penalty = _features(model, list(cells.codes.T), cells.weights, kept)
    scores, n = model._matrix(list(cells.codes.T)) @ model.coef_.T, float(cells.weights.sum())
    tables = _tables(model, kept, mean)
    moved, step, clear = np.zeros((3, scores.shape[1], X.shape[1]))
    for _ in range(_STEPS):
        moved += clear
        held = LogisticCells(X, scores + X @ moved.T, cells.weights, penalty)
        total, covariance = PairScores.about(model.target_, tables, held.linear_shares()).sums(parts)
        step, noise_share = held.step(total[: moved.size], covariance[: moved.size, : moved.size])
        clear = step * np.sqrt(max(1 - noise_share, 0.0))
    moved += step
    off, noise = np.zeros_like(model.weights_), np.zeros_like(model.weights_)
    squares = total[moved.size :]
    for at, i in enumerate(kept):
        for j, contrast in enumerate(model._contrasts):
            weight = model.weights_[i, j]
            pull = np.append(held.pull(at, contrast), weight / (2 * n) * (np.arange(len(kept)) == at))
            off[i, j] = contrast @ moved[:, at] + weight / 2 * (squares[at] / n - 1)
            noise[i, j] = np.sqrt(max(float(pull @ covariance @ pull), 0.0))
    return off, noise


def _tables(model: Any, kept: NDArray[np.int64], mean: Array) -> dict[str, Array]:
    """What the codes of each attribute are worth in the features that are kept, about their means and to scale."""
    tables, place, first = {}, 0, 0
    for at, name in enumerate(model.encoding_.names):
        own = model.encoding_.table(at)
        columns = kept[(kept >= first) & (kept < first + own.shape[1])]
        tables[name] = (own[:, columns - first] - mean[place : place + len(columns)]) / model.scale_[columns]
        place, first = place + len(columns), first + own.shape[1]
    return tables


def _features(model: Any, codes: list[Any], weights: Array, kept: NDArray[np.int64]) -> tuple[Array, Array, Array]:
    """In standard deviations about their means, a constant last; the means; and what is added to their information."""
    X = model._matrix(codes)
    mean = np.average(X[:, kept], axis=0, weights=weights)
    scaled = np.column_stack([(X[:, kept] - mean) / model.scale_[kept], X[:, -1]])
    return scaled, mean, np.append(model.scale_[kept] ** -2.0 / model.C, 0.0)


def jackknife(model: Any, source: Evidence, groups: int, progress: Callable[[int], None] | None) -> Array:
    """The noise, and what a penalty is seen to draw weights to 0 by."""
    found = []
    for kept in leave_out(source, groups):
        with without_warnings():  # about nine tenths of the records: those about all of them were given before
            refit = type(model)(**model.get_params())
            refit._like = model
            refit.fit(kept, target=model.target_)
        refit.told_classes_, refit.held_ = model.told_classes_, model.held_  # compared with the same mean
        found.append(refit.weights_)
        if progress is not None:
            progress(1)
    noise = np.sqrt((groups - 1) * np.var(found, axis=0))
    if model.scale_free:
        return np.asarray(noise)
    parts, whole = np.mean(found, axis=0)[:, model.told_columns], model.weights_[:, model.told_columns]
    drawn = groups * (np.mean(found, axis=0) - model.weights_)
    return np.asarray(np.hypot(noise, drawn)) / _kept(parts, whole, 1 - 1 / groups)


def _kept(parts: Array, whole: Array, share: float) -> float:
    """What part of the weights a penalty leaves, from those of a share of the records, on average, and of all.

    With the information J of all records a penalty W leaves s = J / (J + W) of a weight; with that of a share c of
    them, c J / (c J + W). The ratio r of the two tells s = (r - c) / (r (1 - c)).
    """
    size = float((whole**2).sum())
    ratio = max(float((parts * whole).sum()) / size, share) if size else 1.0
    return float(np.clip((ratio - share) / (ratio * (1 - share)), LEAST_KEPT, 1.0))
