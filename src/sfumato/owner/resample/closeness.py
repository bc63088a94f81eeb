"""How close each record is to a release, in the metrics an attacker may try, and how well that tells members apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from sfumato.owner.resample.blend import Setting, fit, squared
from sfumato.owner.resample.cells import covariance
from sfumato.owner.resample.intake import Labels
from sfumato.owner.resample.kernel import Array, deviation, scott

#: Scores of the records from someone who knows how the release was made: (released, labels, records, labels).
Insider = Callable[[Array, Labels, Array, Labels], Mapping[str, Array]]


def closeness(R: Array, r: Labels, Q: Array, q: Labels, insider: Insider | None = None) -> dict[str, Array]:
    """Score the records Q against the released rows R of their own class: higher is closer.

    Nearest row under the Euclidean, standardised, Chebyshev and Mahalanobis metrics, the mean of the five nearest, the
    ratio of a narrow to a wide density estimate, and what an insider adds.
    """
    scores: dict[str, Array] = {name: np.full(len(Q), -np.inf) for name in METRICS}
    for label in np.unique(q):
        rows, near = np.flatnonzero(q == label), R[r == label]
        if len(near) >= 2:
            for name, score in _one_class(near, Q[rows]).items():
                scores[name][rows] = score
    if insider is not None:
        scores.update({name: np.asarray(score) for name, score in insider(R, r, Q, q).items()})
    return scores


METRICS = ("euclidean", "standardised", "chebyshev", "mahalanobis", "five nearest", "density ratio")


def _one_class(R: Array, Q: Array) -> dict[str, Array]:
    from scipy.spatial.distance import cdist
    from scipy.special import logsumexp

    n, d = R.shape
    sd = deviation(R)
    unit = np.where(sd > 0, sd, 1.0)
    gaps = np.sqrt(squared(Q / unit, R / unit))
    whiten = np.linalg.inv(np.linalg.cholesky(covariance(R / unit) + 1e-9 * np.eye(d)))
    five = min(5, n)
    h = scott(n, d)
    narrow = logsumexp(-(gaps**2) / (2 * (h / 2) ** 2), axis=1) - d * np.log(h / 2)
    wide = logsumexp(-(gaps**2) / (2 * (2 * h) ** 2), axis=1) - d * np.log(2 * h)
    return {
        "euclidean": -np.sqrt(squared(Q, R).min(axis=1)),
        "standardised": -gaps.min(axis=1),
        "chebyshev": -cdist(Q / unit, R / unit, "chebyshev").min(axis=1),
        "mahalanobis": -np.sqrt(squared(Q / unit @ whiten.T, R / unit @ whiten.T).min(axis=1)),
        "five nearest": -np.partition(gaps, five - 1, axis=1)[:, :five].mean(axis=1),
        "density ratio": narrow - wide,
    }


def source_score(given: Array, background: Array) -> Array:
    """The log-likelihood ratio of "this record is among the n sources" from log densities.

        sum_j log(1 + (p(y_j | x) / p(y_j) - 1) / n)

    where ``given`` is log p(y_j | record), for each record and released row, and ``background`` log p(y_j).
    """
    return np.asarray(np.log1p(np.expm1(np.clip(given - background, -50, 50)) / given.shape[1]).sum(axis=1))


def without_own(among: Array) -> Array:
    """log p(y_j) with the released rows as stand-ins for their unknown sources, each row's own left out."""
    from scipy.special import logsumexp

    among = among.copy()
    np.fill_diagonal(among, -np.inf)
    return np.asarray(logsumexp(among, axis=0) - np.log(max(len(among) - 1, 1)))


def blend_insider(setting: Setting) -> Insider:
    """Someone who knows the recommended method and its setting: fits it to the release and asks for each record
    whether it explains released rows, and how deep in the model it lies."""
    plain = replace(setting, margins=False)

    def score(R: Array, r: Labels, Q: Array, q: Labels) -> dict[str, Array]:
        labels = [label for label in np.unique(r) if (r == label).sum() >= 2]
        source, depth = np.full(len(Q), -np.inf), np.full(len(Q), -np.inf)
        for label, model in zip(labels, fit([R[r == label] for label in labels], plain), strict=True):
            rows = np.flatnonzero(q == label)
            Z = model.white(Q[rows])
            own = model.cell(Z)
            among = model.density(model.Z, model.own, model.mix, model.Z)
            source[rows] = source_score(model.density(Z, own, model.mixing(Z, own), model.Z), without_own(among))
            depth[rows] = model.depth(Z).max(axis=1)
        return {"knows the method": source, "knows the model": depth}

    return _undoing(score, setting) if setting.margins else score


def _undoing(score: Insider, setting: Setting) -> Insider:
    """The same by someone who knows of the margins too: fits them to the release, and undoes them there and in the
    records."""

    def both(R: Array, r: Labels, Q: Array, q: Labels) -> dict[str, Array]:
        labels = [label for label in np.unique(r) if (r == label).sum() >= 2]
        released, records = R.copy(), Q.copy()
        for label, model in zip(labels, fit([R[r == label] for label in labels], setting), strict=True):
            if model.margins is not None:
                released[r == label] = model.margins.undo(R[r == label])
                records[q == label] = model.margins.undo(Q[q == label])
        undone = {f"{name}, margins undone": found for name, found in score(released, r, records, q).items()}
        return {**score(R, r, Q, q), **undone}

    return both


def kernel_insider(multiplier: float = 1.0, shrink: bool = False) -> Insider:
    """Someone who knows the paper's method: asks which records could have been the centre of released rows."""

    def density(near: Array, R: Array) -> Array:
        n, d = R.shape
        ratio = multiplier * scott(n, d)
        widened = np.sqrt(1 + ratio**2 / 5)
        sd = deviation(R, ddof=1) / (1.0 if shrink else widened)
        scale = 1 / widened if shrink else 1.0
        middle = R.mean(axis=0)
        start = middle + (near - middle) * scale
        out = np.zeros((len(near), n))
        for i in np.flatnonzero(sd > 0):
            h = ratio * sd[i] * scale
            u = (R[None, :, i] - start[:, None, i]) / h
            out += np.log(np.maximum(0.75 * (1 - u**2), 1e-9) / h)
        return out

    return _insider(density)


def noise_insider(level: float) -> Insider:
    """Someone who knows that normal noise of this many deviations was added to each column."""

    def density(near: Array, R: Array) -> Array:
        sd = deviation(R, ddof=1) * level / np.sqrt(1 + level**2)
        unit = sd[sd > 0] * np.sqrt(2)
        size = float(np.log(unit * np.sqrt(np.pi)).sum())
        return np.asarray(-squared(near[:, sd > 0] / unit, R[:, sd > 0] / unit) - size)

    return _insider(density)


def _insider(density: Callable[[Array, Array], Array]) -> Insider:
    def score(R: Array, r: Labels, Q: Array, q: Labels) -> dict[str, Array]:
        out = np.full(len(Q), -np.inf)
        for label in np.unique(q):
            rows, near = np.flatnonzero(q == label), R[r == label]
            if len(near) >= 2:
                out[rows] = source_score(density(Q[rows], near), _smooth(near))
        return {"knows the method": out}

    return score


def _smooth(R: Array) -> Array:
    """log p(y_j) by a normal kernel over the other released rows."""
    sd = deviation(R, ddof=1)
    unit = sd[sd > 0] * scott(*R.shape) * np.sqrt(2)
    return without_own(-squared(R[:, sd > 0] / unit, R[:, sd > 0] / unit) - np.log(unit * np.sqrt(np.pi)).sum())


def auc(inside: Array, outside: Array) -> float:
    """The chance that a member scores above a stranger, ties counting one half; 1/2 where one side is empty.

    >>> auc(np.array([2.0, 1.0]), np.array([0.0, 1.0]))
    0.875
    """
    if not len(inside) or not len(outside):
        return 0.5
    ordered = np.sort(outside)
    below = np.searchsorted(ordered, inside, side="left")
    upto = np.searchsorted(ordered, inside, side="right")
    return float((below + upto).mean() / 2 / len(outside))
