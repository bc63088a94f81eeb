"""What each scheme of a release contributes to an estimate, and what its records say of every count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.linear import Array, Operator
from sfumato.evidence.components import components
from sfumato.evidence.limits import Records
from sfumato.evidence.simplex import project
from sfumato.evidence.view import View

MOMENTS = (2, 3, 4)


class Sums(NamedTuple):
    """Sums over the records as they seem to be distributed; moments are of A[x, Y], what one record adds to cell x."""

    inside: Array  # records in the cell
    around: Array  # records that may be in the cell, these included
    most: Array  # the same, as far as it is known for certain
    own: Array  # second to fourth moments, over the records in the cell
    everywhere: Array  # over all records


@dataclass(frozen=True, eq=False)
class Piece:
    """What one scheme contributes: released counts and the linear map that turns them into estimated true counts.

    Released counts may have a second axis, of replicates, which everything here then has too.
    """

    inverse: Operator  # A, estimated cells by released cells
    observed: Array  # Ñ
    shown: View
    place: NDArray[np.int64] | None = None  # which row of A each estimated cell is, where their orders differ

    @cached_property
    def centre(self) -> Array:
        """A Ñ: unbiased for the true counts."""
        return self.placed(self.inverse.apply(self.observed))

    @cached_property
    def spread(self) -> Array:
        """diag(A diag(Ñ) Aᵀ)."""
        return self.placed(self.inverse.squared().apply(self.observed))

    def rows(self) -> Array:
        """A in full, for few cells."""
        return self.placed(self.inverse.dense())

    def placed(self, values: Array) -> Array:
        """From the order of A's rows to that of the estimate's cells."""
        return values if self.place is None else values[self.place]

    @property
    def total(self) -> float:
        return float(self.observed.sum())

    def sums(self, population: bool) -> Sums:
        """Every cell of a group counts, also where the estimate sums over some of its attributes."""
        cells = self._composition()
        released = self.shown.full.T.apply(cells)
        n = self.observed.sum(axis=0)
        labels = None if population or self.shown.partial else components(self.shown.full)
        if labels is None:
            around, most = cells.sum(axis=0), n
        else:
            around, most = (self.placed(_by_label(each, labels)) for each in (cells, self.inverse.apply(self.observed)))
        return Sums(
            inside=self.placed(self.shown.summed(cells)),
            around=around,
            most=most,
            own=np.stack([self.placed(self.shown.summed((cells.T * self._own(k)).T)) for k in MOMENTS]),
            everywhere=np.stack([self.placed(self.inverse.power(k).apply(released)) for k in MOMENTS]),
        )

    def _composition(self) -> Array:
        """How many records seem to be in each cell: the projected estimate, and one record spread evenly."""
        full = self.shown.full_inverse if self.shown.partial else self.inverse
        found = project(full.apply(self.observed), self.observed.sum(axis=0))
        possible = self.shown.full.apply(np.ones(self.shown.full.cols)) > 0
        return np.asarray((found.T + possible / possible.sum()).T)

    def _own(self, k: int) -> Array:
        """E A[x, Y]^k of a record of each cell, x being the estimated cell that it belongs to."""
        if self.shown.partial:
            return self.shown.own(k)
        return self.inverse.power(k).diagonal_of_product(self.shown.full)


@dataclass(frozen=True, eq=False)
class ListedPiece(Piece):
    """Some cells of a table that is too large to list: other cells are known only through the released counts."""

    own: Array = field(kw_only=True)  # E A[x, Y]^k of a record of each listed cell, k by cell

    def sums(self, population: bool) -> Sums:
        n = self.total
        inside = np.clip(self.centre, 1e-6, n) * n / (n + 1)
        everywhere = np.stack([self.inverse.power(k).apply(self.observed) for k in MOMENTS])
        whole = np.full(len(inside), n)
        return Sums(inside, whole, whole, self.own * inside, everywhere)


def records(pieces: Sequence[Piece], population: bool) -> tuple[Records, Records]:
    """What all pieces together say of counts below the estimate, and of counts above it.

    A smaller count takes records from the cell in proportion to what each piece seems to have there, a larger one
    takes them from the others; either way every piece keeps its number of records. One piece says the same of both.
    """
    found = [piece.sums(population) for piece in pieces]
    estimate = np.asarray(sum((piece.centre for piece in pieces[1:]), pieces[0].centre))
    most = np.asarray(sum((one.most for one in found[1:]), found[0].most))
    own = [_ratio(one.own, one.inside) for one in found]
    other = [_ratio(_possible(one.everywhere - one.own), one.around - one.inside) for one in found]
    if not population:
        own = [about_the_mean(moments) for moments in own]
    inside = np.stack([one.inside for one in found])
    around = np.stack([np.broadcast_to(one.around, one.inside.shape) for one in found])
    if len(pieces) == 1:
        both = _told(estimate, most, own[0], other[0], inside[0], around[0], population)
        return both, both
    excess = [mine - theirs for mine, theirs in zip(own, other, strict=True)]
    mine, theirs = _mean(own, around), _mean(other, around)
    share = inside.sum(axis=0), around.sum(axis=0)
    return (
        _told(estimate, most, theirs + _mean(excess, inside), theirs, *share, population),
        _told(estimate, most, mine, mine - _mean(excess, around - inside), *share, population),
    )


def _told(
    estimate: Array, most: Array, own: Array, other: Array, inside: Array, around: Array, population: bool
) -> Records:
    """With the tilt: what the second moment of all records and the estimate have in common says of the others.

    If the estimate is by chance too high, so is, on average, Σ A², by Cov(Σ A², N̂) / Var(N̂) for each count.
    """
    share = inside / around
    m2, m3, _ = share * own + (1 - share) * other
    if population:
        variance, common, slope = m2 - share**2, m3 - m2 * share, own[0] - other[0]
    else:
        variance, common, slope = m2, m3 + 2 * share * own[0], own[0] + 1 - other[0]
    tilt = _ratio(common, variance) - slope
    return Records(estimate, most, own, other, share * most, np.where(variance > 1e-9, tilt, 0.0))


def about_the_mean(moments: Array) -> Array:
    """Second to fourth moments about the mean 1, from those about 0."""
    second, third, fourth = moments
    return np.stack([second - 1, third - 3 * second + 2, fourth - 4 * third + 6 * second - 3])


def _possible(moments: Array) -> Array:
    """Even moments are not negative."""
    return np.stack([np.maximum(moments[0], 0.0), moments[1], np.maximum(moments[2], 0.0)])


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
