"""The papers' real data: seven sets in the package, two that you bring or that OpenML sends.

Missing values are nulls, never "?". Every table is a ``pyarrow.Table``; ``describe(name)`` gives the credit
it asks for.

>>> from sfumato import datasets
>>> datasets.load("lenses").column_names
['age', 'prescription', 'astigmatic', 'tear_rate', 'lenses']
>>> datasets.load("adult", split="test").num_rows
16281
"""

from __future__ import annotations

import difflib
from importlib import resources
from typing import TYPE_CHECKING

from sfumato.datasets import unbundled
from sfumato.datasets.catalog import CATALOG, Description
from sfumato.errors import SfumatoError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Description", "describe", "load", "names"]


def names() -> tuple[str, ...]:
    """The names that ``load`` knows.

    >>> names()[:3]
    ('adult', 'mushroom', 'breast_wisconsin')
    """
    return tuple(CATALOG)


def describe(name: str) -> Description:
    """What a data set is, who made it and under which licence; ``print`` it for the whole text.

    >>> describe("iris").licence
    'CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/)'
    """
    if name in CATALOG:
        return CATALOG[name]
    close = difflib.get_close_matches(str(name).lower(), CATALOG, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise SfumatoError(f"no data set is called {name!r}: {hint}known are {', '.join(CATALOG)}")


def load(name: str, split: str | None = None) -> pa.Table:
    """The data set as an Arrow table, whole or one of its splits.

    Pima and svmguide1 are not in the package: they are read from the folder that SFUMATO_DATA names, else
    fetched from OpenML by scikit-learn.

    >>> load("mushroom").num_rows
    8124
    """
    import pyarrow as pa

    item = describe(name)
    if split is not None and split not in item.splits:
        allowed = " or ".join(repr(part) for part in item.splits)
        whole = f"split must be {allowed}" if allowed else f"{name} has no splits"
        raise SfumatoError(f"{whole}, got {split!r}: leave split out for all rows")
    if not item.bundled:
        return unbundled.load(item, split)
    if name == "breast_wisconsin_complete":
        return _read("breast_wisconsin").drop_null()
    files = [f"{name}_{part}" for part in item.splits if split in (None, part)] or [name]
    return pa.concat_tables([_read(file) for file in files]).combine_chunks()


def _read(file: str) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    packed = resources.files(__name__).joinpath("data", f"{file}.parquet").read_bytes()
    return pq.read_table(pa.BufferReader(packed))
