"""The attack on rows that were drawn around records: which record did each come from?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array
from sfumato.assess.attacks.recovery import Recovery, table
from sfumato.errors import SfumatoError
from sfumato.input_checks import check_flags, check_numbers
from sfumato.owner.resample.kernel import deviation


def linkage(original: ArrayLike, released: ArrayLike, own: ArrayLike, *, scale: bool = True) -> Recovery:
    """Link every released row to its nearest original one; right when that is the record it was drawn from.

    ``own`` names the original row behind each released one. Columns are brought to unit deviation unless told not to.
    The details hold the distance to the closest record, as quantiles.
    """
    check_flags(SfumatoError, scale=scale)
    X, Y = _scaled(table(original, "original"), table(released, "released"), scale=scale)
    source = check_numbers(SfumatoError, "own", own).reshape(-1).astype(np.int64)
    if len(source) != len(Y) or not len(source) or source.min() < 0 or source.max() >= len(X):
        raise SfumatoError(f"own must name an original row for each of the {len(Y)} released ones, got {source[:5]}")
    distance, nearest = _nearest(X, Y)
    quantiles = dict(zip(("5%", "50%", "95%"), np.quantile(distance, (0.05, 0.5, 0.95)).tolist(), strict=True))
    error = float((nearest != source).mean())
    return Recovery("linkage", nearest, error, 1 - 1 / len(X), None, {"closest_record": quantiles, "linked": 1 - error})


def _nearest(X: Array, Y: Array) -> tuple[Array, np.ndarray[tuple[int, ...], np.dtype[np.int64]]]:
    """For each row of Y the distance to, and the place of, the nearest row of X."""
    from scipy.spatial import cKDTree

    distance, place = cKDTree(X).query(Y)
    return np.asarray(distance, dtype=np.float64), np.asarray(place, dtype=np.int64)


def _scaled(first: Array, *others: Array, scale: bool) -> tuple[Array, ...]:
    for other in others:
        if other.shape[1] != first.shape[1]:
            raise SfumatoError(f"the tables must have the same columns, got {first.shape[1]} and {other.shape[1]}")
    if not scale:
        return (first, *others)
    sd = deviation(first)
    unit = np.where(sd > 0, sd, 1.0)
    return tuple(values / unit for values in (first, *others))
