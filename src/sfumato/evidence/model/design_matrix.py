"""Parameters and margins of a log-linear model of a whole table, as matrix products."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array

Term = tuple[int, ...]


def pairwise(attributes: int, order: int = 2) -> tuple[Term, ...]:
    """All terms of up to ``order`` attributes.

    >>> pairwise(3)
    ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
    """
    return tuple(s for size in range(1, order + 1) for s in combinations(range(attributes), size))


def star(attributes: int, centre: int) -> tuple[Term, ...]:
    """The terms of naive Bayes: every attribute alone, and each paired with the class."""
    return pairwise(attributes, 1) + tuple((min(i, centre), max(i, centre)) for i in range(attributes) if i != centre)


class DesignMatrix:
    """Parameters and margins of a log-linear model as two matrix products.

    The attributes are cut into two halves; a term is a part in the left half and one in the right. With E_A, E_B the
    indicator columns of those parts, log θ = E_A Λ E_Bᵀ + const and the margins are E_Aᵀ θ E_B: no loop over terms.

    >>> design = DesignMatrix((2, 3), pairwise(2))
    >>> design.parameters, design.margins(np.full(6, 1 / 6)).round(3)[:2]
    (11, array([0.5, 0.5]))
    """

    def __init__(self, sizes: Sequence[int], terms: Sequence[Term]) -> None:
        self.sizes = tuple(sizes)
        self.terms = tuple(terms)
        self.cut = _cut(self.sizes)
        left = sorted({tuple(a for a in term if a < self.cut) for term in self.terms}, key=lambda s: (len(s), s))
        right = sorted({tuple(a for a in term if a >= self.cut) for term in self.terms}, key=lambda s: (len(s), s))
        self._left, at_left = _indicators(self.sizes[: self.cut], left, 0)
        self._right, at_right = _indicators(self.sizes[self.cut :], right, self.cut)
        rows, cols, owner = [], [], []
        for number, term in enumerate(self.terms):
            a = at_left[tuple(axis for axis in term if axis < self.cut)]
            b = at_right[tuple(axis for axis in term if axis >= self.cut)]
            i, j = np.meshgrid(np.arange(*a), np.arange(*b), indexing="ij")
            rows.append(i.ravel())
            cols.append(j.ravel())
            owner.append(np.full(i.size, number))
        self._rows, self._cols = np.concatenate(rows), np.concatenate(cols)
        self.owner: NDArray[np.int64] = np.concatenate(owner)
        self.penalised: NDArray[np.bool_] = np.array([len(term) > 1 for term in self.terms])[self.owner]

    @property
    def parameters(self) -> int:
        return len(self._rows)

    def log_theta(self, parameters: Array) -> Array:
        """Σ_s λ_s of every cell, without the normalising constant."""
        table = np.zeros((self._left.shape[1], self._right.shape[1]))
        table[self._rows, self._cols] = parameters
        return np.asarray(((self._left @ table) @ self._right.T).reshape(-1))

    def theta(self, parameters: Array) -> Array:
        """The distribution."""
        logits = self.log_theta(parameters)
        logits -= logits.max()
        np.exp(logits, out=logits)
        logits /= logits.sum()
        return logits

    def margins(self, theta: Array) -> Array:
        """What each parameter's cells hold together: the gradient's ingredients."""
        table = theta.reshape(len(self._left), len(self._right))
        return np.asarray(((self._left.T @ table) @ self._right)[self._rows, self._cols])

    def of_pairs_with(self, attribute: int) -> NDArray[np.bool_]:
        """Which parameters belong to terms of this attribute together with others."""
        return np.array([len(term) > 1 and attribute in term for term in self.terms])[self.owner]

    def start(self, margins: Sequence[Array]) -> Array:
        """Independent attributes with the given shares."""
        out = np.zeros(self.parameters)
        for number, term in enumerate(self.terms):
            if len(term) == 1:
                out[self.owner == number] = np.log(np.maximum(margins[term[0]], 1e-4))
        return out


def _cut(sizes: tuple[int, ...]) -> int:
    """Where to cut the attributes so that the halves have about the same number of cells."""
    best = min(range(len(sizes) + 1), key=lambda cut: prod(sizes[:cut]) + prod(sizes[cut:]))
    return max(best, 1)


def _indicators(
    sizes: tuple[int, ...], parts: Sequence[Term], offset: int
) -> tuple[Array, dict[Term, tuple[int, int]]]:
    """A column per combination of values of each part, over the cells of a half."""
    cells = prod(sizes)
    codes = np.indices(sizes).reshape(len(sizes), -1) if sizes else np.zeros((0, 1), dtype=np.int64)
    columns, places, at = [], {}, 0
    for part in parts:
        own = [axis - offset for axis in part]
        width = prod(sizes[axis] for axis in own)
        flat = np.zeros(cells, dtype=np.int64)
        for axis in own:
            flat = flat * sizes[axis] + codes[axis]
        block = np.zeros((cells, width))
        block[np.arange(cells), flat] = 1.0
        columns.append(block)
        places[part] = (at, at + width)
        at += width
    return np.concatenate(columns, axis=1), places
