"""Covariates that may be empty, of which the records do not tell whether anybody left them out.

No answer has a constant of its own. Where hardly anybody gave none, that constant is noise divided by noise. It is left
out then, and each column stands at its mean where there is no answer, which moves the other coefficients by no more
than the share of those records.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence import Evidence
from sfumato.evidence.simplex import project
from sfumato.learn.regression.design_columns import Column
from sfumato.learn.regression.noisy_moments import noises_of
from sfumato.learn.regression.responding import Responding

_CLEAR = 5.0  # standard errors by which those without an answer must exceed nobody


def leave_out_rare_silence(
    source: Evidence, columns: Sequence[Column], responding: Responding
) -> tuple[list[Column], dict[str, float]]:
    """The columns without those that nothing is known of, and by attribute how many gave no answer."""
    kept, rare = list(columns), {}
    for name in dict.fromkeys(name for column in columns for name in column.names):
        own = [column for column in kept if source.schema[name].nullable and _only_silent(column, name)]
        if not own or noises_of(source, [name]):
            continue
        value, sd = responding.holding(source, name)
        silent = float(value[-1])
        if silent > _CLEAR * float(sd[-1]):
            continue
        shares = project(value[:-1], 1.0)
        rare[name] = max(silent, 0.0)
        kept = [_at_mean(column, name, shares) for column in kept if column not in own]
    return kept, rare


def _only_silent(column: Column, name: str) -> bool:
    """Whether the column is 0 for everybody who answered."""
    return name in column.names and not column.table.swapaxes(column.names.index(name), 0)[:-1].any()


def _at_mean(column: Column, name: str, shares: Array) -> Column:
    """The column with its mean where the attribute has no answer."""
    if name not in column.names:
        return column
    axis = column.names.index(name)
    table = np.moveaxis(column.table, axis, -1).copy()
    table[..., -1] = table[..., :-1] @ shares
    return Column(column.term, column.names, np.moveaxis(table, -1, axis))
