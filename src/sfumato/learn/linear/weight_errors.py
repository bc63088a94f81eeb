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
from sfumato.evidence.kinds import tells_records
from sfumato.evidence.seen import Seen
from sfumato.evidence.splits import leave_out
from sfumato.learn.arguments import check_number
from sfumato.learn.base import OneClassError
from sfumato.learn.linear.asked_weights import FittedCells
from sfumato.learn.linear.told_by_pairs import PairScores
from sfumato.learn.linear.told_errors import LEAST_KEPT, listed_records, records, told_sum
from sfumato.learn.weighted_cells import WeightedCells, weighted_cells

#: What standard errors of weights that a penalty draws to 0 leave open.
DRAWN = "of noise and of a part of what the penalty draws weights to 0 by: weights may be larger still"
#: What those leave open that unbiased counts have no say in.
UNASKED = (
    "of noise and of a part of what the penalty draws weights to 0 by: they tell too little where features are alike "
    "or values rare, and loss logistic has errors that hold more"
)
#: Why weights under hinge have none where answers were randomized.
UNTOLD = (
    "open under loss hinge: the joint model behind the weights hides more of them than parts of the records show, and "
    "loss logistic has errors that hold"
)
#: What those of the weights of a search leave open.
SEARCHED = "of noise alone: other weights may be right as often, and loss logistic has errors that hold more"
#: Where unbiased counts of the features are not told together.
UNCOUNTED = (
    "of noise and of a part of what the penalty draws weights to 0 by: they tell too little where features are alike "
    "or values rare, since no records answered all of them"
)
#: Log odds beyond which every record's class would be certain: an error of so much tells no more than any larger one.
_SURE = 30.0


def standard_errors(model: Any, source: Evidence, groups: int, progress: Callable[[int], None] | None) -> Array:
    """See ``LinearClassifier.standard_errors``."""
    check_number("groups", groups, least=2)
    model._check_fitted()
    model.told_by_ = told_by(source, model.loss_, [*model.features_, model.target_])
    found = _errors(model, source, groups, progress)
    return np.where(found < _SURE, found, np.inf)


def told_by(source: Evidence, loss: str, names: Sequence[str]) -> str:
    """What the errors of weights from this evidence hold, and what they leave open."""
    if loss in ("pocket", "perceptron"):
        return SEARCHED
    if loss == "hinge" and not source.exact:
        return UNTOLD
    if loss != "logistic":
        return UNASKED
    return DRAWN if tells_records(source, names) else UNCOUNTED


def _errors(model: Any, source: Evidence, groups: int, progress: Callable[[int], None] | None) -> Array:
    if model.loss_ == "hinge" and not source.exact:
        return np.full_like(model.weights_, np.inf)
    told = told_by_counts(model, source) if model.loss_ == "logistic" else None
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
    fitted, tables = _fitted(model, codes, weights, kept)
    asked = fitted.asked(lambda shares: _scores(model, tables, shares, parts))
    off, noise = np.zeros_like(model.weights_), np.zeros_like(model.weights_)
    for moved in asked:  # the noise is the larger of the two
        held = fitted.at(moved)
        for at, i in enumerate(kept):
            for j, contrast in enumerate(model._contrasts):
                weight = model.weights_[i, j]
                left, error = told_sum(parts, held.moved(at, contrast, weight).reshape(-1))
                noise[i, j] = max(noise[i, j], error)
                if moved is asked.clear:
                    off[i, j] = left + contrast @ moved[:, at]
    return off, noise


def by_pairs(model: Any, cells: WeightedCells, kept: NDArray[np.int64], parts: Sequence[Seen]) -> tuple[Array, Array]:
    """From pairs of attributes, where the combinations of all are too many to list."""
    n = float(cells.weights.sum())
    fitted, tables = _fitted(model, list(cells.codes.T), cells.weights, kept)
    asked = fitted.asked(lambda shares: _scores(model, tables, shares, parts))
    off, noise = np.zeros_like(model.weights_), np.zeros_like(model.weights_)
    for moved in asked:
        held = fitted.at(moved)
        total, covariance = PairScores.about(model.target_, tables, held.linear_shares()).sums(parts)
        step, squares = held.towards(total[: moved.size]), total[moved.size :]
        for at, i in enumerate(kept):
            for j, contrast in enumerate(model._contrasts):
                weight = model.weights_[i, j]
                pull = np.append(held.pull(at, contrast), weight / (2 * n) * (np.arange(len(kept)) == at))
                noise[i, j] = max(noise[i, j], float(np.sqrt(max(float(pull @ covariance @ pull), 0.0))))
                if moved is asked.clear:
                    off[i, j] = contrast @ (moved + step)[:, at] + weight / 2 * (squares[at] / n - 1)
    return off, noise


def _scores(model: Any, tables: dict[str, Array], shares: Array, parts: Sequence[Seen]) -> tuple[Array, Array]:
    """What unbiased counts say of linear shares, class by class, and its covariance."""
    total, covariance = PairScores.about(model.target_, tables, shares).sums(parts)
    return total[: shares.size], covariance[: shares.size, : shares.size]


def _tables(model: Any, kept: NDArray[np.int64], mean: Array) -> dict[str, Array]:
    """What the codes of each attribute are worth in the features that are kept, about their means and to scale."""
    tables, place, first = {}, 0, 0
    for at, name in enumerate(model.encoding_.names):
        own = model.encoding_.table(at)
        columns = kept[(kept >= first) & (kept < first + own.shape[1])]
        tables[name] = (own[:, columns - first] - mean[place : place + len(columns)]) / model.scale_[columns]
        place, first = place + len(columns), first + own.shape[1]
    return tables


def _fitted(
    model: Any, codes: list[Any], weights: Array, kept: NDArray[np.int64]
) -> tuple[FittedCells, dict[str, Array]]:
    """Cells with features in standard deviations about their means, a constant last; and what each code is worth."""
    X = model._matrix(codes)
    mean, scale = np.average(X[:, kept], axis=0, weights=weights), model.scale_[kept]
    scaled = np.column_stack([(X[:, kept] - mean) / scale, X[:, -1]])
    slopes = np.append(model.coef_[:, kept] * scale, np.zeros((len(model.coef_), 1)), axis=1)
    penalty = np.append(scale**-2.0 / model.C, 0.0)
    return FittedCells(scaled, X @ model.coef_.T, weights, slopes, penalty), _tables(model, kept, mean)


def jackknife(model: Any, source: Evidence, groups: int, progress: Callable[[int], None] | None) -> Array:
    """The noise, and what a penalty is seen to draw weights to 0 by."""
    found = []
    for kept in leave_out(source, groups):
        with without_warnings():  # about nine tenths of the records: those about all of them were given before
            refit = type(model)(**model.get_params())
            refit._like = model
            try:
                refit.fit(kept, target=model.target_)
            except OneClassError:  # without these few records there might be no weight at all
                return np.full_like(model.weights_, np.inf)
        refit.told_classes_, refit.held_ = model.told_classes_, model.held_  # compared with the same mean
        found.append(refit.weights_)
        if progress is not None:
            progress(1)
    if model._undone is not None:
        unridged = model._undone @ np.array(found)
        return np.asarray(np.hypot(np.sqrt((groups - 1) * np.var(unridged, axis=0)), _ridged(model)))
    noise = np.sqrt((groups - 1) * np.var(found, axis=0))
    if model.scale_free:
        return np.asarray(noise)
    parts, whole = np.mean(found, axis=0)[:, model.told_columns], model.weights_[:, model.told_columns]
    drawn = groups * (np.mean(found, axis=0) - model.weights_)
    return np.asarray(np.hypot(noise, drawn)) / _kept(parts, whole, 1 - 1 / groups)


def _ridged(model: Any) -> Array:
    """How far the ridge draws weights by moments."""
    return np.asarray(model._undone @ model.weights_ - model.weights_)


def _kept(parts: Array, whole: Array, share: float) -> float:
    """What part of the weights a penalty leaves, from those of a share of the records, on average, and of all.

    With the information J of all records a penalty W leaves s = J / (J + W) of a weight; with that of a share c of
    them, c J / (c J + W). The ratio r of the two tells s = (r - c) / (r (1 - c)).
    """
    size = float((whole**2).sum())
    ratio = max(float((parts * whole).sum()) / size, share) if size else 1.0
    return float(np.clip((ratio - share) / (ratio * (1 - share)), LEAST_KEPT, 1.0))
