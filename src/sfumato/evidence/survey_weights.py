"""Survey weights: how many people each record stands for.

They are a column of the release that passed in the clear, or numbers in the order of its rows. Questions then speak of
the weighted records: a mean is Σ w x / Σ w. Its error includes that the weights differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from sfumato.arrays import Array
from sfumato.channels.response import is_identity
from sfumato.domains import Domain
from sfumato.errors import EstimationError
from sfumato.printable import many
from sfumato.reading import tables
from sfumato.release import Release
from sfumato.released.part import Part
from sfumato.released.writer import check_codes
from sfumato.schema import Numeric


def survey_weights(release: Release, given: Any) -> tuple[Array, ...]:
    """The weights of the rows of each part, checked."""
    if isinstance(given, str):
        found = [_column(part, given) for part in release.parts]
    else:
        try:
            every = np.asarray(given, dtype=np.float64).reshape(-1)
        except (TypeError, ValueError):
            raise EstimationError(
                "weights must be the name of a column in the clear, or a number for each row"
            ) from None
        if len(every) != len(release):
            raise EstimationError(f"weights must be {len(release)} numbers, one for each row, got {len(every)} instead")
        found = np.split(every, np.cumsum([len(part) for part in release.parts])[:-1])
    _check(np.concatenate(found) if found else np.zeros(0))
    return tuple(found)


def _check(weights: Array) -> None:
    missing = int((~np.isfinite(weights)).sum())
    if missing:
        said = many(missing, "row has", "rows have")
        raise EstimationError(f"weights must be finite numbers, {said} none: give every row a weight")
    negative = int((weights < 0).sum())
    if negative:
        raise EstimationError(f"weights must not be negative, those of {many(negative, 'row')} are")
    if not weights.any():
        raise EstimationError("weights must not all be 0: nobody would count")


def _column(part: Part, name: str) -> Array:
    if name in part.scheme.schema:
        group = None if name in part.scheme.noises else part.scheme.group(name)
        if group is None or not is_identity(group.channel):
            raise EstimationError(f"weights: {name!r} is randomized; weights must be a column that passed in the clear")
        values = _numbers(part.scheme.schema[name], name)
        found = []
        for batch in part.batches([name]):
            codes = batch.column(0).to_numpy(zero_copy_only=False)
            check_codes(name, codes, len(values))
            found.append(values[codes])
        return np.concatenate(found) if found else np.zeros(0)
    if name not in tables.column_names(part.rows):
        raise EstimationError(f"weights: the release has no column {name!r}")
    return _joined(part.batches([name]), name)


def column_of(table: Any, name: str) -> Array:
    """A column of a raw table that its schema does not name."""
    return _joined(tables.batches(table, [name]), name)


def _joined(batches: Iterable[Any], name: str) -> Array:
    found = [_as_numbers(batch.column(0), name) for batch in batches]
    return np.concatenate(found) if found else np.zeros(0)


def _as_numbers(column: Any, name: str) -> Array:
    try:
        return np.asarray(column.cast("float64").to_numpy(zero_copy_only=False), dtype=np.float64)
    except (TypeError, ValueError, NotImplementedError):
        raise EstimationError(f"weights: the column {name!r} must hold numbers") from None


def _numbers(domain: Domain, name: str) -> Array:
    """The weight that each code stands for: the middle of its bin, or the value; none for no answer."""
    k = domain.size - domain.nullable
    if isinstance(domain, Numeric):
        own = domain.midpoints
    else:
        try:
            own = np.array([_number(label) for label in domain.labels[:k]])
        except TypeError:
            raise EstimationError(f"weights: the values of {name!r} are no numbers") from None
    return np.append(own, np.nan) if domain.nullable else np.asarray(own)


def _number(label: Any) -> float:
    if isinstance(label, bool | str):
        raise TypeError
    return float(label)
