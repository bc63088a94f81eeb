"""The fine histogram that stands for many values: equal cells over the bulk, geometric cells beyond it."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Array

EXACT = 20_000  # up to here every value is kept
BULK, TAIL, GROWTH = 12_288, 2048, 1.02
CELLS = BULK + 2 * TAIL
BLOCK = 1 << 17


def lattice(values: Array) -> float:
    """The spacing of rounded data: most values tie and all gaps are multiples of the smallest; 0 when there is none.

    >>> lattice(np.array([1.0, 1.0, 1.5, 1.5, 1.5, 3.0]))
    0.5
    """
    unique = np.unique(values)
    if unique.size < 2 or unique.size > values.size / 2:
        return 0.0
    gaps = np.diff(unique)
    smallest = float(gaps.min())
    if smallest <= 1e-9 * float(unique[-1] - unique[0]):
        return 0.0
    ratio = gaps / smallest
    return smallest if bool((np.abs(ratio - np.rint(ratio)) < 1e-3 * ratio).all()) else 0.0


class Grid:
    """Counts on equal cells over the bulk and geometric cells beyond it.

    Laid over values like those to come, or between the ends of a bulk that is known: then it stays where it is.
    """

    def __init__(self, values: Array, ends: tuple[float, float] | None = None) -> None:
        self.low, self.high = float(values.min()), float(values.max())
        self.counts = np.zeros(CELLS)
        self._fixed = ends is not None
        self._lay(*(bulk(np.quantile(values, (0.005, 0.995)), self.low, self.high) if ends is None else ends))

    def _lay(self, start: float, end: float) -> None:
        self.start, self.width = start, (end - start) / BULK
        tail = self.width / (GROWTH - 1) * (GROWTH ** np.arange(1, TAIL + 1) - 1)
        self.edges = np.concatenate((start - tail[::-1], np.linspace(start, end, BULK + 1), end + tail))

    def add(self, chunk: Array) -> None:
        low, high = float(chunk.min()), float(chunk.max())
        self.low, self.high = min(self.low, low), max(self.high, high)
        end = self.start + BULK * self.width
        plain = low >= self.start and high < end
        if not plain and not self._fixed:
            some = some_of(chunk)
            if ((some < self.start) | (some >= end)).mean() > 0.1:
                self._move(np.quantile(some, (0.005, 0.995)))
        place = np.empty(min(chunk.size, BLOCK), dtype=np.float64)
        for begin in range(0, chunk.size, BLOCK):
            part = chunk[begin : begin + BLOCK]
            cell = place[: part.size]
            np.subtract(part, self.start, out=cell)
            cell *= 1 / self.width
            if not plain:
                far = (cell < 0) | (cell >= BULK)
                beyond, cell = part[far], cell[~far]
                found = np.clip(np.searchsorted(self.edges, beyond, side="right") - 1, 0, CELLS - 1)
                self.counts += np.bincount(found, minlength=CELLS)
            held = np.bincount(cell.astype(np.int64), minlength=BULK)
            held[BULK - 1] += held[BULK:].sum()  # a value on the last edge, rounded up
            self.counts[TAIL : TAIL + BULK] += held[:BULK]

    def _move(self, seen: Array) -> None:
        """A bulk that also covers what is coming; each old cell's count is shared by the new cells it meets."""
        total, old = np.concatenate(([0.0], np.cumsum(self.counts))), self.edges
        if total[-1] > 0:
            ends = np.interp((0.005 * total[-1], 0.995 * total[-1]), total, old)
            seen = np.array((min(ends[0], seen[0]), max(ends[1], seen[1])))
        self._lay(*bulk(seen, self.low, self.high))
        places = np.interp(self.edges, old, total)
        places[0], places[-1] = 0.0, total[-1]
        self.counts = np.diff(places)

    def trimmed(self) -> tuple[Array, Array]:
        used = np.flatnonzero(self.counts)
        first, last = int(used[0]), int(used[-1])
        edges = self.edges[first : last + 2].copy()
        edges[0], edges[-1] = (
            min(edges[1], max(edges[0], self.low)),
            max(edges[-2], min(edges[-1], self.high)),
        )
        return edges, self.counts[first : last + 1]


def some_of(chunk: Array) -> Array:
    """At most EXACT values from all over the chunk: its head alone would mislead when it is sorted."""
    return chunk[:: max(1, chunk.size // EXACT)][:EXACT]


def bulk(ends: Array, low: float, high: float) -> tuple[float, float]:
    """Where the equal cells go: 0.5 % to 99.5 % and as much again on either side, but no further than the data."""
    reach = float(ends[1] - ends[0])
    start, end = max(low, float(ends[0]) - reach), min(high, float(ends[1]) + reach)
    if not end > start:
        start, end = low, high
    room = max(end - start, 1e-12 * max(abs(start), abs(end)), 1e-300)
    return start, start + room * (1 + 1e-12)
