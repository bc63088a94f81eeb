"""From evidence of any kind to the sums that a question needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from sfumato.errors import EstimationError, NoRowsError
from sfumato.evidence.asked_parts import asking
from sfumato.evidence.blocks import blocks
from sfumato.evidence.model.model_estimate import ModelEstimate
from sfumato.evidence.protocol import Evidence
from sfumato.evidence.questions.groups import AskedGroups
from sfumato.evidence.questions.part_sums import PartSums, together
from sfumato.evidence.questions.records import record_part
from sfumato.evidence.questions.statistics import MOST, ModelSums, Statistic, Sums, table_part
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
    statistics = build(())
    found = ev.covering(names).counts(names, quiet=True).population()
    W = cell_weights(statistics, found.names, found.shape)
    try:
        unbiased = _of_records(ev, names, build)
    except EstimationError:  # channels that tell no counts, or tables that are too large
        unbiased = None
    return ModelSums(found, W, unbiased)


def told_by_model(sums: Sums | ModelSums) -> tuple[str, ...]:
    """What to say of a model's answer."""
    if not isinstance(sums, ModelSums):
        return ()
    found = sums.counts
    if not isinstance(found, ModelEstimate):
        return ()
    if sums.unbiased is None:
        return found.notes
    told = "the estimate is the joint model's, the interval that of the unbiased answer: it holds what shrinks too"
    return (told, *found.said)


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
            total = float(gather(ev, [name], lambda noises, gone=gone: [gone]).finite()[0][0])  # type: ignore[misc]
            out.append(f"about {many(max(total, 0.0), 'record')} gave no answer to {name}: where leaves them out")
    return tuple(out)
