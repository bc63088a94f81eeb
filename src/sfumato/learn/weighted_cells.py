"""Weighted cells: every combination of values with its estimated count, which any weighted learner can take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array, Codes
from sfumato.domains import Domain
from sfumato.errors import EstimationError
from sfumato.evidence import Evidence
from sfumato.evidence.kinds import by_method, model_about
from sfumato.evidence.questions.values import numbers
from sfumato.evidence.simplex import project
from sfumato.input_checks import check_word
from sfumato.learn.base import DECISION_CELLS
from sfumato.printable import label_text
from sfumato.schema import Schema

_DRAWN = 50_000
_LIKELY_CELLS = 1 << 14


@dataclass(frozen=True, eq=False)
class WeightedCells:
    """Codes of the features, a row per cell; the class of the cell; and how many records it holds."""

    names: tuple[str, ...]
    codes: NDArray[np.int64]
    classes: NDArray[np.int64]
    weights: Array


def weighted_cells(source: Evidence, features: Sequence[str], target: str, counts: str = "model") -> WeightedCells:
    """Cells with their counts: exact ones as they are, randomized ones from the joint model or ("direct") likeliest."""
    check_word(EstimationError, "counts", counts, ("model", "direct"))
    names = [*features, target]
    sizes = source.schema.sizes(names)
    large = prod(sizes) > DECISION_CELLS
    if source.exact and large:
        return recorded_cells(source, names)
    if source.exact:
        value = source.counts(names).value
    elif counts == "model" or (large and source.smoothed):
        model = model_about(source, target)
        if not model.listable(names):
            return _sampled(model, names)
        value = model.shares(names) * model.n
    elif large:
        raise EstimationError(f"{prod(sizes)} cells are too many to list: give the learner fewer features")
    else:
        # the most likely counts keep every class that occurs; beyond some size only the projection is quick
        likely = prod(sizes) <= _LIKELY_CELLS
        found = (by_method(source, "mle") if likely else source).counts(names, quiet=True)
        value = project(found.value, found.n)
    kept = np.flatnonzero(value > 1e-9 * value.max())
    grid = np.stack(np.unravel_index(kept, sizes), axis=1)
    return WeightedCells(tuple(features), grid[:, :-1], grid[:, -1], value[kept])


def recorded_cells(source: Evidence, names: Sequence[str]) -> WeightedCells:
    """Only the cells that occur in unrandomized records, part by part."""
    grids, weights = [], []
    for part in source.records(names):
        grid = np.empty((len(part.counts), len(names)), dtype=np.int64)
        for (axes, table), codes in zip(part.likelihoods(), part.joined, strict=True):  # the value that is certain
            flat = table.reshape(len(table), -1).argmax(axis=1)[codes]
            grid[:, list(axes)] = np.stack(np.unravel_index(flat, table.shape[1:]), axis=1)
        grids.append(grid)
        weights.append(part.counts)
    grid = np.concatenate(grids)
    return WeightedCells(tuple(names[:-1]), grid[:, :-1], grid[:, -1], np.concatenate(weights))


def _sampled(model: Evidence, names: Sequence[str]) -> WeightedCells:
    """Records drawn from the model, where its cells are too many to list."""
    codes = model.sample_codes(_DRAWN, np.random.default_rng(0))  # an integral over draws, the same every time
    grid = np.stack([codes[name] for name in names], axis=1).astype(np.int64)
    return WeightedCells(tuple(names[:-1]), grid[:, :-1], grid[:, -1], np.full(_DRAWN, model.n / _DRAWN))


class Encoding:
    """Features as numbers: ordered and numeric attributes by a value each, others one-hot without their first value.

    Of an ordered attribute that may be empty, no answer is a column of its own and stands in the middle of the other.
    ``values`` overrides what a code is worth, for instance the group means of MGAS; ``without`` names the code of the
    value of a category that has no column, instead of the first.

    >>> import sfumato as sf
    >>> made = Encoding(sf.Schema({"age": sf.Numeric(0, 30, bins=3, nullable=True)}), ["age"])
    >>> made.columns, made.table(0).tolist()
    (['age', 'age=no answer'], [[5.0, 0.0], [15.0, 0.0], [25.0, 0.0], [15.0, 1.0]])
    """

    def __init__(
        self,
        schema: Schema,
        names: Sequence[str],
        values: Mapping[str, Any] | None = None,
        without: Mapping[str, int] | None = None,
    ) -> None:
        self.names = tuple(names)
        given, left = values or {}, without or {}
        made = [_coded(name, schema[name], given.get(name), left.get(name, 0)) for name in self.names]
        self._tables = [table for _, table in made]
        #: A name for every column.
        self.columns = [column for columns, _ in made for column in columns]

    def table(self, place: int) -> Array:
        """What each code of an attribute is worth, a row per code."""
        return self._tables[place]

    def __call__(self, codes: Sequence[Codes]) -> Array:
        """The feature matrix of rows given by a column of codes per attribute."""
        return np.concatenate([table[np.asarray(c)] for table, c in zip(self._tables, codes, strict=True)], axis=1)


def _coded(name: str, domain: Domain, values: Any, without: int) -> tuple[list[str], Array]:
    """The columns of an attribute, and what each code is worth in them."""
    if values is not None:
        given = np.asarray(values, dtype=np.float64).reshape(-1, 1)
        if len(given) != domain.size:
            raise EstimationError(f"values of {name!r} must have {domain.size} entries, one per code, got {len(given)}")
        return [name], given
    if not domain.ordered:
        kept = np.delete(np.arange(domain.size), without)
        return [f"{name}={label_text(domain.labels[code])}" for code in kept], np.eye(domain.size)[:, kept]
    worth = numbers(domain)[: domain.size - domain.nullable]
    if not domain.nullable:
        return [name], worth[:, None]
    silent = np.eye(domain.size)[:, -1]
    return [name, f"{name}={label_text(None)}"], np.column_stack([np.append(worth, worth.mean()), silent])
