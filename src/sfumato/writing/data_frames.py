"""Results as the data frame of the user's choice."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING, Any

from sfumato.errors import MissingPartError, SfumatoError

if TYPE_CHECKING:
    import pyarrow as pa

BACKENDS = ("pyarrow", "pandas", "polars")


def as_frame(table: pa.Table, backend: str) -> Any:
    """An Arrow table as "pyarrow", "pandas" or "polars"."""
    if backend not in BACKENDS:
        raise SfumatoError(f"backend must be {', '.join(BACKENDS[:-1])} or {BACKENDS[-1]}, got {backend!r} instead")
    if backend == "pyarrow":
        return table
    try:
        if backend == "pandas":
            import pandas  # noqa: F401

            return table.to_pandas()
        import polars

        return polars.from_arrow(table)
    except ImportError:
        raise MissingPartError.named(f'frame("{backend}")', backend, backend) from None


def free_name(name: str, taken: Container[str]) -> str:
    """The name of a column, with as many _ behind it as tell it from those that are taken.

    >>> free_name("sd", ["sd", "sd_"]), free_name("low", ["sd"])
    ('sd__', 'low')
    """
    while name in taken:
        name += "_"
    return name
