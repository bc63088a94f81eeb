"""What one pass over a large table learns of a group: its moments, and a random sample of its records."""

from __future__ import annotations

import numpy as np

from sfumato.owner.resample.kernel import Array
from sfumato.randomness import Source


class Moments:
    """Count, mean and deviation of each column, merged batch by batch (Chan et al. 1983); a uniform sample beside."""

    def __init__(self, d: int, sample: int = 0) -> None:
        self.n = 0
        self.mean = np.zeros(d)
        self._squares = np.zeros(d)
        self._low, self._high = np.full(d, np.inf), np.full(d, -np.inf)
        self._most = sample
        self.sample: Array = np.empty((0, d))
        self._tags = np.empty(0, dtype=np.uint64)

    def add(self, X: Array, src: Source) -> None:
        """One batch more."""
        n = len(X)
        mean = X.mean(axis=0)
        gap = mean - self.mean
        total = self.n + n
        self._squares += ((X - mean) ** 2).sum(axis=0) + gap**2 * (self.n * n / total)
        self.mean = self.mean + gap * (n / total)
        self.n = total
        self._low, self._high = np.minimum(self._low, X.min(axis=0)), np.maximum(self._high, X.max(axis=0))
        if self._most:
            self._keep(X, src)

    @property
    def sd(self) -> Array:
        """Unbiased standard deviations, exactly 0 where a column is constant."""
        return np.where(self._high > self._low, np.sqrt(self._squares / max(self.n - 1, 1)), 0.0)

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
