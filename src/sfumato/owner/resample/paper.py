"""The paper's resampling: a random record plus an Epanechnikov step (Tan and Ng 2007, algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Array, Index
from sfumato.errors import SfumatoError
from sfumato.owner.resample.kernel import epanechnikov, scott
from sfumato.owner.resample.moments import moments
from sfumato.randomness import BLOCK, Source, integers


@dataclass(frozen=True)
class Kernel:
    r"""A product kernel over the records of one group.

        y = x_r + h u,   u Epanechnikov;      shrunk:   y = m + (x_r + h u - m) / sqrt(1 + h^2 / (5 s^2))

    where r is a random record, h the bandwidth of each column, m and s its mean and standard deviation. Shrinkage
    brings the variance, which the kernel inflates, back to that of the data (Jones 1991).
    """

    bandwidth: Array
    mean: Array
    scale: Array

    @classmethod
    def fit(cls, X: Array, multiplier: float = 1.0, shrink: bool = False, rows: Index | None = None) -> Kernel:
        """Eq. 16 times a multiplier; a constant column keeps its value, with bandwidth 0."""
        mean, sd = moments(X, rows)
        return cls.from_moments(len(X) if rows is None else len(rows), mean, sd, multiplier, shrink)

    @classmethod
    def from_moments(cls, n: int, mean: Array, sd: Array, multiplier: float, shrink: bool) -> Kernel:
        """The same from the moments alone, as a pass over a large file gives them."""
        if not (np.isfinite(multiplier) and multiplier > 0):
            raise SfumatoError(
                f"the bandwidth multiplier must be positive, got {multiplier}: at 0 the records themselves are released"
            )
        h = multiplier * scott(n, len(sd)) * sd
        inflated = np.sqrt(1 + np.divide(h, sd, out=np.zeros_like(h), where=sd > 0) ** 2 / 5)
        return cls(h, mean, 1 / inflated if shrink else np.ones_like(h))

    def draw(self, X: Array, rows: int, src: Source) -> tuple[Array, Index]:
        """Released rows, and which record each started from (which never leaves the owner)."""
        chosen = integers(src, len(X), rows)
        return self.around(X, chosen, src), chosen

    def around(self, X: Array, chosen: Index, src: Source, out: Array | None = None) -> Array:
        """One released row around each chosen record."""
        d = X.shape[1]
        if out is None:
            out = np.empty((len(chosen), d))
        h = self.bandwidth * self.scale
        shift = self.mean * (1 - self.scale)
        step = max(BLOCK // d, 1)
        plain = bool((self.scale == 1).all())
        for start in range(0, len(chosen), step):
            place = chosen[start : start + step]
            piece = out[start : start + step]
            np.multiply(epanechnikov(src, piece.size).reshape(piece.shape), h, out=piece)
            near = X.take(place, axis=0)
            if not plain:
                near *= self.scale
                near += shift
            piece += near
        return out


def kernel_words(multiplier: float, shrink: bool) -> str:
    """What a release says of its kernel."""
    return f"kernel, {multiplier:g} times Scott's bandwidth" + (", variance shrunk" if shrink else "")
