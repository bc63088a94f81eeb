"""How many of those who gave a response hold each value of a covariate.

Where two attributes are empty together, nearly everybody who gave a response gave the covariate too, however many left
it out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array
from sfumato.evidence import Evidence
from sfumato.learn.regression.noisy_moments import noises_of


@dataclass(frozen=True, eq=False)
class Responding:
    """Those whose response counts: the target, and which of its values are kept."""

    target: str
    kept: NDArray[np.bool_]

    def holding(self, source: Evidence, name: str) -> tuple[Array, Array]:
        """Their number by the value of an attribute, and its standard errors."""
        if self.kept.all() or name == self.target or noises_of(source, [self.target]):
            own = source.counts([name], quiet=True)
            return own.value, np.sqrt(np.maximum(own.variance, 0.0))
        pair = source.counts([name, self.target], quiet=True)
        weights = np.kron(np.eye(source.schema[name].size), self.kept.astype(np.float64))
        variance = np.array([pair.covariance(row, row) for row in weights])
        return np.asarray(weights @ pair.value), np.sqrt(np.maximum(variance, 0.0))
