"""What one pass over a table learns of a group: its moments, its first records, and a random sample."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.arrays import Array, Index
from sfumato.randomness import BLOCK, Source


class Moments:
    """Count, mean and deviation of each column, merged batch by batch (Chan et al. 1983); records kept beside.

    ``first`` are the first records that came, up to ``look``; ``sample`` is a uniform sample of up to ``keep``.
    """

    def __init__(self, d: int, look: int = 0, keep: int = 0) -> None:
        self.n = 0
        self.mean = np.zeros(d)
        self.first: Array = np.empty((0, d))
        self.sample: Array = np.empty((0, d))
        self._look, self._most = look, keep
        self._squares = np.zeros(d)
        self._tags = np.empty(0, dtype=np.uint64)

    def add(self, X: Array, rows: Index | None, src: Source) -> None:
        """One batch more: some rows of a table, or all."""
        n = len(X) if rows is None else len(rows)
        mean, sd = moments(X, rows)
        if not self.n:
            self.mean, self._squares, self.n = mean, sd**2 * (n - 1), n
        else:
            gap, total = mean - self.mean, self.n + n
            self._squares += sd**2 * (n - 1) + gap**2 * (self.n * n / total)
            self.mean = self.mean + gap * (n / total)
            self.n = total
        room = self._look - len(self.first)
        if room > 0:
            self.first = np.vstack([self.first, X[:room] if rows is None else X[rows[:room]]])
        if self._most:
            self._keep(X if rows is None else X[rows], src)

    @property
    def sd(self) -> Array:
        """Unbiased standard deviations, exactly 0 where a column is constant."""
        return np.asarray(np.sqrt(self._squares / max(self.n - 1, 1)))

    def _keep(self, X: Array, src: Source) -> None:
        """Every record gets a random tag; those with the smallest tags are the sample."""
        tags = np.empty(len(X), dtype=np.uint64)
        src.fill(tags.view(np.uint8))
        if len(self._tags) == self._most:
            closer = tags < self._tags.max()
            X, tags = X[closer], tags[closer]
        pool, marks = np.vstack([self.sample, X]), np.concatenate([self._tags, tags])
        chosen = np.argsort(marks, kind="stable")[: self._most]
        self.sample, self._tags = pool[chosen], marks[chosen]


def moments(X: Array, rows: Index | None = None) -> tuple[Array, Array]:
    """Mean and unbiased standard deviation of each column over some rows, exactly 0 where a column is constant."""
    n, d = len(X) if rows is None else len(rows), X.shape[1]
    step = max(BLOCK // d, 1)
    ones = np.ones(step)

    def blocks() -> Iterator[Array]:
        for start in range(0, n, step):
            yield X[start : start + step] if rows is None else X.take(rows[start : start + step], axis=0)

    first, total, squares = X[0] if rows is None else X[rows[0]], np.zeros(d), np.zeros(d)
    for block in blocks():  # measured from a record, so that a constant column has its very value as mean
        total += ones[: len(block)] @ (block - first)
    mean = first + total / n
    for block in blocks():
        gap = block - mean
        gap *= gap
        squares += ones[: len(gap)] @ gap
    return mean, np.sqrt(squares / max(n - 1, 1))
