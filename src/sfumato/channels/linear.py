"""Linear maps that know their structure: aI + bJ, dense, block-diagonal, Kronecker, embedded.

A channel's matrix P and its left inverse are such maps. They multiply, transpose and square entry by entry without
ever forming a big matrix; ``dense()`` is for small cases and for the brute-force twins in the tests.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from sfumato.arrays import Array

_MERGE = 64  # neighbouring Kronecker factors are multiplied out up to this size: one BLAS call instead of many passes


class Operator(ABC):
    """A rows x cols matrix, by its structure."""

    @property
    @abstractmethod
    def rows(self) -> int: ...

    @property
    @abstractmethod
    def cols(self) -> int: ...

    @property
    @abstractmethod
    def T(self) -> Operator: ...

    @abstractmethod
    def power(self, k: int) -> Operator:
        """Every entry to the k-th power (not the matrix product): what moments need."""

    def squared(self) -> Operator:
        """Every entry squared: what variances need."""
        return self.power(2)

    @abstractmethod
    def dense(self) -> Array: ...

    def entries(self, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> Array:
        """Some rows of some columns."""
        return self.dense()[np.ix_(rows, cols)]

    @abstractmethod
    def diagonal_of_product(self, other: Operator) -> Array:
        """The diagonal of self @ other.T, for another operator of the same structure."""

    @abstractmethod
    def apply_middle(self, x: Array) -> Array:
        """Multiply along the middle axis of an array of shape (before, cols, after)."""

    def apply(self, x: Array) -> Array:
        """Multiply along the first axis.

        >>> UniformPlus(2.0, 1.0, 3).apply(np.array([1.0, 0.0, 0.0]))
        array([3., 1., 1.])
        """
        x = np.asarray(x, dtype=np.float64)
        out = self.apply_middle(x.reshape(1, self.cols, -1))
        return out.reshape(self.rows, *x.shape[1:])


@dataclass(frozen=True)
class UniformPlus(Operator):
    """a I + b J of size k, where J is all ones; closed under products, inverses and entrywise squares."""

    a: float
    b: float
    k: int

    @property
    def rows(self) -> int:
        return self.k

    @property
    def cols(self) -> int:
        return self.k

    @property
    def T(self) -> UniformPlus:
        return self

    def power(self, k: int) -> UniformPlus:
        return UniformPlus((self.a + self.b) ** k - self.b**k, self.b**k, self.k)

    def inverse(self) -> UniformPlus:
        return UniformPlus(1 / self.a, -self.b / (self.a * (self.a + self.k * self.b)), self.k)

    def dense(self) -> Array:
        return self.a * np.eye(self.k) + self.b

    def entries(self, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> Array:
        return np.where(np.equal.outer(rows, cols), self.a + self.b, self.b)

    def diagonal_of_product(self, other: Operator) -> Array:
        if not isinstance(other, UniformPlus):
            return np.asarray(np.einsum("ij,ij->i", self.dense(), other.dense()))
        value = self.a * other.a + self.a * other.b + self.b * other.a + self.k * self.b * other.b
        return np.full(self.k, value)

    def apply_middle(self, x: Array) -> Array:
        if self.b == 0.0:
            return self.a * x if self.a != 1.0 else x
        return np.asarray(self.a * x + self.b * x.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class Dense(Operator):
    """A plain matrix."""

    values: Array

    @property
    def rows(self) -> int:
        return int(self.values.shape[0])

    @property
    def cols(self) -> int:
        return int(self.values.shape[1])

    @property
    def T(self) -> Dense:
        return Dense(self.values.T)

    def power(self, k: int) -> Dense:
        found = self.values
        for _ in range(k - 1):  # numpy's powers of negative numbers take ten times as long
            found = found * self.values
        return Dense(found)

    def dense(self) -> Array:
        return self.values

    def diagonal_of_product(self, other: Operator) -> Array:
        return np.asarray(np.einsum("ij,ij->i", self.values, other.dense()))

    def apply_middle(self, x: Array) -> Array:
        if x.shape[2] == 1:
            return (x[:, :, 0] @ self.values.T)[:, :, None]
        return np.asarray(np.matmul(self.values, x))


@dataclass(frozen=True, eq=False)
class BlockDiagonal(Operator):
    """Blocks along the diagonal, zeros elsewhere."""

    blocks: tuple[Operator, ...]

    @property
    def rows(self) -> int:
        return sum(block.rows for block in self.blocks)

    @property
    def cols(self) -> int:
        return sum(block.cols for block in self.blocks)

    @property
    def T(self) -> BlockDiagonal:
        return BlockDiagonal(tuple(block.T for block in self.blocks))

    def power(self, k: int) -> BlockDiagonal:
        return BlockDiagonal(tuple(block.power(k) for block in self.blocks))

    def dense(self) -> Array:
        out = np.zeros((self.rows, self.cols))
        row = col = 0
        for block in self.blocks:
            out[row : row + block.rows, col : col + block.cols] = block.dense()
            row, col = row + block.rows, col + block.cols
        return out

    def diagonal_of_product(self, other: Operator) -> Array:
        if not isinstance(other, BlockDiagonal):
            return np.asarray(np.einsum("ij,ij->i", self.dense(), other.dense()))
        pairs = zip(self.blocks, other.blocks, strict=True)
        return np.concatenate([mine.diagonal_of_product(theirs) for mine, theirs in pairs])

    def apply_middle(self, x: Array) -> Array:
        cuts = np.cumsum([block.cols for block in self.blocks])[:-1]
        pieces = np.split(x, cuts, axis=1)
        return np.concatenate([b.apply_middle(piece) for b, piece in zip(self.blocks, pieces, strict=True)], axis=1)


@dataclass(frozen=True, eq=False)
class Embedded(Operator):
    """A square operator on some cells of a larger table; the other cells are impossible and stay zero."""

    inner: Operator
    cells: NDArray[np.int64]
    size: int

    @property
    def rows(self) -> int:
        return self.size

    @property
    def cols(self) -> int:
        return self.size

    @property
    def T(self) -> Embedded:
        return Embedded(self.inner.T, self.cells, self.size)

    def power(self, k: int) -> Embedded:
        return Embedded(self.inner.power(k), self.cells, self.size)

    def dense(self) -> Array:
        out = np.zeros((self.size, self.size))
        out[np.ix_(self.cells, self.cells)] = self.inner.dense()
        return out

    def diagonal_of_product(self, other: Operator) -> Array:
        out = np.zeros(self.size)
        inner = other.inner if isinstance(other, Embedded) else Dense(other.dense()[np.ix_(self.cells, self.cells)])
        out[self.cells] = self.inner.diagonal_of_product(inner)
        return out

    def apply_middle(self, x: Array) -> Array:
        out = np.zeros_like(x)
        out[:, self.cells, :] = self.inner.apply_middle(x[:, self.cells, :])
        return out


@dataclass(frozen=True, eq=False)
class Kronecker(Operator):
    """The Kronecker product of operators, first factor slowest (C order), applied mode by mode."""

    factors: tuple[Operator, ...]

    @property
    def rows(self) -> int:
        return prod(factor.rows for factor in self.factors)

    @property
    def cols(self) -> int:
        return prod(factor.cols for factor in self.factors)

    @cached_property
    def T(self) -> Kronecker:
        return Kronecker(tuple(factor.T for factor in self.factors))

    def power(self, k: int) -> Kronecker:
        return Kronecker(tuple(factor.power(k) for factor in self.factors))

    def dense(self) -> Array:
        return kronecker([factor.dense() for factor in self.factors])

    def entries(self, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> Array:
        out = np.ones((len(rows), len(cols)))
        own_rows = np.unravel_index(rows, [factor.rows for factor in self.factors])
        own_cols = np.unravel_index(cols, [factor.cols for factor in self.factors])
        for factor, row, col in zip(self.factors, own_rows, own_cols, strict=True):
            out *= factor.entries(row, col)
        return out

    def diagonal_of_product(self, other: Operator) -> Array:
        if not isinstance(other, Kronecker):
            return np.asarray(np.einsum("ij,ij->i", self.dense(), other.dense()))
        pairs = zip(self.factors, other.factors, strict=True)
        return kronecker([mine.diagonal_of_product(theirs) for mine, theirs in pairs])

    @cached_property
    def _merged(self) -> tuple[Operator, ...]:
        merged: list[Operator] = []
        for factor in self.factors:
            last = merged[-1] if merged else None
            if last is not None and max(last.rows * factor.rows, last.cols * factor.cols) <= _MERGE:
                merged[-1] = Dense(kronecker([last.dense(), factor.dense()]))
            else:
                merged.append(factor)
        return tuple(merged)

    def apply_middle(self, x: Array) -> Array:
        before, _, after = x.shape
        done, todo = 1, self.cols
        for factor in self._merged:
            todo //= factor.cols
            x = factor.apply_middle(x.reshape(before * done, factor.cols, todo * after))
            done *= factor.rows
        return x.reshape(before, self.rows, after)


def kronecker(arrays: Sequence[Array]) -> Array:
    """The Kronecker product of vectors or of matrices."""
    out = np.ones((1,) * arrays[0].ndim) if arrays else np.ones(1)
    for array in arrays:
        out = np.asarray(np.kron(out, array), dtype=np.float64)
    return out
