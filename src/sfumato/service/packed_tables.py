"""The tables of a pushed file as bytes: of small files the cells that are not 0, of others all.

A file of one row has tables as large as one of a million. Written in full, 238 kB and 1.4 s
to unpack for 518 tables, a thousand such files would take half an hour until they are added up.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.service.study import Study
from sfumato.service.tallies import Tally

_FEW = 8  # a table is full where more than one cell in so many is not 0

Arrays = Mapping[str, NDArray[Any]]


def packed(forms: Mapping[int, Tally]) -> bytes:
    """The tables of each form."""
    buffer = io.BytesIO()
    arrays: dict[str, NDArray[Any]] = {}
    for form, tally in forms.items():
        cells = np.concatenate([np.zeros(0, dtype=np.int64), *tally.tables.values()])
        there = np.flatnonzero(cells)
        few = len(there) * _FEW < len(cells)
        arrays |= {f"{form}.there": there, f"{form}.counts": cells[there]} if few else {f"{form}.cells": cells}
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


@dataclass(frozen=True, eq=False)
class PackedTables:
    """What a file holds, and its tables as bytes."""

    about: Mapping[str, Any]
    counts: bytes

    def add_to(self, sums: dict[int, Tally], study: Study, sign: int = 1) -> None:
        """Add the counts to the tables of each form; with sign -1, take them out."""
        forms = {int(form): int(n) for form, n in self.about["forms"].items() if n}
        if not forms:
            return
        with np.load(io.BytesIO(self.counts), allow_pickle=False) as held:
            for form, n in forms.items():
                if form not in sums:
                    sums[form] = Tally(study.forms[form].scheme)
                _add(sums[form], form, held, sign)
                sums[form].n += sign * n


def _add(tally: Tally, form: int, held: Arrays, sign: int) -> None:
    tables = list(tally.tables.values())
    if f"{form}.there" not in held:
        for table, cells in zip(tables, _full(tables, form, held), strict=True):
            table += sign * cells
        return
    there, counts = held[f"{form}.there"], held[f"{form}.counts"]
    ends = list(accumulate((len(table) for table in tables), initial=0))
    cuts = np.searchsorted(there, ends)
    for table, start, first, last in zip(tables, ends, cuts, cuts[1:], strict=False):
        table[there[first:last] - start] += sign * counts[first:last]


def _full(tables: list[NDArray[np.int64]], form: int, held: Arrays) -> list[NDArray[np.int64]]:
    """All cells, table by table; before there were small files, each table was written by itself."""
    if f"{form}.cells" not in held:
        return [held[f"{form}.{j}"] for j in range(len(tables))]
    return np.split(held[f"{form}.cells"], list(accumulate(len(table) for table in tables))[:-1])
