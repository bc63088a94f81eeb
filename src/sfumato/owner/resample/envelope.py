"""lambda for tables of any size: looked up by how far out a record lies in its cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.owner.resample.blend import Blend
from sfumato.owner.resample.kernel import Array, Index, permutation
from sfumato.randomness import Source

_BINS = 20


@dataclass(frozen=True)
class Envelope:
    """A model fitted to a sample of a class, and the lambda that nearly all sampled records of a radius stay under.

    Perplexity needs all pairs, which a large table cannot afford. The radius in the cell tells dense from lonely: each
    ring takes the 90 % quantile of its records' lambda, outer rings never less than inner ones; rings that are mostly
    lonely, and whatever lies beyond the sample, are drawn from the model alone (lambda = 1).
    """

    model: Blend
    edges: Array
    levels: Array

    @classmethod
    def fit(cls, model: Blend) -> Envelope:
        radius = _radius(model, model.Z, model.own)
        cells = len(model.means)
        edges, levels = np.zeros((cells, _BINS)), np.ones((cells, _BINS + 1))
        for g in range(cells):
            mine = model.own == g
            edges[g] = np.quantile(radius[mine], np.linspace(0, 1, _BINS + 1)[1:])
            ring = np.searchsorted(edges[g], radius[mine])
            for b in range(_BINS):
                mix = model.mix[mine][ring == b]
                if (mix < 1).sum() > len(mix) / 2:  # else the ring is lonely
                    levels[g, b] = np.quantile(mix[mix < 1], 0.9)
            levels[g, :_BINS] = np.maximum.accumulate(levels[g, :_BINS])
        return cls(model, edges, levels)

    def draw(self, X: Array, src: Source) -> tuple[Array, Index]:
        """One released row for every record, in a random order."""
        order = permutation(src, len(X))
        Z = self.model.white(X[order])
        own = self.model.cell(Z) if len(self.model.means) > 1 else np.zeros(len(Z), dtype=np.int64)
        return self.model.around(Z, own, self.mixing(Z, own), src), order

    def mixing(self, Z: Array, own: Index) -> Array:
        """lambda of each record."""
        radius = _radius(self.model, Z, own)
        out = np.empty(len(Z))
        for g in range(len(self.edges)):
            mine = own == g
            out[mine] = self.levels[g][np.searchsorted(self.edges[g], radius[mine])]
        return out


def _radius(model: Blend, Z: Array, own: Index) -> Array:
    out = np.empty(len(Z))
    for g, (mean, inverse) in enumerate(zip(model.means, model.inverses, strict=True)):
        mine = own == g
        out[mine] = np.sqrt((((Z[mine] - mean) @ inverse.T) ** 2).sum(axis=1))
    return out
