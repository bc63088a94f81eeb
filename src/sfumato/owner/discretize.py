"""MGAS: group numbers so that every group hides enough records in a wide enough interval.

The modified agglomerative scheme of Ma (2006) section 2.3. Every value starts as its own cluster; the two
nearest clusters merge; a cluster that has both enough records and enough width is finished and leaves the
pool; a cluster left alone joins its nearest finished neighbour. The paper leaves open what "nearest" means
and who may merge:

- distance is that between cluster means;
- in one dimension only adjacent clusters merge, never across a finished one: every group is an interval;
- width is max - min of the members; in d dimensions the shortest side of their bounding box, so that no
  attribute of a group is known more closely than ``min_width``.

Groups are made by looking at the data, so their means and edges tell something about it; the two requirements
bound what they tell of one record.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from sfumato.arrays import Array, Index
from sfumato.errors import SchemaError, quoted
from sfumato.owner.agglomerate import LineClusters, SpaceClusters

WIDEST = 1e150  # squares of distances stay finite


@dataclass(frozen=True, eq=False)
class Groups:
    """What MGAS made of the values: one code per record, and each group's mean, size and width.

    ``edges`` (one dimension only) are the k + 1 ends of the groups' intervals: the extremes of the data and
    the points midway between neighbouring groups. To put group means in place of values: ``means[codes]``.
    """

    codes: Index = field(repr=False)
    means: Array
    sizes: Index
    widths: Array
    edges: Array | None = None

    def __len__(self) -> int:
        return len(self.sizes)

    def encode(self, values: ArrayLike) -> Index:
        """The groups of new values: the interval that holds each (the outer ones reach to infinity).

        In several dimensions: the group with the nearest mean.

        >>> mgas([1, 2, 3, 11, 12, 13], min_records=3, min_width=2).encode([-5, 6.9, 7.1, 99])
        array([0, 0, 1, 1])
        """
        new, columns = _numbers(values), 1 if self.edges is not None else self.means.shape[1]
        if new.shape[1] != columns:
            raise SchemaError(f"values must have as many columns as the groups, {columns}, got {new.shape[1]}")
        if self.edges is not None:
            return np.searchsorted(self.edges[1:-1], new[:, 0], side="right").astype(np.int64)
        from scipy.spatial import cKDTree

        return np.asarray(cKDTree(self.means).query(new)[1], dtype=np.int64)


def mgas(values: ArrayLike, min_records: int = 1500, min_width: float = 0.25) -> Groups:
    """Group numbers by MGAS: groups of at least ``min_records`` records that are at least ``min_width`` wide.

    One column takes O(N log N); several columns (values of shape (N, d), to be scaled by the caller so that
    distances mean something) O(N^2).

    >>> groups = mgas([1, 2, 3, 11, 12, 13], min_records=3, min_width=2)
    >>> groups.codes, groups.means, groups.edges
    (array([0, 0, 0, 1, 1, 1]), array([ 2., 12.]), array([ 1.,  7., 13.]))
    """
    numbers = _numbers(values)
    _check(numbers, min_records, min_width)
    if numbers.shape[1] == 1:
        distinct, inverse, counts = np.unique(numbers[:, 0], return_inverse=True, return_counts=True)
        starts = LineClusters(distinct, counts, min_records, min_width).group_starts()
        of_distinct = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(distinct)))
    else:
        rows, inverse, counts = np.unique(numbers, axis=0, return_inverse=True, return_counts=True)
        of_distinct = SpaceClusters(rows, counts, min_records, min_width).groups()
    return _summary(numbers, of_distinct[inverse.reshape(-1)])


def _numbers(values: ArrayLike) -> Array:
    """Finite numbers of shape (N, d)."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise SchemaError("values must be numbers, got something that is not") from None
    if numbers.ndim not in (1, 2):
        raise SchemaError(f"values must have the shape (N,) or (N, d), got {numbers.shape}")
    if numbers.size == 0:
        raise SchemaError("values must not be empty, got none")
    bad = int((~np.isfinite(numbers)).sum())
    if bad:
        raise SchemaError(f"values must be finite, got {bad} NaN or infinite of {numbers.size}: drop or clip them")
    return numbers.reshape(len(numbers), -1)


def _check(numbers: Array, min_records: int, min_width: float) -> None:
    """That both requirements make sense, and that all values together meet them: then a grouping exists."""
    if isinstance(min_records, bool) or not isinstance(min_records, int | np.integer) or min_records < 1:
        raise SchemaError(f"min_records must be a whole number of 1 or more, got {min_records!r}")
    if not isinstance(min_width, int | float | np.number) or not 0 < min_width < math.inf:
        raise SchemaError(f"min_width must be positive and finite, got {min_width!r}")
    if len(numbers) < min_records:
        raise SchemaError(f"min_records must be at most the number of values {len(numbers)}, got {min_records}")
    with np.errstate(over="ignore"):
        spans = np.ptp(numbers, axis=0)
    narrow = int(np.argmin(spans))
    if spans[narrow] < min_width:
        where = f" of column {narrow}" if len(spans) > 1 else ""
        raise SchemaError(
            f"min_width must be at most the range of the values{where}{quoted(float(spans[narrow]))}; "
            f"{min_width:g} is wider"
        )
    if spans.max() > WIDEST:
        raise SchemaError(f"values must span at most {WIDEST:g}{quoted(float(spans.max()))}: scale them down")


def _summary(numbers: Array, codes: Index) -> Groups:
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    members = numbers[order]
    low, high = np.minimum.reduceat(members, starts), np.maximum.reduceat(members, starts)
    # Means of differences from the lowest member: no overflow, no loss of digits far from zero.
    means = low + np.add.reduceat(members - np.repeat(low, sizes, axis=0), starts) / sizes[:, None]
    widths = (high - low).min(axis=1)
    if numbers.shape[1] > 1:
        return Groups(codes, means, sizes, widths)
    ends, begins = high[:-1, 0], low[1:, 0]
    middle = ends + (begins - ends) / 2
    # Between neighbouring floats the midpoint rounds to one of them; it must not be the one on the left.
    inner = np.where(middle > ends, middle, begins)
    return Groups(codes, means[:, 0], sizes, widths, np.concatenate([low[0], inner, high[-1]]))
