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
        clear = value > _CLEAR * sd
        few = [code for code in codes if not clear[code]]
        others = [code for code in codes if clear[code]]
        told = [code for code in constants if clear[code]]
        first = [code for code in few if code not in constants]
        if not few or len(told) <= len(first):
            continue
        dropped = list(few)
        if first:
            commonest = max(told, key=lambda code: float(value[code]))
            dropped.append(commonest)
            found.compared_with[name] = label_text(domain.labels[commonest])
        for code in few:
            found.records[f"{name}={label_text(domain.labels[code])}"] = max(float(value[code]), 0.0)
        gone = [column for code in dropped for column in own[code]]
        shares = project(value[others], 1.0)
        kept = [_at_mean(column, name, few, others, shares) for column in kept if column not in gone]
    return kept, found


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
