"""Attacks on distance-preserving releases: known records, and a sample of the same population (Tan and Ng 2007, 4).

The released table is Y = X R + t, R a rotation (as many columns) or a projection (fewer).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array
from sfumato.assess.attacks.recovery import Recovery, rms, table
from sfumato.assess.distances import sample_distance
from sfumato.errors import SfumatoError
from sfumato.input_checks import check_flags, check_numbers


def procrustes(
    released: ArrayLike,
    known: ArrayLike,
    rows: ArrayLike,
    truth: ArrayLike | None = None,
    *,
    shift: bool = False,
) -> Recovery:
    r"""Undo a rotation from a few records whose true values and released rows are both known.

        R = argmin over orthogonal R of |X_known R - Y_known|  =  U Vᵀ,    U S Vᵀ = X_knownᵀ Y_known

    d known records recover every other record exactly (d + 1 where the release is also shifted). A projection to fewer
    columns is undone as far as least squares through the known records goes.
    """
    Y, X = table(released, "released"), table(known, "known")
    check_flags(SfumatoError, shift=shift)
    place = check_numbers(SfumatoError, "rows", rows).reshape(-1).astype(np.int64)
    if len(place) != len(X) or not len(place) or place.min() < 0 or place.max() >= len(Y):
        raise SfumatoError(f"rows must name the released row of each of the {len(X)} known records, got {place[:5]}")
    seen = Y[place]
    at, to = (X.mean(axis=0), seen.mean(axis=0)) if shift else (np.zeros(X.shape[1]), np.zeros(Y.shape[1]))
    if Y.shape[1] == X.shape[1]:
        U, _, Vt = np.linalg.svd((X - at).T @ (seen - to))
        recovered = (Y - to) @ (U @ Vt).T + at
    else:
        back = np.linalg.lstsq(seen - to, X - at, rcond=None)[0]
        recovered = (Y - to) @ back + at
    return _done("procrustes", recovered, truth, place, {"known": len(X)})


def rotation_pca(released: ArrayLike, sample: ArrayLike, truth: ArrayLike | None = None) -> Recovery:
    """Undo a rotation from a sample of the same population: match principal axes, then signs by the scores' shapes.

    No record need be known (Liu, Giannella, Kargupta 2006). It fails where axes have equal variance or scores are
    symmetric, as normal data rotated by chance are. On a projection the leading axes are matched; what it dropped stays
    lost.
    """
    Y, S = table(released, "released"), table(sample, "sample")
    if Y.shape[1] > S.shape[1]:
        raise SfumatoError(f"the sample must have at least {Y.shape[1]} columns, got {S.shape[1]} instead")
    if min(len(Y), len(S)) < 3:
        raise SfumatoError(f"both tables need at least 3 rows, got {len(Y)} and {len(S)} instead")
    mine, theirs = _axes(S)[:, : Y.shape[1]], _axes(Y)
    scores, wanted = (Y - Y.mean(axis=0)) @ theirs, (S - S.mean(axis=0)) @ mine
    signs = np.array([_sign(scores[:, j], wanted[:, j]) for j in range(Y.shape[1])])
    recovered = (scores * signs) @ mine.T + S.mean(axis=0)
    return _done("rotation_pca", recovered, truth, np.zeros(0, dtype=np.int64), {"sample": len(S)})


def _axes(X: Array) -> Array:
    return np.asarray(np.linalg.eigh(np.atleast_2d(np.cov(X.T)))[1][:, ::-1])


def _sign(scores: Array, wanted: Array) -> float:
    """Which orientation makes the two samples look more alike (the smaller Kolmogorov-Smirnov distance)."""
    return 1.0 if sample_distance(scores, wanted) <= sample_distance(-scores, wanted) else -1.0


def _done(attack: str, recovered: Array, truth: ArrayLike | None, known: Any, details: dict[str, Any]) -> Recovery:
    if truth is None:
        return Recovery(attack, recovered, None, None, None, details)
    X = table(truth, "truth", recovered)
    others = np.setdiff1d(np.arange(len(X)), known)
    others = others if len(others) else np.arange(len(X))
    nothing = rms(X[others] - X.mean(axis=0))
    return Recovery(attack, recovered, rms(recovered[others] - X[others]), nothing, None, details)
