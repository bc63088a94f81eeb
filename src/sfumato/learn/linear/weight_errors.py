"""The errors of the weights of a linear classifier: from records left out in turn, and from unbiased counts."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.errors import without_warnings
from sfumato.evidence import Evidence
from sfumato.evidence.splits import leave_out
from sfumato.learn.arguments import check_number
from sfumato.learn.linear.told_errors import LEAST_KEPT, LogisticCells, records_of, told_sum
from sfumato.learn.weighted_cells import weighted_cells


def standard_errors(model: Any, source: Evidence, groups: int, progress: Callable[[int], None] | None) -> Array:
    """See ``LinearClassifier.standard_errors``."""
    noise = jackknife(model, source, groups, progress)
    told = told_by_counts(model, source) if model.loss_ == "logistic" else None
    return noise if told is None else np.asarray(np.hypot(np.maximum(noise, told[1]), told[0]))


def told_by_counts(model: Any, source: Evidence) -> tuple[Array, Array] | None:
    """How far unbiased counts show the weights to be off, and the noise of that; None where they do not tell."""
    parts = records_of(source, [*model.features_, model.target_])
    if parts is None:
        return None
    sizes, kept = model.schema_.sizes(model.features_), np.flatnonzero(model.told_ & (model.scale_ > 0))
    with without_warnings():  # they were given when these cells were fitted to
        cells = weighted_cells(source, model.features_, model.target_, model.counts)
    weights = np.zeros(prod(sizes))
    np.add.at(weights, np.ravel_multi_index(tuple(cells.codes.T), sizes), cells.weights)
    X = model._matrix(list(np.indices(sizes).reshape(len(sizes), -1)))
    features = X[:, kept] - np.average(X[:, kept], axis=0, weights=weights)
    scaled = np.column_stack([features / model.scale_[kept], X[:, -1]])
    held = LogisticCells(scaled, X @ model.coef_.T, weights, np.append(model.scale_[kept] ** -2.0 / model.C, 0.0))
    off, noise = np.zeros_like(model.weights_), np.zeros_like(model.weights_)
    for at, i in enumerate(kept):
        for j, contrast in enumerate(model._contrasts):
            moved = held.moved(at, contrast, model.weights_[i, j])
            off[i, j], noise[i, j] = told_sum(parts, moved.reshape(-1))
    return off, noise


def jackknife(model: Any, source: Evidence, groups: int, progress: Callable[[int], None] | None) -> Array:
    """The noise, and what a penalty is seen to draw weights to 0 by."""
    check_number("groups", groups, least=2)
    model._check_fitted()
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
