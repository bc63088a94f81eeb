r"""Sums over the true records, estimated from what was seen, with their covariance.

A statistic is a product of one factor per attribute, such as 1[sex = F] times income, summed over all records. A factor
is a value for each code, or a power of a number that was released with additive noise. To each factor belongs a score
of the released value whose mean is the factor, so that with G the scores of the statistics

    S = G Ñ
    finite population:   Cov = G diag(Ñ) Gᵀ - W diag(N̂) Wᵀ
    superpopulation:     Cov = G diag(Ñ) Gᵀ - S Sᵀ / N

where W are the statistics themselves, cell by cell. The first is the noise of the channels alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sfumato.arrays import Array
from sfumato.channels.linear import kronecker
from sfumato.errors import EstimationError
from sfumato.evidence.questions.part_sums import FEW, PartSums, many_each

Factor = Array | int
Statistic = dict[str, Factor]

if TYPE_CHECKING:
    from sfumato.evidence.estimate import Estimate

#: The most numbers in the table of statistics by cells, or by released cells.
MOST = 1 << 25


@dataclass(frozen=True, eq=False)
class Sums:
    """Statistics with their covariances, from parts that were released under different schemes.

    ``rounded`` lists (sum, number of records, variance) where values were rounded at random before anything else: the
    noise that this adds to the sum is none of the channel's, and belongs to the finite population's covariance too.
    ``records`` is how many there are in all, where the parts hold only those who were asked.
    """

    parts: tuple[PartSums, ...]
    rounded: tuple[tuple[int, int, float], ...] = ()
    records: float | None = None

    @property
    def n(self) -> float:
        return sum(part.n for part in self.parts)

    @property
    def asked(self) -> float:
        """The share of the records that were asked."""
        return 1.0 if self.records is None else self.n / self.records

    @property
    def totals(self) -> Array:
        """The sums over this table's own records."""
        return np.asarray(np.sum([part.total for part in self.parts], axis=0) / self.asked)

    def finite(self) -> tuple[Array, Array]:
        """The sums over this table's own records; see ``Estimate`` for the covariance where not all were asked."""
        f = self.asked
        cov = np.sum([part.second - f * part.own for part in self.parts], axis=0)
        if f < 1:
            cov = cov - (1 - f) * np.sum([np.outer(part.total, part.total) / part.n for part in self.parts], axis=0)
        for at, records, variance in self.rounded:
            cov[at, at] += variance * max(float(sum(part.own[records, records] for part in self.parts)), 0.0)
        return self.totals, np.asarray(cov / f**2)

    def population(self, jacobian: Callable[[Array], Array]) -> tuple[Array, Array]:
        """The means over the population behind the table, parts weighed by their precision for what is asked.

        A part with a noisier channel counts less. Its weight is n / v, v being the variance that one of its records has
        in the answer, relative to that of the other parts. Parts of few records count as one.
        """
        held, weights, covs = self._weighed(jacobian)
        means = [part.total / part.n for part in held.parts]
        sizes = [part.n for part in held.parts]
        value = np.sum([w * m for w, m in zip(weights, means, strict=True)], axis=0)
        cov = np.sum([w * w / n * c for w, n, c in zip(weights, sizes, covs, strict=True)], axis=0)
        return np.asarray(value), np.asarray(cov)

    def squares(self, jacobian: Callable[[Array], Array]) -> Array:
        """The mean square of each statistic over the population, parts weighed likewise."""
        held, weights, _ = self._weighed(jacobian)
        return np.asarray(
            np.sum([w * np.diag(part.own) / part.n for w, part in zip(weights, held.parts, strict=True)], axis=0)
        )

    def _weighed(self, jacobian: Callable[[Array], Array]) -> tuple[Sums, Array, list[Array]]:
        """The parts, the weight of each, and the covariance of one record of each."""
        if min(part.n for part in self.parts) < FEW and len(self.parts) > 1:
            return replace(self, parts=many_each(self.parts))._weighed(jacobian)
        means = [part.total / part.n for part in self.parts]
        covs = [part.per_record for part in self.parts]
        weights = np.array([part.n for part in self.parts]) / self.n
        if len(self.parts) > 1:
            J = np.nan_to_num(jacobian(np.asarray(weights @ np.array(means))))
            shared = self._shared(means, self._by_precision(J, covs))
            if all((_along(J, one) > _along(J, other) / 2).all() for one, other in zip(shared, covs, strict=True)):
                covs = shared  # not where strong noise leaves the spread untold
            weights = self._by_precision(J, covs)
        return self, weights, covs

    def _by_precision(self, J: Array, covs: Sequence[Array]) -> Array:
        """The weight of each part, given the covariance of one of its records."""
        share = np.array([part.n for part in self.parts]) / self.n
        each = np.array([np.maximum(_along(J, cov), 0.0) for cov in covs])
        weights = share / ((each / np.maximum(share @ each, 1e-300)).mean(axis=1) + 1e-12)
        return np.asarray(weights / weights.sum())

    def _shared(self, means: Sequence[Array], weights: Array) -> list[Array]:
        """The covariance of a record of each part: its channel's noise, and the spread of the values, which all share.

        Told by each part alone, the spread of skewed values goes with their mean: of few records, those with a low mean
        would count more.
        """
        mean = np.asarray(weights @ np.array(means))
        own = np.sum([w * part.own / part.n for w, part in zip(weights, self.parts, strict=True)], axis=0)
        spread = own - np.outer(mean, mean)
        return [np.asarray((part.second - part.own) / part.n + spread) for part in self.parts]


@dataclass(frozen=True, eq=False)
class ModelSums:
    """Statistics as a model of all attributes tells them: its covariance is that of the population.

    ``unbiased`` are the same statistics from the released counts alone, where these tell them.
    """

    n: float
    shares: Array  # of the cells that count in some statistic
    weights: Array  # W of these cells, a row for each statistic
    unbiased: Sums | None = None
    counts: Estimate | None = None  # the shares of all cells with their errors, where released counts tell none
    said: tuple[str, ...] = ()  # what to know of the model

    @property
    def means(self) -> Array:
        return np.asarray(self.weights @ self.shares)

    @property
    def totals(self) -> Array:
        return self.means * self.n

    @cached_property
    def cov(self) -> Array:
        k = len(self.weights)
        out = np.zeros((k, k))
        if self.counts is None:
            raise EstimationError("the errors are those of the unbiased sums")
        for i in range(k):
            for j in range(i, k):
                out[i, j] = out[j, i] = self.counts.covariance(self.weights[i], self.weights[j])
        return out

    def finite(self) -> tuple[Array, Array]:
        return self.totals, self.cov * self.n**2

    def population(self, jacobian: Callable[[Array], Array]) -> tuple[Array, Array]:
        return self.means, self.cov


def _along(J: Array, cov: Array) -> Array:
    """The variance of each answer."""
    return np.asarray(np.einsum("ri,ij,rj->r", J, cov, J))


def weights(statistics: Sequence[Statistic], names: Sequence[str], sizes: Sequence[int]) -> Array:
    """W: the statistics cell by cell, first name slowest."""
    ones = {name: np.ones(size) for name, size in zip(names, sizes, strict=True)}
    check_size(len(statistics), int(np.prod([float(size) for size in sizes])))
    return np.stack([kronecker([np.asarray(one.get(name, ones[name])) for name in names]) for one in statistics])


def product(one: Statistic, other: Statistic) -> Statistic | None:
    """The statistic whose factors are the products; None where it is nothing."""
    out: Statistic = {**one, **other}
    for name in one.keys() & other.keys():
        a, b = one[name], other[name]
        out[name] = a + b if isinstance(a, int) and isinstance(b, int) else np.asarray(a) * np.asarray(b)
    empty = any(isinstance(factor, np.ndarray) and not factor.any() for factor in out.values())
    return None if empty else out


def check_size(rows: int, cells: int) -> None:
    if rows * cells > MOST:
        raise EstimationError(
            f"{rows} sums over a table of {cells:,} cells are too many: ask about one group at a time, with where, or "
            "take wider bins"
        )
