"""What the records behind an estimate say of every count: moments of what each of them adds to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.evidence.components import components
from sfumato.evidence.limits import Records, about_the_mean
from sfumato.evidence.seen import Seen
from sfumato.evidence.simplex import project

MOMENTS = (2, 3, 4)
#: A second moment of this part of what records add on average is rounding: nothing is left open.
_ROUNDING = 1e-11


class RecordSums(NamedTuple):
    """Sums over the records as they seem to be distributed; moments are of A[x, Y], what one record adds to cell x."""

    inside: Array  # records in the cell
    around: Array  # records that may be in the cell, these included
    known: Array  # the same, as far as it is known for certain
    own: Array  # second to fourth moments, over the records in the cell
    everywhere: Array  # over all records


@dataclass(frozen=True, eq=False)
class ListedCells(Seen):
    """Some cells of a table that is too large to list: other cells are known only through the released counts.

    ``listed`` are the rows of A for these cells, against the released records that occur.
    """

    listed: Array = field(kw_only=True)
    own_moments: Array = field(kw_only=True)  # E A[x, Y]^k of a record of each listed cell, k by cell

    @property
    def centre(self) -> Array:
        return np.asarray(self.listed @ self.counts)

    @property
    def spread(self) -> Array:
        return self.moment(2, self.counts)

    def moment(self, k: int, counts: Array) -> Array:
        return np.asarray(self.listed**k @ counts)

    def rows(self) -> Array:
        return self.listed


def listed_cells(found: Seen, codes: NDArray[np.int64]) -> ListedCells:
    """The rows of the Kronecker inverse that the listed cells need, against the released records that occur."""
    rows = np.ones((len(codes), len(found.counts)))
    own = np.ones((len(MOMENTS), len(codes)))
    for block, released in zip(found.blocks, found.joined, strict=True):
        true = np.ravel_multi_index([codes[:, found.names.index(name)] for name in block.names], block.sizes)
        rows *= block.inverse.entries(true, released)
        own *= [block.inverse.power(k).diagonal_of_product(block.transition)[true] for k in MOMENTS]
    return ListedCells(found.names, found.blocks, found.counts, found.codes, listed=rows, own_moments=own)


def sums(seen: Seen) -> RecordSums:
    """Every cell of a group counts, also where the estimate sums over some of its attributes."""
    if isinstance(seen, ListedCells):
        n = seen.total
        inside = np.clip(seen.centre, 1e-6, n) * n / (n + 1)
        whole = np.full(len(inside), n)
        everywhere = np.stack([seen.moment(k, seen.counts) for k in MOMENTS])
        return RecordSums(inside, whole, whole, seen.own_moments * inside, everywhere)
    cells = _composition(seen)
    released = seen.full.T.apply(cells)
    n = seen.counts.sum(axis=0)
    labels = None if seen.partial else components(seen.full)
    if labels is None:
        around, known = cells.sum(axis=0), n
    else:
        around, known = (seen.placed(_by_label(each, labels)) for each in (cells, seen.inverse.apply(seen.counts)))
    return RecordSums(
        inside=seen.placed(seen.summed(cells)),
        around=around,
        known=known,
        own=np.stack([seen.placed(seen.summed((cells.T * seen.own(k)).T)) for k in MOMENTS]),
        everywhere=np.stack([seen.moment(k, released) for k in MOMENTS]),
    )


def _composition(seen: Seen) -> Array:
    """How many records seem to be in each cell: the projected estimate, and one record spread evenly."""
    found = project(seen.full_inverse.apply(seen.counts), seen.counts.sum(axis=0))
    possible = seen.full.apply(np.ones(seen.full.cols)) > 0
    return np.asarray((found.T + possible / possible.sum()).T)


def records(pieces: Sequence[Seen], population: bool) -> tuple[Records, Records]:
    """What all pieces together say of counts below the estimate, and of counts above it.

    A smaller count takes records from the cell in proportion to what each piece seems to have there, a larger one
    takes them from the others; either way every piece keeps its number of records. One piece says the same of both.
    """
    found = [sums(piece) for piece in pieces]
    estimate = np.asarray(sum((piece.centre for piece in pieces[1:]), pieces[0].centre))
    known = np.asarray(sum((one.known for one in found[1:]), found[0].known))
    most = np.asarray(sum(piece.counts.sum(axis=0) for piece in pieces)) if population else known
    own = [_ratio(one.own, one.inside) for one in found]
    other = [_ratio(_possible(one.everywhere - one.own), one.around - one.inside) for one in found]
    if not population:
        own = [about_the_mean(moments) for moments in own]
    scale = [1 + one.everywhere[0] / max(float(piece.total), 1.0) for one, piece in zip(found, pieces, strict=True)]
    own, other = ([_clean(*each) for each in zip(side, scale, strict=True)] for side in (own, other))
    inside = np.stack([one.inside for one in found])
    around = np.stack([np.broadcast_to(one.around, one.inside.shape) for one in found])
    if len(pieces) == 1:
        both = _told(estimate, most, known, own[0], other[0], inside[0] / around[0], population)
        return both, both
    excess = [mine - theirs for mine, theirs in zip(own, other, strict=True)]
    mine, theirs = _mean(own, around), _mean(other, around)
    share = inside.sum(axis=0) / around.sum(axis=0)
    return (
        _told(estimate, most, known, _possible(theirs + _mean(excess, inside)), theirs, share, population),
        _told(estimate, most, known, mine, _possible(mine - _mean(excess, around - inside)), share, population),
    )


def _told(
    estimate: Array, most: Array, known: Array, own: Array, other: Array, share: Array, population: bool
) -> Records:
    """With the tilt: what the second moment of all records and the estimate have in common says of the others.

    If the estimate is by chance too high, so is, on average, Σ A², by Cov(Σ A², N̂) / Var(N̂) for each count.
    """
    m2, m3, _ = share * own + (1 - share) * other
    if population:
        variance, common, slope = m2 - share**2, m3 - m2 * share, own[0] - other[0]
    else:
        variance, common, slope = m2, m3 + 2 * share * own[0], own[0] + 1 - other[0]
    tilt = _ratio(common, variance) - slope
    return Records(estimate, most, known, own, other, share * known, np.where(variance > 1e-9, tilt, 0.0))


def _possible(moments: Array) -> Array:
    """Even moments are not negative."""
    return np.stack([np.maximum(moments[0], 0.0), moments[1], np.maximum(moments[2], 0.0)])


def _clean(moments: Array, scale: Array) -> Array:
    """No moments at all where the second one is rounding: the fourth would tell of jumps."""
    return np.where(moments[0] > _ROUNDING * scale, moments, 0.0)


def _mean(values: Sequence[Array], weights: Array) -> Array:
    """The mean over the pieces."""
    total = np.maximum(weights.sum(axis=0), 1e-300)
    return np.asarray(sum(value * (weight / total) for value, weight in zip(values, weights, strict=True)))


def _ratio(top: Array, bottom: Array) -> Array:
    bottom = np.broadcast_to(bottom, top.shape)
    return np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 1e-9)


def _by_label(values: Array, labels: NDArray[np.int64]) -> Array:
    """For each cell the sum over all cells of its component."""
    out = np.zeros((int(labels.max()) + 1, *values.shape[1:]))
    np.add.at(out, labels, values)
    return out[labels]
