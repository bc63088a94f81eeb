"""Columns that are not resampled: they ride with their centre, or pass through the channels of a scheme."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sfumato.errors import DisclosureWarning, SfumatoError
from sfumato.owner.resample.kernel import Index
from sfumato.randomness import Source

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.scheme import Scheme


def accompany(others: pa.Table, centre: Index, ride: Sequence[str], scheme: Scheme | None, src: Source) -> pa.Table:
    """The companions of each released row: its centre's own values, or channel answers to them.

    A record answers once, however many rows it is the centre of: fresh answers would add up.
    """
    records, place = np.unique(centre, return_inverse=True)
    chosen = _plain(others).take(records)
    out = chosen.select(list(ride))
    if scheme is not None:
        from sfumato.owner.randomize import answered_rows
        from sfumato.release import Release

        answered = Release(answered_rows(chosen, scheme, src), scheme).decode()
        for name in answered.column_names:
            out = out.append_column(name, answered.column(name))
    return out.take(place)


def _plain(table: pa.Table) -> pa.Table:
    """Dictionaries written out: else a file would carry the values of all records, also of those not released."""
    import pyarrow as pa

    for i, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(i, field.name, table.column(i).cast(field.type.value_type))
    return table


def check_scheme(scheme: object) -> None:
    """A scheme, or none."""
    from sfumato.scheme import Scheme

    if scheme is not None and not isinstance(scheme, Scheme):
        raise SfumatoError(f"scheme must be a Scheme with the channels of some columns, got {type(scheme).__name__}")


def warn_of_riders(ride: Sequence[str]) -> None:
    """Riding columns are raw values."""
    if ride:
        warnings.warn(
            f"{', '.join(ride)} ride as they are: a rare combination of them can name its record, and no bound on risk "
            f"counts them. Treat them with channels (scheme=) where that matters",
            DisclosureWarning,
            stacklevel=3,
        )
