r"""What unbiased counts say of the weights of a logistic classifier: how far they are off, and how noisy that is.

    w - w* ≈ Σ_z Ñ_z s_z,        s_z = Σ_cells A[cell, z] e(cell),        e = H⁻¹ (1[class] - Pr(class | x)) ⊗ x

where H is the information of the cells that the classifier was fitted to. A joint model draws what few records hold to
independence, and a part of the records shows no more of that than all of them do: the jackknife sees none of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from sfumato.arrays import Array
from sfumato.evidence import Evidence
from sfumato.evidence.kinds import tells_records
from sfumato.evidence.seen import Seen
from sfumato.learn.base import DECISION_CELLS, normalise
from sfumato.learn.regression.told_by_records import told_of_cells

#: Parts of weights that a penalty leaves, and that are less, are not told apart.
LEAST_KEPT = 0.25
#: The most released cells over which a function is tabulated; beyond it, it would be formed record by record.
_MOST_RELEASED = 1 << 22


class LogisticCells:
    """Every combination of codes of the features, and what was fitted there.

    ``X`` holds the features in standard deviations about their mean, a constant last; ``scores`` a column per class;
    ``weights`` how many records there are; ``penalty`` what is added to the information of each column.
    """

    def __init__(self, X: Array, scores: Array, weights: Array, penalty: Array) -> None:
        self._X, self._p, self._weights, self._n = X, normalise(scores), weights, float(weights.sum())
        count, width = scores.shape[1], X.shape[1]
        information = np.zeros((count, width, count, width))
        for a in range(count):
            for b in range(count):
                pull = weights * self._p[:, a] * ((a == b) - self._p[:, b])
                information[a, :, b] = (X * pull[:, None]).T @ X
        size = count * width
        self._inverse = _inverse(information.reshape(size, size), np.tile(penalty, count)).reshape(count, width, size)

    def moved(self, column: int, contrast: Array, weight: float) -> Array:
        """How far a record of each cell moves a weight, in a contrast of classes; a column per class of the record.

        A weight is per standard deviation, which a record moves by (x² - 1) / 2n of its own.
        """
        along = self._X @ self.pull(column, contrast).reshape(self._p.shape[1], -1).T
        scale = (self._X[:, column] ** 2 - 1) / (2 * self._n)
        return np.asarray(along - (self._p * along).sum(axis=1, keepdims=True) + weight * scale[:, None])

    def pull(self, column: int, contrast: Array) -> Array:
        """How far a weight moves with the score of each class and column, class by class."""
        return np.asarray(contrast @ self._inverse[:, column])

    def step(self, score: Array, covariance: Array) -> tuple[Array, float]:
        """Newton's, a row per class and a column per column, and how much of it is expected of noise alone."""
        moved = self.towards(score)
        size, noise = (
            float(score @ moved.reshape(-1)),
            float((covariance * self._inverse.reshape(covariance.shape)).sum()),
        )
        return moved, noise / size if size > 0 else 1.0

    def towards(self, score: Array) -> Array:
        """Newton's step alone."""
        moved = self._inverse.reshape(score.size, -1) @ score.reshape(-1)
        return np.asarray(moved.reshape(self._inverse.shape[:2]))

    def linear_shares(self) -> Array:
        """Pr(class | x) as the nearest linear function of x: a row per column of X, a column per class."""
        pulled = self._X * self._weights[:, None]
        return np.asarray(np.linalg.pinv(pulled.T @ self._X, rcond=1e-9, hermitian=True) @ (pulled.T @ self._p))


def _inverse(information: Array, penalty: Array) -> Array:
    """Of the information without the penalty, in directions that are told; the penalty tells which these are."""
    values, vectors = np.linalg.eigh(information + np.diag(penalty))
    told = values > 1e-9 * values.max()
    root = vectors[:, told] / np.sqrt(values[told])
    kept, turned = np.linalg.eigh(root.T @ information @ root)
    along = root @ turned
    return np.asarray(along / np.maximum(kept, LEAST_KEPT) @ along.T)


def listed_records(source: Evidence, names: Sequence[str]) -> list[Seen] | None:
    """The released records, where all of them tell of all cells of some attributes and these can be listed."""
    if prod(source.schema.sizes(names)) > DECISION_CELLS:
        return None
    found = records(source, names)
    return None if found is None or any(prod(part.released) > _MOST_RELEASED for part in found) else found


def records(source: Evidence, names: Sequence[str]) -> list[Seen] | None:
    """The released records, where all of them tell of all of these attributes."""
    return list(source.records(names)) if tells_records(source, names) else None


def told_sum(parts: Sequence[Seen], values: Array) -> tuple[float, float]:
    """Without bias, the sum of a function of the cells over all records, and its standard error."""
    total = square = n = 0.0
    for part in parts:
        s = told_of_cells(part, values[:, None])[:, 0]
        total += float(part.counts @ s)
        square += float(part.counts @ s**2)
        n += part.total
    return total, float(np.sqrt(max(square - total**2 / n, 0.0)))
