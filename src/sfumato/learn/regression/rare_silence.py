"""Covariates that may be empty, of which the records do not tell whether anybody left them out.

No answer has a constant of its own. Where hardly anybody gave none, that constant is noise divided by noise. It is left
out then, and each column stands at its mean where there is no answer, which moves the other coefficients by no more
than the share of those records.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence import Evidence
from sfumato.evidence.simplex import project
from sfumato.learn.regression.collinear import HardlyVariesError
from sfumato.learn.regression.design_columns import Column
from sfumato.learn.regression.noisy_moments import noises_of
from sfumato.learn.regression.responding import Responding
from sfumato.printable import label_text

Fitted = TypeVar("Fitted")
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
        kept, rare[name] = _silent_at_mean(source, kept, name, responding)
    return kept, rare


def with_silent_at_mean(
    source: Evidence,
    columns: Sequence[Column],
    responding: Responding,
    fit: Callable[[Sequence[Column]], Fitted],
) -> tuple[Fitted, list[Column], dict[str, float]]:
    """A fit, without the constants of those who gave no answer that cannot be told apart: nobody named them."""
    kept = list(columns)
    silent: dict[str, float] = {}
    while True:
        try:
            return fit(kept), kept, silent
        except HardlyVariesError as problem:
            name = _silent_of(kept, problem.terms)
            if name is None:
                raise
            kept, silent[name] = _silent_at_mean(source, kept, name, responding)


def _silent_at_mean(
    source: Evidence, columns: Sequence[Column], name: str, responding: Responding
) -> tuple[list[Column], float]:
    """Every column at its mean where the attribute has no answer, without that answer's own, and how many gave none."""
    value, _ = responding.holding(source, name)
    shares = project(value[:-1], 1.0)
    kept = [_at_mean(column, name, shares) for column in columns if not _only_silent(column, name)]
    return kept, max(float(value[-1]), 0.0)


def _silent_of(columns: Sequence[Column], terms: Sequence[str]) -> str | None:
    """The attribute of which the last of some terms is the constant of those who gave no answer."""
    found = [
        column.names[0]
        for column in columns
        if column.term in terms and column.term.endswith(f"={label_text(None)}") and len(column.names) == 1
    ]
    return found[-1] if found else None


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
