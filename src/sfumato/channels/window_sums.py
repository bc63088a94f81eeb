"""The matrix of windows over ordered values without its entries: products are differences of running sums."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from sfumato.arrays import Array, Index
from sfumato.channels.linear import Dense, Operator
from sfumato.errors import ChannelError

_FACTORED = 2048  # values up to which the normal equations are factored; beyond, they are solved step by step
_KEPT_FACTORS = 4  # of all channels together, at most 32 MB each
_DENSE_ENTRIES = 1 << 25
_KEPT = 1 << 22  # entries up to which a matrix that was asked for is kept
_AS_MATRIX = 1 << 15  # up to so many entries a plain matrix takes less time than running sums
_KEPT_INVERSE = 1 << 23  # the same of the inverses used last
_CLOSE = 1e-12
_MOST_STEPS = 2000


@dataclass(frozen=True, eq=False)
class WindowSums(Operator):
    r"""K values against windows (l, a): one number where the window holds the value and another elsewhere.

        P[x, (l, a)] = inside_l if a <= x < a + w_l else outside_l,        a = -(w_l - 1) .. k - 1

    With ``none``, two numbers more: for "no answer" released for a value, and for itself. The row of "no answer" lies
    outside every window that does not hold all values. ``turned`` is the transpose.
    """

    k: int
    widths: tuple[int, ...]
    outside: tuple[float, ...]
    inside: tuple[float, ...]
    none: tuple[float, float] | None = None
    turned: bool = False

    @property
    def _values(self) -> int:
        return self.k + (self.none is not None)

    @cached_property
    def _released(self) -> int:
        return sum(self.k + w - 1 for w in self.widths) + (self.none is not None)

    @property
    def rows(self) -> int:
        return self._released if self.turned else self._values

    @property
    def cols(self) -> int:
        return self._values if self.turned else self._released

    @property
    def T(self) -> WindowSums:
        return replace(self, turned=not self.turned)

    def power(self, k: int) -> WindowSums:
        return replace(
            self,
            outside=tuple(number**k for number in self.outside),
            inside=tuple(number**k for number in self.inside),
            none=None if self.none is None else (self.none[0] ** k, self.none[1] ** k),
        )

    def entries(self, rows: Index, cols: Index) -> Array:
        if self.turned:
            return self.T.entries(cols, rows).T
        out = np.zeros((len(rows), len(cols)))
        x, first = np.asarray(rows)[:, None], 0
        for w, low, high in zip(self.widths, self.outside, self.inside, strict=True):
            own = (cols >= first) & (cols < first + self.k + w - 1)
            place = np.asarray(cols)[own][None, :] - first
            held = (place >= x) & (place < x + w) & (x < self.k)
            held |= (x == self.k) & (place == self.k - 1) & (w == self.k)
            out[:, own] = np.where(held, high, low)
            first += self.k + w - 1
        if self.none is not None:
            last = np.asarray(cols) == first
            out[:, last] = np.where(np.asarray(rows) == self.k, self.none[1], self.none[0])[:, None]
        return out

    def dense(self) -> Array:
        if self.rows * self.cols > _DENSE_ENTRIES:
            raise ChannelError(
                f"{self.k} ordered values are too many for what needs their whole matrix: estimate their distribution, "
                f"or use wider bins"
            )
        return self._dense if self.rows * self.cols <= _KEPT else self._all_entries()

    @cached_property
    def _dense(self) -> Array:
        return self._all_entries()

    def _all_entries(self) -> Array:
        return self.entries(np.arange(self.rows), np.arange(self.cols))

    def diagonal_of_product(self, other: Operator) -> Array:
        if not isinstance(other, WindowSums) or self.turned or other.turned:
            return np.asarray(np.einsum("ij,ij->i", self.dense(), other.dense()))
        both = replace(
            self,
            outside=tuple(a * b for a, b in zip(self.outside, other.outside, strict=True)),
            inside=tuple(a * b for a, b in zip(self.inside, other.inside, strict=True)),
            none=None if self.none is None or other.none is None
            else (self.none[0] * other.none[0], self.none[1] * other.none[1]),
        )  # fmt: skip
        return both.apply(np.ones(both.cols))

    def apply_middle(self, x: Array) -> Array:
        if self.rows * self.cols <= _AS_MATRIX:
            return Dense(self._dense).apply_middle(x)
        out = np.empty((x.shape[0], self.rows, x.shape[2]))
        (self._spread if self.turned else self._gathered)(x, out)
        return out

    def _gathered(self, x: Array, out: Array) -> None:
        """Sums over the windows that hold each value."""
        values, first = out[:, : self.k], 0
        values[:] = 0.0
        missing = np.zeros((x.shape[0], x.shape[2]))
        for w, low, high in zip(self.widths, self.outside, self.inside, strict=True):
            own = x[:, first : first + self.k + w - 1]
            total = np.zeros((x.shape[0], self.k + w, x.shape[2]))
            np.cumsum(own, axis=1, out=total[:, 1:])
            values += (high - low) * (total[:, w:] - total[:, : self.k]) + low * total[:, -1:]
            missing += low * total[:, -1]
            if w == self.k:
                missing += (high - low) * own[:, self.k - 1]
            first += self.k + w - 1
        if self.none is not None:
            values += self.none[0] * x[:, -1:]
            out[:, -1] = missing + self.none[1] * x[:, -1]

    def _spread(self, x: Array, out: Array) -> None:
        """Sums over the values that each window holds."""
        values, first = x[:, : self.k], 0
        running = np.zeros((x.shape[0], self.k + 1, x.shape[2]))
        np.cumsum(values, axis=1, out=running[:, 1:])
        whole = x.sum(axis=1)
        for w, low, high in zip(self.widths, self.outside, self.inside, strict=True):
            place = np.arange(self.k + w - 1)
            end, start = np.minimum(place, self.k - 1) + 1, np.maximum(place - w + 1, 0)
            own = out[:, first : first + self.k + w - 1]
            own[:] = (high - low) * (running[:, end] - running[:, start]) + low * whole[:, None]
            if w == self.k and self.none is not None:
                own[:, self.k - 1] += (high - low) * x[:, -1]
            first += self.k + w - 1
        if self.none is not None:
            out[:, -1] = self.none[0] * running[:, -1] + self.none[1] * x[:, -1]

    def gram(self, weights: Array) -> Array:
        r"""P diag(weights) Pᵀ, from running sums of the weights: K² a scale, whatever the number of windows."""
        k, first = self.k, 0
        out = np.zeros((self._values, self._values))
        x = np.arange(k)
        later, earlier = np.maximum.outer(x, x), np.minimum.outer(x, x)
        for w, low, high in zip(self.widths, self.outside, self.inside, strict=True):
            own, rise = weights[first : first + k + w - 1], high - low
            total = np.concatenate(([0.0], np.cumsum(own)))
            held = total[w:] - total[:k]
            out[:k, :k] += low * low * total[-1] + low * rise * np.add.outer(held, held)
            shared = total[np.maximum(earlier + w, later)] - total[later]
            out[:k, :k] += rise * rise * shared
            if self.none is not None:
                more = rise * own[k - 1] if w == k else 0.0
                side = low * low * total[-1] + low * rise * held + (low + rise) * more
                out[:k, k] += side
                out[k, :k] += side
                out[k, k] += low * low * total[-1] + more * (2 * low + rise)
            first += k + w - 1
        if self.none is not None:
            column = np.append(np.full(k, self.none[0]), self.none[1])
            out += weights[-1] * np.outer(column, column)
        return out


@dataclass(frozen=True, eq=False)
class WindowInverse(Operator):
    """The weighted left inverse (P W Pᵀ)⁻¹ P W of windows, by its normal equations. ``turned`` is the transpose."""

    transition: WindowSums
    turned: bool = False

    @property
    def rows(self) -> int:
        return self.transition.cols if self.turned else self.transition.rows

    @property
    def cols(self) -> int:
        return self.transition.rows if self.turned else self.transition.cols

    @property
    def T(self) -> WindowInverse:
        turned = replace(self, turned=not self.turned)
        if "weights" in self.__dict__:
            turned.__dict__["weights"] = self.weights
        return turned

    @cached_property
    def weights(self) -> Array:
        """1 / the released distribution of equally likely values."""
        return _even_weights(self.transition)

    def power(self, k: int) -> Operator:
        return Dense(self.dense() ** k)

    def dense(self) -> Array:
        P = self.transition
        if P.rows * P.cols > _DENSE_ENTRIES:
            raise ChannelError(
                f"the precision of single counts of {P.k} ordered values needs too large a matrix: estimate their "
                f"distribution, or use wider bins"
            )
        left = _left_inverse(P) if P.rows * P.cols <= _KEPT_INVERSE else self._left_inverse()
        return left.T if self.turned else left

    def _left_inverse(self) -> Array:
        return self._solved(self.transition.dense() * self.weights)

    def diagonal_of_product(self, other: Operator) -> Array:
        if other is self.transition and not self.turned:
            return np.ones(self.rows)
        return np.asarray(np.einsum("ij,ij->i", self.dense(), other.dense()))

    def apply_middle(self, x: Array) -> Array:
        flat = np.moveaxis(x, 1, 0).reshape(self.cols, -1)
        P, W = self.transition, self.weights[:, None]
        found = W * P.T.apply(self._solved(flat)) if self.turned else self._solved(P.apply(W * flat))
        return np.moveaxis(found.reshape(self.rows, x.shape[0], x.shape[2]), 0, 1)

    def _solved(self, right: Array) -> Array:
        """(P W Pᵀ)⁻¹ right."""
        if self.transition.rows <= _FACTORED:
            from scipy.linalg import cho_solve

            return np.asarray(cho_solve(_factor(self.transition), right))
        return np.stack([self._stepwise(column) for column in right.T], axis=1)

    def _stepwise(self, right: Array) -> Array:
        """The same by conjugate gradients, in running sums of the counts.

        A window is the difference of two running sums. With windows of many widths these equations are those of a
        well-connected graph, and need few steps.
        """
        P, n = self.transition, len(right)

        def counts(running: Array) -> Array:
            return np.diff(running, prepend=0.0)

        def sums_back(values: Array) -> Array:
            return np.asarray(values - np.append(values[1:], 0.0))

        def normal(running: Array) -> Array:
            return sums_back(P.apply(self.weights * P.T.apply(counts(running))))

        residual = sums_back(right)
        found, direction, size = np.zeros(n), residual.copy(), float(residual @ residual)
        goal = size * _CLOSE**2
        for _ in range(_MOST_STEPS):
            if size <= goal:
                break
            image = normal(direction)
            length = size / float(direction @ image)
            found += length * direction
            residual -= length * image
            before, size = size, float(residual @ residual)
            direction = residual + size / before * direction
        return counts(found)


def _even_weights(P: WindowSums) -> Array:
    return np.asarray(1 / P.T.apply(np.full(P.rows, 1 / P.rows)))


@lru_cache(maxsize=_KEPT_FACTORS)
def _factor(P: WindowSums) -> Any:
    """The Cholesky factor of P W Pᵀ. A release may have windows of hundreds of kinds: only the last few are kept."""
    from scipy.linalg import cho_factor

    return cho_factor(P.gram(_even_weights(P)), lower=True, overwrite_a=True)


@lru_cache(maxsize=2)
def _left_inverse(transition: WindowSums) -> Array:
    """The matrix of an inverse, which the moments of a record's answer ask for several times."""
    found = WindowInverse(transition)._left_inverse()
    found.flags.writeable = False
    return found
