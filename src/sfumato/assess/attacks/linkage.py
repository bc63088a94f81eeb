"""Attacks on resampled tables: which record a row came from, and whether a record was in the table at all."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sfumato.assess.attacks.recovery import Recovery, table
from sfumato.channels.linear import Array
from sfumato.errors import SfumatoError


def linkage(original: ArrayLike, released: ArrayLike, own: ArrayLike, *, scale: bool = True) -> Recovery:
    """Link every released row to its nearest original one; right when that is the record it was drawn from.

    ``own`` names the original row behind each released one. Columns are brought to unit deviation unless told not to.
    The details hold the distance to the closest record, as quantiles.
    """
    X, Y = _scaled(table(original, "original"), table(released, "released"), scale=scale)
    source = np.asarray(own, dtype=np.int64).reshape(-1)
    if len(source) != len(Y) or not len(source) or source.min() < 0 or source.max() >= len(X):
        raise SfumatoError(f"own must name an original row for each of the {len(Y)} released ones, got {source[:5]}")
    distance, nearest = _nearest(X, Y)
    quantiles = dict(zip(("5%", "50%", "95%"), np.quantile(distance, (0.05, 0.5, 0.95)).tolist(), strict=True))
    error = float((nearest != source).mean())
    return Recovery("linkage", nearest, error, 1 - 1 / len(X), None, {"closest_record": quantiles, "linked": 1 - error})


def membership(members: ArrayLike, strangers: ArrayLike, released: ArrayLike, *, scale: bool = True) -> Recovery:
    """Tell the records that were in the table from fresh ones, by their distance to the nearest released row.

    The error is 1 - AUC, the chance of ranking a stranger above a member: 1/2 is blind. The details hold the AUC and
    its standard error (Hanley and McNeil 1982).
    """
    known, fresh, Y = (
        table(v, name) for v, name in ((members, "members"), (strangers, "strangers"), (released, "released"))
    )
    Y, known, fresh = _scaled(Y, known, fresh, scale=scale)
    inside, outside = -_nearest(Y, known)[0], -_nearest(Y, fresh)[0]
    area = auc(inside, outside)
    m, n = len(inside), len(outside)
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    se = np.sqrt((area * (1 - area) + (m - 1) * (q1 - area**2) + (n - 1) * (q2 - area**2)) / (m * n))
    return Recovery("membership", inside, 1 - area, 0.5, None, {"auc": area, "se": float(se)})


def auc(inside: Array, outside: Array) -> float:
    """The chance that a member scores above a stranger, ties counting one half.

    >>> auc(np.array([2.0, 1.0]), np.array([0.0, 1.0]))
    0.875
    """
    ordered = np.sort(outside)
    below = np.searchsorted(ordered, inside, side="left")
    upto = np.searchsorted(ordered, inside, side="right")
    return float((below + upto).mean() / 2 / len(outside))


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
    deviation = first.std(axis=0)
    deviation = np.where(deviation > 0, deviation, 1.0)
    return tuple(values / deviation for values in (first, *others))
