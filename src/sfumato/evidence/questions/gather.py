"""From evidence of any kind to the sums that a question needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import EstimationError, NoRowsError, ReleaseError
from sfumato.evidence.asked_parts import asking
from sfumato.evidence.blocks import blocks
from sfumato.evidence.model.goodness_of_fit import MOST_CELLS
from sfumato.evidence.model.model_estimate import ModelEstimate
from sfumato.evidence.protocol import Evidence
from sfumato.evidence.questions.cell_scores import table_part
from sfumato.evidence.questions.groups import AskedGroups
from sfumato.evidence.questions.part_sums import PartSums, together
from sfumato.evidence.questions.records import record_part
from sfumato.evidence.questions.statistics import MOST, ModelSums, Statistic, Sums
from sfumato.evidence.questions.statistics import weights as cell_weights
from sfumato.evidence.seen import seen
from sfumato.printable import many
from sfumato.reading.spark_session import is_spark
from sfumato.released.counted import CountedPart
from sfumato.released.part import Part
from sfumato.scheme import Scheme

#: Makes the statistics, given the attributes that carry additive noise.
Build = Callable[[Collection[str]], Sequence[Statistic]]

#: The most sums that are read off records one by one: each pair of them is one more.
_MOST_READ = 1 << 9


def noisy(ev: Evidence) -> set[str]:
    """The attributes that carry additive noise in some part."""
    return {name for part in ev.release.parts for name in part.scheme.noises}


def in_bins(ev: Evidence, name: str) -> bool:
    """Whether some records tell a number by its bin, whatever others add to it."""
    return any(len(part) and name not in part.scheme.noises for part in asking(ev.release, (name,)))


def gather(ev: Evidence, names: Sequence[str], build: Build) -> Sums | ModelSums:
    """The sums, with their covariance, by what the evidence is: a model's, from tables, or from records one by one."""
    if not len(ev.release):
        raise NoRowsError
    if ev.smoothed:
        return _of_model(ev, names, build)
    return _of_records(ev, names, build)


def _of_records(ev: Evidence, names: Sequence[str], build: Build) -> Sums:
    found: dict[Scheme, list[PartSums]] = {}
    own, told = getattr(ev, "weights", None), asking(ev.release, names)
    if own is None and not noisy(ev) & set(names):
        statistics = build(())
        if not _one_by_one(told, names, len(statistics)):
            parts = tuple(table_part(one, statistics) for one in seen(ev.release, names, inverted=False))
            return Sums(parts, records=_everybody(ev))
    for number, rows in enumerate(ev.release.parts):
        if len(rows) and rows in told:
            weights = None if own is None else own[number]
            found.setdefault(rows.scheme, []).append(record_part(rows, build(rows.scheme.noises), weights))
    return Sums(tuple(together(parts) for parts in found.values()), records=_everybody(ev))


def _one_by_one(parts: Sequence[Part], names: Sequence[str], sums: int) -> bool:
    """Whether a table is too large for so many sums, and records can be read in its place."""
    if sums > _MOST_READ or any(isinstance(part, CountedPart) or is_spark(part.rows) for part in parts):
        return False
    if sum(len(part) * len(part.scheme.columns) for part in parts) > MOST:  # codes take no more memory than a table
        return False
    shown = [blocks(scheme, tuple(names), inverted=False) for scheme in {part.scheme for part in parts}]
    cells = (max(prod(b.released for b in held), prod(prod(b.sizes) for b in held)) for held in shown)
    return sums * max(cells) > MOST


def _everybody(ev: Evidence) -> float | None:
    """How many records there are, where not all were asked everything."""
    return None if ev.release.whole else float(len(ev.release))


def _of_model(ev: Evidence, names: Sequence[str], build: Build) -> ModelSums:
    statistics, model = build(()), ev.covering(names)
    try:
        unbiased = _of_records(ev, names, build)
    except (EstimationError, ReleaseError):  # channels that tell no counts, or tables that are too large
        found = model.counts(names, quiet=True).population()
        W = cell_weights(statistics, found.names, found.shape)
        notes = found.notes if isinstance(found, ModelEstimate) else ()
        return ModelSums(found.n, found.value, W, counts=found, said=notes)
    counting = {name: _counting(statistics, name, ev.schema[name].size) for name in names}
    W = cell_weights([_at(one, counting) for one in statistics], names, [len(codes) for codes in counting.values()])
    cells = None
    if W.shape[1] < prod(ev.schema.sizes(names)):
        cells = np.stack([axis.reshape(-1) for axis in np.meshgrid(*counting.values(), indexing="ij")], axis=1)
    said = (*_differing(model, names), *model.said(names))
    return ModelSums(float(ev.n), model.shares(names, cells), W, unbiased, said=said)


def _differing(model: Evidence, names: Sequence[str]) -> tuple[str, ...]:
    """A sentence where the model differs from the unbiased counts of a table of a few cells by more than noise."""
    if prod(model.schema.sizes(names)) > MOST_CELLS:
        return ()
    try:
        found = model.counts(names, quiet=True)
    except EstimationError:  # channels that tell sums, but no counts
        return ()
    return found.differing if isinstance(found, ModelEstimate) else ()


def _counting(statistics: Sequence[Statistic], name: str, size: int) -> NDArray[np.int64]:
    """The codes of an attribute that count in some statistic."""
    counts = np.zeros(size, dtype=bool)
    for one in statistics:
        counts |= np.asarray(one.get(name, np.ones(size))) != 0
    return np.flatnonzero(counts)


def _at(one: Statistic, codes: Mapping[str, NDArray[np.int64]]) -> Statistic:
    """A statistic with the factors of some codes alone."""
    return {name: np.asarray(factor)[codes[name]] for name, factor in one.items()}


def told_by_model(sums: Sums | ModelSums) -> tuple[str, ...]:
    """What to say of a model's answer."""
    if not isinstance(sums, ModelSums):
        return ()
    if sums.unbiased is None:
        return sums.said
    told = "the estimate is the joint model's, the interval that of the unbiased answer: it holds what shrinks too"
    return (told, *sums.said)


def asked_of(sums: Sums | ModelSums) -> tuple[str, ...]:
    """How many records were asked, where not all were asked everything."""
    own = sums.unbiased if isinstance(sums, ModelSums) else sums
    if own is None or own.records is None or own.n >= own.records:
        return ()
    return (f"{own.n:,.0f} of {own.records:,.0f} records were asked; answered is scaled to all of them",)


def left_out(ev: Evidence, asked: AskedGroups, where: Mapping[str, Any] | None) -> tuple[str, ...]:
    """How many records a condition leaves out because they gave no answer to it."""
    out = []
    for name in where or {}:
        domain = ev.schema[name]
        if domain.nullable and not asked.where[name][-1]:
            gone: Statistic = {name: np.eye(domain.size)[-1]}
            total = float(gather(ev, [name], lambda noises, gone=gone: [gone]).totals[0])  # type: ignore[misc]
            out.append(f"about {many(max(total, 0.0), 'record')} gave no answer to {name}: where leaves them out")
    return tuple(out)
