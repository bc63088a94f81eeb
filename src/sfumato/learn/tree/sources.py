"""Where a tree's node tables come from: one joint table, or a fresh one for every path."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence import Evidence
from sfumato.evidence.independence import independence
from sfumato.learn.tree.grow import Path


class TableSource:
    """Slices of one joint table, features first, class last: exact counts, the model's, or the paper's moment ones."""

    def __init__(self, table: Array, stop_when_settled: bool) -> None:
        self.table = table
        self.stop_when_settled = stop_when_settled

    def root(self) -> Array:
        return np.asarray(self.table.reshape(-1, self.table.shape[-1]).sum(axis=0))

    def _slice(self, path: Path) -> Array:
        index: list[slice | int] = [slice(None)] * self.table.ndim
        for axis, code in path:
            index[axis] = slice(code, code + 1)
        return self.table[tuple(index)]

    def splits(self, paths: Sequence[Path], attributes: Sequence[int]) -> list[Array]:
        parts, last = [self._slice(path) for path in paths], self.table.ndim - 1
        others = [tuple(i for i in range(last) if i != attribute) for attribute in attributes]
        return [np.stack([part.sum(axis=gone) for part in parts]) for gone in others]

    def worth(self, path: Path, counts: Array) -> bool:
        """With the model, a node is settled when every cell below it has the same most probable class."""
        if not self.stop_when_settled:
            return True
        part = self._slice(path).reshape(-1, self.table.shape[-1])
        reachable = float(part.max(axis=1).sum()) - float(counts.max())
        return reachable > 1e-9 * float(self.table.sum())

    def trusted(self, path: Path, attribute: int) -> bool:
        return True


class PathSource:
    """A fresh table for every path: a model's, or, as section 7.2.2 of the paper, an estimate that its noise stops."""

    def __init__(
        self, evidence: Evidence, features: Sequence[str], target: str, min_effective: float = 0.0, alpha: float = 2.0
    ) -> None:
        self.evidence = evidence
        self.features = list(features)
        self.target = target
        self.min_effective = min_effective
        self.alpha = alpha

    def root(self) -> Array:
        return np.maximum(self.evidence.counts([self.target], quiet=True).value, 0.0)

    def splits(self, paths: Sequence[Path], attributes: Sequence[int]) -> list[Array]:
        names = [self.features[axis] for axis in attributes]
        if not paths[0]:
            return [table[None] for table in self.evidence.within({}, names, self.target)]
        codes = np.array([[code for _, code in path] for path in paths])
        fixed = {self.features[axis]: codes[:, place] for place, (axis, _) in enumerate(paths[0])}
        return self.evidence.within(fixed, names, self.target)

    def worth(self, path: Path, counts: Array) -> bool:
        """Effective sample size: (Σ w)² / Σ w² of the records' weights in the node's estimated count."""
        if not path or self.min_effective <= 0:
            return True
        cell = self.evidence.cells(list(self._fixed(path)), [[code for _, code in path]])
        value = float(cell.value[0])
        squares = float(cell.variance[0]) + max(value, 0.0)
        return value > 0 and value * value / max(squares, 1e-300) >= self.min_effective

    def trusted(self, path: Path, attribute: int) -> bool:
        """A Wald test that class and attribute are independent within the node, on the estimate's own covariance."""
        if self.alpha > 1:
            return True
        pair = [self.features[attribute], self.target]
        sizes = self.evidence.schema.sizes(pair)
        grid = np.indices(sizes).reshape(2, -1).T
        fixed = np.tile([code for _, code in path], (len(grid), 1)) if path else np.zeros((len(grid), 0))
        names = [*self._fixed(path), *pair]
        cells = self.evidence.cells(names, np.hstack([fixed, grid]).astype(np.int64)).population()
        domains = [self.evidence.schema[name] for name in pair]
        return independence(cells.value.reshape(sizes), cells.cov, domains) < self.alpha

    def _fixed(self, path: Path) -> dict[str, int]:
        return {self.features[axis]: code for axis, code in path}
