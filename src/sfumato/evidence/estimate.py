"""Estimated counts with their uncertainty. No number leaves the system without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.arrays import Array
from sfumato.errors import EstimationError
from sfumato.evidence.covariance import check_covariance
from sfumato.evidence.critical import one_of_many, wider_level
from sfumato.evidence.limits import limits
from sfumato.evidence.plot import plot
from sfumato.evidence.pooled import Pooled, pooled
from sfumato.evidence.questions.combinations import Combination, contrast, linear, ratio
from sfumato.evidence.record_moments import records
from sfumato.evidence.seen import Seen
from sfumato.input_checks import check_flags, check_places
from sfumato.pages.display import MOST, settled
from sfumato.pages.shown_table import ShownTable
from sfumato.printable import label_text, many
from sfumato.schema import Schema
from sfumato.writing.data_frames import as_frame, free_name

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(ShownTable):
    r"""Counts of every combination of some attributes, flat, first attribute slowest.

        finite population:   Cov(N̂ | table)  =  A diag(Ñ) Aᵀ - diag(N̂)
        superpopulation:     Cov(N̂)          =  A diag(Ñ) Aᵀ - N̂ N̂ᵀ / N

    where A is the left inverse of Pᵀ and Ñ the released counts. The first speaks of this table's own counts, the
    second (``population()``, as shares that sum to 1) of the distribution behind the table. Where only a share f of
    the N records was asked, chosen at random, the counts of those asked are divided by f, and the first becomes

        (A diag(Ñ) Aᵀ - f diag(N̂) - (1 - f) N̂ N̂ᵀ / n) / f²,        N̂ of the n = f N who were asked
    """

    schema: Schema  # of the estimated attributes, in order
    value: Array
    seen: tuple[Seen, ...]  # what it was estimated from, scheme by scheme
    method: str
    of_population: bool = False
    codes: NDArray[np.int64] | None = None  # the cells, a row each, where only some were asked for
    pooled: Pooled | None = field(default=None, kw_only=True)  # where parts are weighed by their precision
    records: float | None = field(default=None, kw_only=True)  # how many there are, where not all were asked
    together: int = field(default=1, kw_only=True)  # cells for all of which the intervals hold at once, shown or not

    @property
    def names(self) -> tuple[str, ...]:
        return self.schema.names

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return self.schema.sizes()

    @property
    def table(self) -> Array:
        """The value with one axis per attribute."""
        if self.codes is not None:
            raise EstimationError("only some cells were asked for: they do not make a table")
        return self.value.reshape(self.shape)

    @cached_property
    def n(self) -> float:
        """The number of records."""
        if self.pooled is not None and self.records is None:
            return self.pooled.rows
        return self._told if self.records is None else self.records

    @property
    def asked(self) -> float:
        """The share of the records that were asked about these attributes."""
        return self._told / self.n if self.n else 1.0

    @cached_property
    def _told(self) -> float:
        return sum(piece.total for piece in self.seen)

    @property
    def of_asked(self) -> Self:
        """The same of those who were asked alone."""
        if self.records is None or not self.seen:
            return self
        return replace(self, value=self.value * (1.0 if self.of_population else self.asked), records=None)

    @property
    def population_kind(self) -> str:
        """Which of the two covariances this is: "finite population" or "superpopulation"."""
        return "superpopulation" if self.of_population else "finite population"

    def population(self) -> Estimate:
        """The same for the distribution behind the table: shares that sum to 1, with sampling noise included.

        Parts under different schemes are weighed by their precision, see ``sfumato.evidence.pooled``: they are taken as
        samples of the same population.
        """
        if self.of_population:
            return self
        if len(self.seen) > 1:
            found = pooled(self.seen, self.method)
            return replace(self, value=found.value, seen=found.seen, of_population=True, pooled=found)
        return self.sampled()

    def sampled(self) -> Estimate:
        """Shares of these records, each part by its number of records, with the noise of a sample."""
        return self if self.of_population else replace(self, value=self.value / self.n, of_population=True)

    @property
    def unbiased(self) -> Array:
        """The moment estimate that the intervals are built around; it may be negative."""
        if self.pooled is not None:
            return self.pooled.shares
        return np.asarray(sum(piece.centre for piece in self.seen) / self._scale)

    @property
    def judged(self) -> Array:
        """The table that tests and error bars are about: unbiased counts, or those of a model of its own."""
        return self.unbiased.reshape(self.shape)

    @cached_property
    def variance(self) -> Array:
        """The variance of each cell, without forming the covariance matrix."""
        total, drawn = np.zeros(()), self._drawn
        for piece in self.seen:
            total = total + piece.spread - (1 - drawn) * piece.centre - drawn * piece.centre**2 / piece.total
        return np.maximum(total, 0.0) / self._scale**2

    @property
    def sd(self) -> Array:
        """The standard deviation of each cell."""
        return np.sqrt(self.variance)

    @cached_property
    def cov(self) -> Array:
        """The covariance matrix of all cells."""
        cells = len(self.value)
        check_covariance(cells)
        out = np.zeros((cells, cells))
        for piece in self.seen:
            A, centre, drawn = piece.rows(), piece.centre, self._drawn
            out += (A * piece.counts) @ A.T - (1 - drawn) * np.diag(centre)
            if drawn:
                out -= drawn * np.outer(centre, centre) / piece.total
        return np.asarray(out / self._scale**2)

    def covariance(self, one: Array, other: Array) -> float:
        """Of two weighted sums of the counts, without forming the covariance matrix; weights are flat."""
        total = 0.0
        for piece in self.seen:
            a, b = (piece.inverse.T.apply(piece.in_blocks(weights).reshape(-1)) for weights in (one, other))
            mine, theirs = one @ piece.centre, other @ piece.centre
            taken = (1 - self._drawn) * ((one * other) @ piece.centre) + self._drawn * mine * theirs / piece.total
            total += float((a * b) @ piece.counts - taken)
        return total / self._scale**2

    def told_by_parameters(self) -> Array | None:
        """A root of the covariance that the parameters of a model tell; None where there is no such model."""
        return None

    def within(self) -> Array | None:
        """Covariances of counts that differ in the last attribute only: a matrix for each combination of the others.

        None where what was seen tells them.
        """
        return None

    def interval(
        self, level: float = 0.95, cells: NDArray[np.int64] | None = None, *, anytime: bool = False
    ) -> tuple[Array, Array]:
        """Limits that hold each true count (or share) with the given probability, one cell at a time.

        Of top values, chosen by looking, they hold for all at once: Bonferroni's rule over ``together`` cells.
        ``cells`` are the places of the cells to answer for, all of them unless told. ``anytime``: at all times
        together, for numbers that are looked at again and again while records come in.

        All counts that a test does not refuse, see ``sfumato.evidence.limits``. They lie within [0, N], are never
        empty, and are a point only where the channel tells the count for certain. An unbiased estimate below 0 or
        above N is no possible count: the limits are then stretched to it, so that they always hold the estimate.
        """
        check_flags(EstimationError, anytime=anytime)
        cells = None if cells is None else check_places(EstimationError, "cells", cells, len(self.value))
        level = one_of_many(wider_level(level, self.n) if anytime else level, self.together)
        sides = records(self.seen, self._drawn > 0)
        if self.pooled is not None:
            centre = self.unbiased * self._scale
            sides = (replace(sides[0].flat(), estimate=centre), replace(sides[1].flat(), estimate=centre))
        if cells is not None:
            sides = (sides[0].flat().at(cells), sides[1].flat().at(cells))
        low, high = limits(*sides, level, self._drawn)
        value = self.value if cells is None else self.value[cells]
        return np.minimum(low / self._scale, value), np.maximum(high / self._scale, value)

    def frame(self, level: float | str = 0.95, backend: str = "pyarrow", cells: NDArray[np.int64] | None = None) -> Any:
        """A table with a row per cell: its values, the estimate, its standard deviation and interval.

        ``backend`` is "pyarrow", "pandas" or "polars"; ``frame("pandas")`` will do. ``cells`` are the places of the
        cells to list, all of them unless told: of very many cells, some are listed much sooner than all.
        """
        level, backend = (0.95, level) if isinstance(level, str) else (level, backend)
        cells = None if cells is None else check_places(EstimationError, "cells", cells, len(self.value))
        return as_frame(self._arrow(level, cells), backend)

    def plot(self, path: str | Path | None = None, **options: Any) -> Any:
        """A picture of the cells with their intervals; see ``sfumato.evidence.plot``."""
        return plot(self, path, **options)

    def places(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """The codes of some cells, an attribute a row."""
        return np.array(np.unravel_index(cells, self.shape)) if self.codes is None else self.codes[cells].T

    def contrast(self, a: Any, b: Any) -> Combination:
        """The difference of the counts of two cells, each named by its value or a tuple of values."""
        return contrast(self, a, b)

    def ratio(self, a: Any, b: Any) -> Combination:
        """The ratio of the counts of two cells, with Fieller's limits."""
        return ratio(self, a, b)

    def linear(self, weights: ArrayLike | Mapping[Any, float]) -> Combination:
        """A weighted sum of the counts: a weight for each cell, flat, or by its values.

        Of the unbiased counts, also where the shown ones were moved to possible counts: sums of those are biased.
        """
        return linear(self, weights)

    def labels(self) -> list[tuple[Any, ...]]:
        """The values of each cell."""
        places = self.places(np.arange(len(self.value))).T
        names = [domain.labels for domain in self.schema.values()]
        return [tuple(own[code] for own, code in zip(names, cell, strict=True)) for cell in places]

    @property
    def title(self) -> str:
        """What was asked, in words."""
        return f"{'shares' if self.of_population else 'counts'} of {' x '.join(self.names)}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know besides the numbers."""
        return ()

    @property
    def floor(self) -> float:
        """The least that a count can be."""
        return 0.0

    def _arrow(self, level: float, cells: NDArray[np.int64] | None = None) -> pa.Table:
        import pyarrow as pa

        columns, cells = dict[str, Any](), np.arange(len(self.value)) if cells is None else cells
        for (name, domain), codes in zip(self.schema.items(), self.places(cells), strict=True):
            labels = pa.array(domain.labels, type=None if domain.kind != "numeric" else pa.string())
            columns[name] = labels.take(pa.array(codes))
        low, high = self.interval(level, cells)
        for name, column in {"estimate": self.value[cells], "sd": self.sd[cells], "low": low, "high": high}.items():
            columns[free_name(name, columns)] = column
        return pa.table(columns)

    @property
    def _scale(self) -> float:
        """What the counts of those who were asked are divided by."""
        return self._told if self.of_population else self.asked

    @property
    def _drawn(self) -> float:
        """How far the records are a sample: 1 of the distribution behind the table, 1 - f of a table asked in part."""
        return 1.0 if self.of_population else 1.0 - self.asked

    @property
    def _title(self) -> str:
        kind = "95 % intervals" if self.together == 1 else f"95 % intervals for {self.together:,} values together"
        return f"Estimate: {self.title}, {many(self.n, 'record')}, {self.method}, {kind}"

    def _shown(self) -> tuple[list[str], list[list[Any]], int]:
        """Headings, the first cells with their intervals, and how many cells are left."""
        hidden = [free_name("sd", self.names)]
        labels = len(self.names)
        frame = self._arrow(0.95, np.arange(min(MOST, len(self.value)))).drop_columns(hidden)
        rows = [
            [
                *(label_text(label) if label is None else label for label in list(row.values())[:labels]),
                *(settled(number, float(sd)) for number in list(row.values())[labels:]),
            ]
            for row, sd in zip(frame.to_pylist(), self.sd, strict=False)
        ]
        return frame.schema.names, rows, len(self.value) - len(rows)
