"""Formulas such as "ill ~ age * C(sex)", read by formulaic on the grid of all values."""

from __future__ import annotations

import re
from math import prod
from typing import Any

import numpy as np

from sfumato.errors import EstimationError, MissingPartError
from sfumato.learn.regression.design_columns import Column, numbers, silent_column
from sfumato.learn.regression.formula_words import SafeFormula, safe_formula, unknown_name
from sfumato.printable import label_text
from sfumato.schema import Schema

#: The most combinations of values on which a formula is read.
_GRID = 1 << 20
#: Transforms that look at the data, which nobody here has.
_STATEFUL = re.compile(r"(?<![\w.])(center|scale|standardize|poly|bs|cr|cs|cc|hashed|lag)\s*\(")


def is_formula(text: Any, schema: Schema) -> bool:
    """Whether a text is a formula, not the name of an attribute."""
    return isinstance(text, str) and "~" in text and text not in schema


def read_formula(text: str, schema: Schema) -> tuple[str, list[Column]]:
    """The target, and the columns of the right-hand side."""
    try:
        import pandas as pd
        from formulaic import Formula, ModelSpec, model_matrix
        from formulaic.errors import FormulaicError
    except ImportError:
        raise MissingPartError.named("a formula", "formulaic", "formula") from None
    left, _, right = text.partition("~")
    target = left.strip().strip("`")
    stateful = _STATEFUL.search(right)
    if stateful:
        raise EstimationError(f"{stateful[1]}() in a formula looks at the data: write the numbers that it would find")
    safe = safe_formula(right, schema)
    try:
        wanted = {safe.in_words(str(name)) for name in Formula(safe.text).required_variables}
    except (FormulaicError, SyntaxError, ValueError) as problem:
        raise _unreadable(text, safe, problem) from None
    names = [name for name in schema.names if name in wanted]
    for name in sorted(wanted):
        if name not in schema:
            raise unknown_name(name, schema)
    sizes = schema.sizes(names)
    if prod(sizes) > _GRID:
        raise EstimationError(f"the formula has {prod(sizes):,} combinations of values: give names=[...] instead")
    codes = np.unravel_index(np.arange(prod(sizes)), sizes) if names else ()
    grid: dict[str, Any] = {}
    for name, own in zip(names, codes, strict=True):
        worth = numbers(schema[name])
        if worth is not None and schema[name].nullable:
            worth = np.append(worth, worth.mean())  # some number: those who gave no answer get a constant of their own
        shown = [label_text(label) for label in schema[name].labels]
        column = pd.Categorical.from_codes(own.astype(np.int64), shown) if worth is None else worth[own]
        grid[safe.stand_in(name)] = column
    frame = pd.DataFrame(grid, index=range(prod(sizes)))
    try:
        made: Any = model_matrix(safe.text, frame, na_action="ignore", context={})
        columns = {str(term): np.asarray(made[term], dtype=np.float64) for term in getattr(made, "columns", ())}
    except (FormulaicError, SyntaxError, ValueError, NameError, TypeError, KeyError, AttributeError) as problem:
        raise _unreadable(text, safe, problem) from None
    if not isinstance(made.model_spec, ModelSpec):
        raise EstimationError(f"the formula {text!r} has several right-hand sides: give one")
    silent = (silent_column(name, schema[name]) for name in names)
    found = [_column(safe.in_words(term), values, names, sizes) for term, values in columns.items()]
    return target, [*found, *(column for column in silent if column is not None)]


def _unreadable(text: str, safe: SafeFormula, problem: Exception) -> EstimationError:
    said = safe.in_words(str(problem)).splitlines() or [type(problem).__name__]
    return EstimationError(f"the formula {text!r} cannot be read: {said[0]}")


def _column(term: str, values: Any, names: list[str], sizes: tuple[int, ...]) -> Column:
    """A column of the grid, on those attributes along which it varies."""
    table = values.reshape(sizes)
    if not np.isfinite(table).all():
        raise EstimationError(f"{term!r} is no number for some values of {', '.join(names)}")
    for axis in reversed(range(len(names))):
        first = table.take([0], axis=axis)
        if (table == first).all():
            table, names = first.squeeze(axis), [*names[:axis], *names[axis + 1 :]]
    return Column(term, tuple(names), table)
