"""Values of a category that perhaps nobody holds.

Each value but the first has a constant of its own. Where the records do not tell whether anybody holds the value, that
constant is noise divided by noise. It is left out then, and such records stand at the mean of the others, which moves
the other coefficients by no more than their share. Where the first value, with which the others are compared, is so
rare, the commonest takes its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.evidence import Evidence
from sfumato.evidence.simplex import project
from sfumato.learn.regression.design_columns import Column
from sfumato.learn.regression.noisy_moments import noises_of
from sfumato.learn.regression.responding import Responding
from sfumato.printable import label_text

_CLEAR = 3.0  # standard errors by which those who hold a value must exceed nobody


@dataclass(frozen=True)
class RareValues:
    """What was left out: how many records seem to hold each value, and what others are compared with instead."""

    records: dict[str, float] = field(default_factory=dict)
    compared_with: dict[str, str] = field(default_factory=dict)


def leave_out_rare_values(
    source: Evidence, columns: Sequence[Column], responding: Responding
) -> tuple[list[Column], RareValues]:
    """The columns without those of values that perhaps nobody holds."""
    kept, found = list(columns), RareValues()
    if source.exact:
        return kept, found
    for name in dict.fromkeys(name for column in columns for name in column.names):
        domain = source.schema[name]
        codes = range(domain.size - domain.nullable)
        own = {code: [column for column in kept if _only_at(column, name, code, len(codes))] for code in codes}
        constants = [code for code in codes if any(column.names == (name,) for column in own[code])]
        if len(constants) < 2 or noises_of(source, [name]):
            continue
        value, sd = responding.holding(source, name)
        clear = _clear(value, sd)
        few = [code for code in codes if not clear[code]]
        others = [code for code in codes if clear[code]]
        told = [code for code in constants if clear[code]]
        first = [code for code in few if code not in constants]
        if not few or len(told) <= len(first):
            continue
        dropped = list(few)
        if first:
            commonest = _commonest(told, value)
            dropped.append(commonest)
            found.compared_with[name] = label_text(domain.labels[commonest])
        for code in few:
            found.records[f"{name}={label_text(domain.labels[code])}"] = max(float(value[code]), 0.0)
        gone = [column for code in dropped for column in own[code]]
        shares = project(value[others], 1.0)
        kept = [_at_mean(column, name, few, others, shares) for column in kept if column not in gone]
    return kept, found


def compared_with_commonest(source: Evidence, names: Sequence[str]) -> dict[str, int]:
    """Of categories whose first value is so rare, the code of the value with which the others are compared instead."""
    found: dict[str, int] = {}
    for name in names:
        domain = source.schema[name]
        if source.exact or domain.ordered:
            continue
        own = source.counts([name], quiet=True)
        told = np.flatnonzero(_clear(own.value, own.sd)[: domain.size - domain.nullable]).tolist()
        if len(told) > 1 and told[0] > 0:
            found[name] = _commonest(told, own.value)
    return found


def _clear(value: Array, sd: Array) -> NDArray[np.bool_]:
    """Which values clearly more records than none seem to hold."""
    return np.asarray(value > _CLEAR * sd)


def _commonest(codes: Sequence[int], value: Array) -> int:
    return max(codes, key=lambda code: float(value[code]))


def _only_at(column: Column, name: str, code: int, answers: int) -> bool:
    """Whether the column is 0 for everybody who answered with another value; the silent may stand at its mean."""
    if name not in column.names:
        return False
    table = column.table.swapaxes(column.names.index(name), 0)[:answers]
    return bool(table[code].any()) and not np.delete(table, code, axis=0).any()


def _at_mean(column: Column, name: str, few: list[int], others: list[int], shares: Array) -> Column:
    """The column with its mean over the other values where the attribute has one of these few."""
    if name not in column.names:
        return column
    axis = column.names.index(name)
    table = np.moveaxis(column.table, axis, -1).copy()
    table[..., few] = (table[..., others] @ shares)[..., None]
    return Column(column.term, column.names, np.moveaxis(table, -1, axis))
