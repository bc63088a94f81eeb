"""Weighted cells: every combination of values with its estimated count, which any weighted learner can take."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.linear import Array
from sfumato.domains import Codes, Domain, Numeric
from sfumato.errors import EstimationError, NegativeCountsWarning
from sfumato.evidence import Evidence
from sfumato.evidence.model import JunctionEvidence, ModelEvidence
from sfumato.evidence.model.messages import seen
from sfumato.evidence.simplex import project
from sfumato.learn.base import DECISION_CELLS, modelled
from sfumato.printable import label_text
from sfumato.schema import Schema

_DRAWN = 50_000
_LIKELY_CELLS = 1 << 14


@dataclass(frozen=True, eq=False)
class Cells:
    """Codes of the features, a row per cell; the class of the cell; and how many records it holds."""

    names: tuple[str, ...]
    codes: NDArray[np.int64]
    classes: NDArray[np.int64]
    weights: Array


def weighted_cells(source: Evidence, features: Sequence[str], target: str, counts: str = "model") -> Cells:
    """Cells with their counts: exact ones as they are, randomized ones from the joint model or ("direct") likeliest."""
    if counts not in ("model", "direct"):
        raise EstimationError(f"counts must be model or direct, got {counts!r} instead")
    names = [*features, target]
    sizes = source.schema.sizes(names)
    plain = not isinstance(source, ModelEvidence | JunctionEvidence)
    if prod(sizes) > DECISION_CELLS:
        if source.exact:
            return _seen(source, features, target)
        if plain and counts != "model":
            raise EstimationError(f"{prod(sizes)} cells are too many to list: give the learner fewer features")
        return _sampled(modelled(source, target), features, target)
    if source.exact:
        value = source.counts(names).value
    elif counts == "model":
        model = modelled(source, target)
        if isinstance(model, JunctionEvidence):
            return _sampled(model, features, target)
        order = [model.names.index(name) for name in names]
        value = np.ascontiguousarray(model.joint.transpose(order)).reshape(-1) * model.n
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NegativeCountsWarning)
            # the most likely counts keep every class that occurs; beyond some size only the projection is quick
            likely = prod(sizes) <= _LIKELY_CELLS
            found = (Evidence(source.release, "mle") if likely else source).counts(names)
        value = project(found.value, found.n)
    kept = np.flatnonzero(value > 1e-9 * value.max())
    grid = np.stack(np.unravel_index(kept, sizes), axis=1)
    return Cells(tuple(features), grid[:, :-1], grid[:, -1], value[kept])


def _seen(source: Evidence, features: Sequence[str], target: str) -> Cells:
    """Only the cells that occur in unrandomized records, part by part."""
    names = [*features, target]
    grids, weights = [], []
    for part in source.release.parts:
        found, counts = seen(part, names)
        grid = np.empty((len(counts), len(names)), dtype=np.int64)
        for one in found:  # the value that is certain
            flat = one.likelihood.reshape(len(one.likelihood), -1).argmax(axis=1)[one.codes]
            grid[:, list(one.axes)] = np.stack(np.unravel_index(flat, one.likelihood.shape[1:]), axis=1)
        grids.append(grid)
        weights.append(counts.astype(np.float64))
    grid = np.concatenate(grids)
    return Cells(tuple(features), grid[:, :-1], grid[:, -1], np.concatenate(weights))


def _sampled(model: ModelEvidence | JunctionEvidence, features: Sequence[str], target: str) -> Cells:
    """Records drawn from the model, where its cells are too many to list."""
    schema = model.schema.select([*features, target])
    codes = schema.encode(model.sample(_DRAWN, rng=0))  # an integral over draws, the same every time
    grid = np.stack([codes[name] for name in features], axis=1).astype(np.int64)
    weights = np.full(_DRAWN, model.n / _DRAWN)
    return Cells(tuple(features), grid, codes[target].astype(np.int64), weights)


class Encoding:
    """Features as numbers: ordered and numeric attributes by a value each, others one-hot without their first value.

    ``values`` overrides what a code is worth, for instance the group means of MGAS.
    """

    def __init__(self, schema: Schema, names: Sequence[str], values: dict[str, Any] | None = None) -> None:
        self.names = tuple(names)
        self._labels = [[label_text(label) for label in schema[name].labels] for name in self.names]
        self._tables = [_table(name, schema[name], (values or {}).get(name)) for name in self.names]

    @property
    def width(self) -> int:
        return sum(table.shape[1] for table in self._tables)

    def table(self, place: int) -> Array:
        """What each code of an attribute is worth, a row per code."""
        return self._tables[place]

    def __call__(self, codes: Sequence[Codes]) -> Array:
        """The feature matrix of rows given by a column of codes per attribute."""
        return np.concatenate([table[np.asarray(c)] for table, c in zip(self._tables, codes, strict=True)], axis=1)

    @property
    def columns(self) -> list[str]:
        """A name for every column."""
        out = []
        for name, table, labels in zip(self.names, self._tables, self._labels, strict=True):
            hot = table.shape[1] == len(labels) - 1 and not table[0].any()
            out += [f"{name}={label}" for label in labels[1:]] if hot else [name]
        return out


def _table(name: str, domain: Domain, values: Any) -> Array:
    if values is not None:
        given = np.asarray(values, dtype=np.float64).reshape(-1, 1)
        if len(given) != domain.size:
            raise EstimationError(f"values of {name!r} must have {domain.size} entries, one per code, got {len(given)}")
        return given
    if isinstance(domain, Numeric) and not domain.nullable:
        return domain.midpoints[:, None]
    if domain.ordered and all(isinstance(label, int | float) for label in domain.labels):
        return np.array(domain.labels, dtype=np.float64)[:, None]
    if domain.ordered and not domain.nullable:
        return np.arange(domain.size, dtype=np.float64)[:, None]
    return np.eye(domain.size)[:, 1:]
