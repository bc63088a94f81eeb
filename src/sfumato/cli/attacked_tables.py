"""The tables that sfumato attack is given: numbers, row numbers, columns with noise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.errors import SfumatoError
from sfumato.reading import tables
from sfumato.release import Release
from sfumato.writing.description import is_release

if TYPE_CHECKING:
    import pyarrow as pa


def row_numbers(path: Path, column: str) -> Any:
    """Which original row each released one came from."""
    import pyarrow as pa

    try:
        found = [batch.column(0).cast(pa.int64()) for batch in tables.batches(path, [column])]
        return pa.chunked_array(found, pa.int64()).to_numpy()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise SfumatoError(f"--own {column}: the column must hold the number of an original row") from None


def whole(path: Path) -> pa.Table:
    import pyarrow as pa

    found = list(tables.batches(path))
    if not found:
        raise SfumatoError(f"{path}: the table is empty")
    return pa.Table.from_batches(found)


def numbers(path: Path, leave: str | None = None, only: list[str] | None = None) -> Any:
    """The numeric columns of a table, all but one or only some."""
    import pyarrow as pa

    table = whole(path)
    if only is not None:
        missing = [name for name in only if name not in table.column_names]
        if missing:
            raise SfumatoError(f"{path} has no column {missing[0]!r}, which the release has")
        table = table.select(only)
    kept = [
        table.column(place).to_numpy().astype(np.float64)
        for place, field in enumerate(table.schema)
        if (pa.types.is_integer(field.type) or pa.types.is_floating(field.type)) and field.name != leave
    ]
    if not kept:
        raise SfumatoError(f"{path}: there is no numeric column to attack")
    return np.column_stack(kept)


def additive_columns(file: Path, name: str) -> tuple[list[str] | None, list[Any] | None]:
    """The columns with additive noise and their noises, where a file says that it is a release; others hold codes.

    The noises are None where parts of the release differ in them.
    """
    if not is_release(file):
        return None, None
    schemes = [part.scheme for part in Release.load(file).parts]
    noisy = [column for column in schemes[0].noises if all(column in scheme.noises for scheme in schemes)]
    if not noisy:
        first = schemes[0].schema.names[0]
        raise SfumatoError(
            f"{file}: the release has no additive noise, its numbers are codes of randomized answers, which the {name} "
            f"attack would take for noisy numbers; sfumato attack bayes --attribute {first} guesses them"
        )
    noises = [schemes[0].noises[column] for column in noisy]
    alike = all([scheme.noises[column] for column in noisy] == noises for scheme in schemes)
    return noisy, noises if alike else None
