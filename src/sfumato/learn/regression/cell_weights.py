"""Cells with their estimated counts, and the covariance of any sums over them: what estimating equations need."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from math import prod
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.errors import EstimationError
from sfumato.evidence import Evidence
from sfumato.evidence.independence import Test
from sfumato.evidence.questions.records import RecordScores
from sfumato.evidence.seen import Seen
from sfumato.learn.regression.told_by_records import told_of_cells, unbiased_counts
from sfumato.learn.weighted_cells import recorded_cells
from sfumato.schema import Schema

#: The most cells of the table of response and covariates on which equations are solved.
MOST_CELLS = 1 << 20
_DRAWN = 200_000
#: How improbable by chance alone the distance of a model from unbiased counts is that is taken for the model's error.
WRONG = 0.05
#: The least share of an unbiased score's variance, beyond the model's own, that can tell what the model is wrong by.
_TELLING = 0.1


class ListedRecords(Protocol):
    """What tells of released records one by one: evidence, or its fine cells."""

    @property
    def schema(self) -> Schema: ...

    def records(self, names: Sequence[str]) -> Iterator[Seen]: ...


class CellWeights(ABC):
    """Codes of every attribute in some cells, and how many records each holds."""

    codes: dict[str, NDArray[np.int64]]
    weights: Array

    @abstractmethod
    def spread(self, values: Array) -> Array:
        """The covariance of Σ weights · values, values a row per cell, where that sum is 0."""


class ExactCells(CellWeights):
    """The records themselves."""

    def __init__(self, source: Evidence, names: Sequence[str]) -> None:
        cells = recorded_cells(source, names)
        # in one order, whatever that of the records, so that the same records give the same last digits
        rows, at = np.unique(np.column_stack([cells.codes, cells.classes]), axis=0, return_inverse=True)
        self.codes = dict(zip(names, rows.T, strict=True))
        self.weights = np.asarray(np.bincount(at.reshape(-1), weights=cells.weights), dtype=np.float64)

    def spread(self, values: Array) -> Array:
        return np.asarray((values * self.weights[:, None]).T @ values)


class UnbiasedCells(CellWeights):
    """All cells, with counts A Ñ that may be negative; each scheme's records may be weighed by their precision."""

    def __init__(self, source: ListedRecords, names: Sequence[str]) -> None:
        sizes = source.schema.sizes(names)
        if prod(sizes) > MOST_CELLS:
            raise EstimationError(
                f"the table of {', '.join(names)} has {prod(sizes):,} cells, more than {MOST_CELLS:,}: give fewer "
                f'covariates, or through="model"'
            )
        self.codes = dict(zip(names, np.unravel_index(np.arange(prod(sizes)), sizes), strict=True))
        self.parts: list[Seen] = list(source.records(names))
        self._counts = [unbiased_counts(part) for part in self.parts]
        self.weigh([1.0] * len(self.parts))

    def weigh(self, precisions: Sequence[float]) -> None:
        """Let each part count by a factor, which leaves the number of records what it is."""
        total = sum(part.total for part in self.parts)
        held = sum(factor * part.total for factor, part in zip(precisions, self.parts, strict=True))
        self.factors = [factor * total / held for factor in precisions]
        self.weights = np.sum([f * one for f, one in zip(self.factors, self._counts, strict=True)], axis=0)

    def spreads(self, values: Array) -> list[Array]:
        """Σ_z Ñ_z s_z s_zᵀ of every part."""
        out = []
        for part in self.parts:
            s = told_of_cells(part, values)
            out.append((s * part.counts[:, None]).T @ s)
        return out

    def spread(self, values: Array) -> Array:
        own = self.spreads(values)
        return np.asarray(np.sum([f * f * one for f, one in zip(self.factors, own, strict=True)], axis=0))


class ModelledCells(CellWeights):
    """The cells of a joint model, or records drawn from it where its cells are too many to list."""

    def __init__(self, model: Evidence, names: Sequence[str]) -> None:
        self.listed = model.listable(names)
        if self.listed:
            sizes = model.schema.sizes(names)
            self.codes = dict(zip(names, np.unravel_index(np.arange(prod(sizes)), sizes), strict=True))
            self.weights = model.shares(names) * model.n
            self._root = model.counts(names, quiet=True).told_by_parameters()
        else:
            self._root = None
            drawn = model.sample_codes(_DRAWN, np.random.default_rng(0))  # an integral over draws, the same every time
            self.codes = {name: np.asarray(drawn[name], dtype=np.int64) for name in names}
            self.weights = np.full(_DRAWN, model.n / _DRAWN)

    @property
    def tells_spread(self) -> bool:
        """Whether the model knows the covariance of its own counts."""
        return self._root is not None

    def spread(self, values: Array) -> Array:
        if self._root is None:
            raise EstimationError("a model without known parameters does not tell the covariance of its counts")
        along = values.T @ self._root
        return np.asarray(along @ along.T)

    def wrong_by(self, parts: Iterable[Seen], values: Array) -> Array:
        r"""What unbiased counts show the model's sum of the values to be wrong by, as a matrix; 0 where they do not.

            U = Σ_z Ñ_z s_z,        Cov(U) = Σ_z Ñ_z s_z s_zᵀ - the covariance of the model's own sum

        where that sum is 0. If U is further from 0 than chance would have it one time in twenty, all of U Uᵀ counts:
        what is less sure is the noise of the unbiased counts, which can be many times that of the model. Directions
        in which the model is as noisy as they are tell nothing.
        """
        total, square = unbiased_score(parts, values)
        size = np.sqrt(np.maximum(square.diagonal(), 1e-300))
        noise = (square - self.spread(values)) / np.outer(size, size)
        known, directions = np.linalg.eigh(noise)
        telling = known > _TELLING
        along = directions[:, telling].T @ (total / size)
        found = Test(float((along**2 / known[telling]).sum()), int(telling.sum()))
        return np.outer(total, total) if found.p_value < WRONG else np.zeros_like(square)


def unbiased_score(parts: Iterable[Seen], values: Array) -> tuple[Array, Array]:
    """Σ_z Ñ_z s_z and Σ_z Ñ_z s_z s_zᵀ: what released records say of the sum of the values, and its noise."""
    total, square = np.zeros(values.shape[1]), np.zeros((values.shape[1], values.shape[1]))
    for part in parts:
        s = told_of_cells(part, values)
        total += part.counts @ s
        square += (s * part.counts[:, None]).T @ s
    return total, square


def precisions(parts: Sequence[Seen | RecordScores], spreads: Sequence[Array], information: Array) -> list[float]:
    """How much a record of each part tells: one over the variance of its score, in the metric of the information."""
    metric = np.linalg.inv(information)
    by_scheme: dict[object, list[float]] = {}
    for part, spread in zip(parts, spreads, strict=True):
        held = by_scheme.setdefault(part.scheme, [0.0, 0.0])
        held[0] += part.total
        held[1] += float(np.trace(metric @ spread))
    return [by_scheme[part.scheme][0] / max(by_scheme[part.scheme][1], 1e-300) for part in parts]
