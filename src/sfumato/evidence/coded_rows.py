"""The rows of one part of a release as columns of small integers, read once and counted many times."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.channels.linear import Array
from sfumato.evidence import counting
from sfumato.release import Part
from sfumato.released.writer import check_codes

#: The most bytes of codes that are read into memory; larger releases are counted where they are.
CODES_IN_MEMORY = 1 << 30
_BLOCK = 1 << 18
_PRODUCT_BLOCK = 1 << 16


class CodedRows:
    """The rows of one part as columns of small integers."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.scheme = 0  # which of the different schemes
        self.sizes = part.scheme.output_sizes
        self.n = len(part)
        self._codes: dict[str, NDArray[Any]] | None = None
        self._kept: dict[tuple[str, ...], Array] = {}

    def counts(self, columns: tuple[str, ...]) -> Array:
        ordered = tuple(sorted(columns))
        if ordered not in self._kept:
            self._kept[ordered] = self._count(ordered)
        found = self._kept[ordered]
        if ordered == columns:
            return found
        tensor = found.reshape([self.sizes[column] for column in ordered])
        return np.ascontiguousarray(tensor.transpose([ordered.index(column) for column in columns])).reshape(-1)

    def forget(self) -> None:
        self._kept.clear()

    def count_pairs(self) -> None:
        """All pairs of columns from one product: Nxy = Σ_rows 1[x] 1[y]."""
        codes = self.codes()
        width = sum(self.sizes[column] for column in codes) if codes is not None else 0
        if codes is None or width > 1024 or len(codes) < 3 or self._kept:
            return
        starts = dict(zip(codes, np.cumsum([0, *(self.sizes[column] for column in codes)]), strict=False))
        total = np.zeros((width, width))
        for begin in range(0, self.n, _PRODUCT_BLOCK):
            rows = min(_PRODUCT_BLOCK, self.n - begin)
            ones = np.zeros((rows, width), dtype=np.float32)
            at = np.arange(rows)
            for column, array in codes.items():
                ones[at, starts[column] + array[begin : begin + rows]] = 1.0
            total += ones.T @ ones
        for first in codes:
            for second in codes:
                if first < second:
                    left = slice(starts[first], starts[first] + self.sizes[first])
                    right = slice(starts[second], starts[second] + self.sizes[second])
                    self._kept[first, second] = np.rint(total[left, right]).reshape(-1)

    def codes(self) -> dict[str, NDArray[Any]] | None:
        """Every column in memory, or None where they would not fit."""
        if self._codes is None and self.n * len(self.sizes) <= CODES_IN_MEMORY:
            table = self.part.arrow()
            found = {}
            for column, size in self.sizes.items():
                array = table.column(column).to_numpy()
                check_codes(column, array, size)
                found[column] = array.astype(np.min_scalar_type(max(size - 1, 1)))
            self._codes = found
        return self._codes

    def _count(self, columns: tuple[str, ...]) -> Array:
        codes = self.codes()
        if codes is None:
            return counting.counts(self.part, columns).astype(np.float64)
        sizes = [self.sizes[column] for column in columns]
        cells = prod(sizes)
        out = np.zeros(cells, dtype=np.int64)
        kind = np.min_scalar_type(cells - 1)
        for begin in range(0, self.n, _BLOCK):
            flat = codes[columns[0]][begin : begin + _BLOCK].astype(kind)
            for column, size in zip(columns[1:], sizes[1:], strict=True):
                flat *= kind.type(size)
                flat += codes[column][begin : begin + _BLOCK]
            out += _histogram(flat, cells)
        return out.astype(np.float64)


def _histogram(flat: NDArray[Any], cells: int) -> NDArray[np.int64]:
    """How often each code occurs; codes of one byte are counted two at a time, which takes half as long."""
    if flat.itemsize > 1 or len(flat) < 1 << 16:
        return np.bincount(flat, minlength=cells)
    even = len(flat) // 2 * 2
    twos = np.bincount(flat[:even].view(np.uint16), minlength=1 << 16).reshape(256, 256)
    ones = np.bincount(flat[even:], minlength=256)
    return np.asarray((twos.sum(0) + twos.sum(1) + ones)[:cells])
